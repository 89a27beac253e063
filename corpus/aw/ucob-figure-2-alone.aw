// UCOB, Figure 2 without the second thread: alone, the first thread cannot fail
//! verdict: safe

shared bool t = *;

thread first {
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
