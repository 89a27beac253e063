// Work stealing with a shutdown
//! verdict: safe
//! property: deadlock

const JOBS = 3;
shared 0..1 queue0[JOBS], queue1[JOBS];
shared 0..JOBS length0, length1;
shared 0..JOBS pending = 1, done;
shared bool started;

proc put0(0..1 depth) {
  await length0 < JOBS;
  queue0[length0] = depth;
  length0 = length0 + 1;
}

proc put1(0..1 depth) {
  await length1 < JOBS;
  queue1[length1] = depth;
  length1 = length1 + 1;
}

proc take0() : 0..2 {
  0..2 depth = 2;
  if (length0 > 0) {
    depth = queue0[0];
    queue0[0], queue0[1], length0 = queue0[1], queue0[2], length0 - 1;
  }
  return depth;
}

proc take1() : 0..2 {
  0..2 depth = 2;
  if (length1 > 0) {
    depth = queue1[0];
    queue1[0], queue1[1], length1 = queue1[1], queue1[2], length1 - 1;
  }
  return depth;
}

proc finish(0..1 me, 0..1 depth) {
  if (depth == 1) {
    pending = pending + 2;
    if (me == 0) {
      atomic { put0(0); }
    } else {
      atomic { put1(0); }
    }
    atomic { put1(0); }
  }
  done = done + 1;
  pending = pending - 1;
}

thread worker[2] {
  0..2 depth;
  bool first;
  atomic {
    first = !started;
    started = true;
  }
  if (first) {
    atomic { put0(1); }
  }
  while (pending > 0) {
    atomic { depth = take0(); }
    if (depth < 2) { finish(self, depth); }
    atomic { depth = take1(); }
    if (depth < 2) { finish(self, depth); }
  }
  assert done == JOBS;
}
