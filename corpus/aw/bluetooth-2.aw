// The Windows NT Bluetooth driver, version 2: counts first, then tests; right with one adder and one stopper, else wrong
//! run: --threads adder=1,stopper=1 => safe
//! run: --threads adder=1,stopper=2 => unsafe
//! run: --threads adder=2,stopper=1 => unsafe
//! violation: assert

// Two bugs are left. An adder that fails decrements twice, once in place of an adder at work. And two stoppers both give
// up the one count that the driver holds.
shared bool stopping_flag, stopping_event, stopped;
shared -5..4 pending_io = 1;

proc decrement() {
  bool last;
  last, pending_io = pending_io == 1, pending_io - 1;
  if (last) { stopping_event = true; }
}

proc increment() : bool {
  pending_io = pending_io + 1;
  if (stopping_flag) {
    decrement();
    return false;
  }
  return true;
}

thread adder[1] {
  bool working;
  working = increment();
  if (working) { assert !stopped; }
  decrement();
}

thread stopper[1] {
  stopping_flag = true;
  decrement();
  await stopping_event;
  stopped = true;
}
