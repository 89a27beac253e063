// A consumer tests and then waits; the producer signals in between, and goes on with other work for ever
//! verdict: unsafe
//! property: stuck
//! violation: stuck

shared bool ready;
event go;

thread consumer {
  bool seen = ready;
  if (!seen) { wait go; }
}

thread producer {
  ready = true;
  broadcast go;
  loop { skip; }
}
