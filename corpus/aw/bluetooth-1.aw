// The Windows NT Bluetooth driver, version 1: the driver may stop between an adder's test of the flag and its count
//! run: --threads adder=1,stopper=1 => unsafe
//! run: --threads adder=1,stopper=2 => unsafe
//! run: --threads adder=2,stopper=1 => unsafe
//! violation: assert

// Adders do I/O, stoppers unload the driver. The count is that of the adders at work and one for the driver itself.
shared bool stopping_flag, stopping_event, stopped;
shared -5..4 pending_io = 1;

proc increment() : bool {
  if (stopping_flag) { return false; }
  pending_io = pending_io + 1;          // too late: the flag may be set by now
  return true;
}

proc decrement() {
  bool last;
  last, pending_io = pending_io == 1, pending_io - 1;
  if (last) { stopping_event = true; }
}

thread adder[1] {
  bool working;
  working = increment();
  if (working) { assert !stopped; }     // the I/O itself
  decrement();
}

thread stopper[1] {
  stopping_flag = true;
  decrement();
  await stopping_event;
  stopped = true;
}
