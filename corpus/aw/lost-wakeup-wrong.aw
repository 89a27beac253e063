// A receiver looks at the flag and then waits; the broadcast comes between and is lost
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 2

shared bool ready;
event go;

thread receiver {
  bool seen;
  seen = ready;
  if (!seen) { wait go; }               // the flag may have changed since
  assert ready;
}

thread sender {
  ready = true;
  broadcast go;
}
