// The sender broadcasts until the receiver has answered, so that no broadcast is lost for good
//! verdict: safe
//! property: deadlock

shared bool ready, answered;
event go;

thread receiver {
  bool seen;
  seen = ready;
  if (!seen) { wait go; }
  assert ready;
  answered = true;
}

thread sender {
  ready = true;
  while (!answered) { broadcast go; }
}
