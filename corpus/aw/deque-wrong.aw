// A work-stealing deque whose owner takes the last task without racing for it: a thief does it, too
//! verdict: unsafe
//! violation: assert
//! switches: 4

shared 0..3 top;
shared -1..3 bottom = 0;
shared 0..3 job[4];
shared bool done[4];

proc perform(1..3 task_number) {
  assert !done[task_number];
  done[task_number] = true;
}

proc push(1..3 task_number) {
  job[bottom] = task_number;
  bottom = bottom + 1;
}

proc take() {
  -1..3 b;
  0..3 t, what;
  b = bottom - 1;
  bottom = b;
  t = top;
  if (t > b) {
    bottom = t;
    return;
  }
  what = job[b];
  if (t == b) {
    top = t + 1;                        // as if nobody else could
    bottom = t + 1;
  }
  perform(what);
}

thread owner {
  push(1);
  take();
  push(2);
  take();
}

thread thief {
  -1..3 b;
  0..3 t, what;
  bool mine;
  loop {
    t = top;
    b = bottom;
    if (t < b) {
      what = job[t];
      mine, top = top == t, top == t ? t + 1 : top;
      if (mine) { perform(what); }
    }
  }
}
