// A pool starts jobs in a loop, and jobs start jobs; after the cancellation none of them writes to the log any more
//! verdict: safe

shared bool cancelled, log;

thread pool {
  loop { spawn job; }
}

thread job[0] {
  while (*) { spawn job; }
  atomic {
    if (!cancelled) { log = !log; }
  }
}

thread auditor {
  bool seen;
  cancelled = true;
  seen = log;
  loop { assert log == seen; }
}
