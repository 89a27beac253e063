// A bounded buffer whose producers look for a free place before they take the lock: it overflows
//! verdict: unsafe
//! violation: range
//! switches: 2

const SIZE = 2;
lock m;
shared 0..2 count;

thread producer[2] {
  loop {
    await count < SIZE;
    acquire(m);
    count = count + 1;
    release(m);
  }
}

thread consumer {
  loop {
    acquire(m);
    if (count > 0) { count = count - 1; }
    release(m);
  }
}
