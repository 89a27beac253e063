// A counter that is incremented in one step, twice by each of three threads
//! verdict: safe

shared 0..6 counter;
shared 0..3 finished;

thread p[3] {
  counter = counter + 1;
  counter = counter + 1;
  finished = finished + 1;
}

thread checker {
  await finished == 3;
  assert counter == 6;
}
