// A buffer for one item with a condition variable for each side
//! verdict: safe
//! property: deadlock

const N = 2;
lock m;
shared bool producer_waits[N], consumer_waits[N];
shared 0..N producers_waiting, consumers_waiting;
shared 0..1 items;

thread producer[N] {
  0..2 item;
  0..N - 1 chosen;
  while (item < 2) {
    acquire(m);
    while (items == 1) {
      atomic {
        producer_waits[self] = true;
        producers_waiting = producers_waiting + 1;
        release(m);
      }
      await !producer_waits[self];
      acquire(m);
    }
    items = 1;
    atomic {
      if (consumers_waiting > 0) {
        chosen = *;
        await consumer_waits[chosen];
        consumer_waits[chosen] = false;
        consumers_waiting = consumers_waiting - 1;
      }
    }
    release(m);
    item = item + 1;
  }
}

thread consumer[N] {
  0..2 item;
  0..N - 1 chosen;
  while (item < 2) {
    acquire(m);
    while (items == 0) {
      atomic {
        consumer_waits[self] = true;
        consumers_waiting = consumers_waiting + 1;
        release(m);
      }
      await !consumer_waits[self];
      acquire(m);
    }
    items = 0;
    atomic {
      if (producers_waiting > 0) {
        chosen = *;
        await producer_waits[chosen];
        producer_waits[chosen] = false;
        producers_waiting = producers_waiting - 1;
      }
    }
    release(m);
    item = item + 1;
  }
}
