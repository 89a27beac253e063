// A counter that is read and written in two steps under a lock
//! verdict: safe

lock m;
shared 0..3 counter, finished;

thread p[3] {
  0..3 seen;
  acquire(m);
  seen = counter;
  counter = seen + 1;
  release(m);
  finished = finished + 1;
}

thread checker {
  await finished == 3;
  assert counter == 3;
}
