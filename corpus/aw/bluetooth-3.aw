// The Windows NT Bluetooth driver, version 3: right for any number of adders and stoppers
//! run: --threads adder=1,stopper=1 => safe
//! run: --threads adder=1,stopper=2 => safe
//! run: --threads adder=2,stopper=1 => safe
//! run: --threads adder=2,stopper=2 => safe
//! run: --threads adder=2,stopper=3 => safe

// An adder gives back only what it took, and only the first stopper gives up the count of the driver.
shared bool stopping_flag, stopping_event, stopped;
shared 0..4 pending_io = 1;

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
  if (working) {
    assert !stopped;
    decrement();
  }
}

thread stopper[1] {
  bool first;
  first, stopping_flag = !stopping_flag, true;
  if (first) { decrement(); }
  await stopping_event;
  stopped = true;
}
