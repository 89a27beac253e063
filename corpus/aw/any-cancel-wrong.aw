// A pool starts jobs in a loop, and jobs start jobs; one that has asked before the cancellation writes after it
//! verdict: unsafe
//! violation: assert
//! switches: 4

shared bool cancelled, log;

thread pool {
  loop { spawn job; }
}

thread job[0] {
  while (*) { spawn job; }
  if (!cancelled) { log = !log; }
}

thread auditor {
  bool seen;
  cancelled = true;
  seen = log;
  loop { assert log == seen; }
}
