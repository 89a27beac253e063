// A work-stealing deque after Chase and Lev: the owner works at the bottom, thieves at the top; each task is done once
//! run: --threads thief=1 => safe
//! run: --threads thief=2 => safe

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
  bool mine;
  b = bottom - 1;
  bottom = b;
  t = top;
  if (t > b) {                          // empty
    bottom = t;
    return;
  }
  what = job[b];
  if (t == b) {                         // the last one: race with the thieves
    mine, top = top == t, top == t ? t + 1 : top;
    bottom = t + 1;
    if (!mine) { return; }
  }
  perform(what);
}

thread owner {
  push(1);
  push(2);
  take();
  push(3);
  take();
  take();
}

thread thief[2] {
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
