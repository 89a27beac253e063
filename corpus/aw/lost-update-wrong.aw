// A counter that is read and written in two steps: an update is lost
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared 0..2 counter, finished;

thread p[2] {
  0..2 seen;
  seen = counter;
  counter = seen + 1;
  finished = finished + 1;
}

thread checker {
  await finished == 2;
  assert counter == 2;
}
