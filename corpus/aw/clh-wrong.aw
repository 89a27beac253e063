// The queue lock of Craig, Landin and Hagersten where a thread uses its own node again, under the eyes of its successor
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 1

shared bool busy[3];
shared 0..2 tail = 2;

thread p[2] {
  0..2 pred;
  loop {
    busy[self] = true;
    pred, tail = tail, self;
    await !busy[pred];
    crit: skip;
    busy[self] = false;
  }
}

never at(crit) >= 2;
