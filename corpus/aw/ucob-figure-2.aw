// UCOB, Figure 2: a second thread is started, or not; with it the assertion fails
//! run: --threads helper=1 => unsafe
//! run: --threads helper=2 => unsafe
//! violation: assert

shared bool t = *;

proc work() {
  bool m;
  t = false;
  choose {
    assume t;
    m = true;
  } or {
    assume !t;
  }
  t = !t;
  assert !m;
}

thread first {
  if (*) { spawn helper; }
  work();
}

thread helper[0] { work(); }
