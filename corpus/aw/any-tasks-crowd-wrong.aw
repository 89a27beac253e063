// A room has five seats; visitors are posted in a loop and stay over a yield: it takes six who are there at the same time
//! verdict: unsafe
//! violation: assert
//! switches: 6

shared 0..6 present;

main {
  while (*) { post visit(); }
}

task visit() {
  await present < 6;
  present = present + 1;
  yield;
  assert present < 6;
  present = present - 1;
}
