// Two threads that take turns: neither can overtake the other, and both go on for ever
//! verdict: safe
//! property: stuck

shared bool full;
shared 0..2 value;

thread producer {
  loop {
    await !full;
    value = *;
    put: full = true;
  }
}

thread consumer {
  0..2 _last;
  loop {
    await full;
    _last = value;
    got: full = false;
  }
}

always eventually put;
always eventually got;
