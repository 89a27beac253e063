// Requests are posted in a loop, without end; each holds the device over a yield, and those who come meanwhile wait
//! verdict: safe

shared bool held, in_use;

main {
  while (*) { post request(); }
}

task request() {
  await !held;
  held = true;
  yield;
  assert !in_use;
  in_use = true;
  yield;
  in_use = false;
  held = false;
}
