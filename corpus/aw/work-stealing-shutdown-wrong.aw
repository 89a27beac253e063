// Work stealing with a shutdown that comes too early: a job is announced as done before those that it makes
//! verdict: unsafe
//! violation: assert

const JOBS = 3;
chan queue0[JOBS], queue1[JOBS] of 0..1;
shared 0..JOBS pending = 1, done;
shared bool started;

// A job of depth 1 makes two more, and counts as done before they are announced.
proc finish(0..1 depth) {
  fetch_add(pending, -1);
  if (depth == 1) {
    fetch_add(pending, 2);
    if (self == 0) { send(queue0, 0); } else { send(queue1, 0); }
    send(queue1, 0);
  }
  fetch_add(done, 1);
}

thread worker[2] {
  0..1 depth;
  if (cas(started, false, true)) { send(queue0, 1); }
  while (pending > 0) {
    if (try_recv(queue0, depth)) { finish(depth); }
    if (try_recv(queue1, depth)) { finish(depth); }
  }
  assert done == JOBS;
}
