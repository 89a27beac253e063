// The same with a producer that signals again and again: the consumer comes to its end
//! verdict: safe
//! property: stuck

shared bool ready;
event go;

thread consumer {
  bool seen = ready;
  if (!seen) { wait go; }
  done: skip;
}

thread producer {
  ready = true;
  loop { broadcast go; }
}

eventually done;
