// A counter that is incremented by compare-and-swap: who loses the race tries again
//! verdict: safe

shared int counter;
shared 0..3 finished;

thread p[3] {
  int seen;
  bool done;
  while (!done) {
    seen = counter;
    done, counter = counter == seen, counter == seen ? seen + 1 : counter;
  }
  finished = finished + 1;
}

thread checker {
  await finished == 3;
  assert counter == 3;
}
