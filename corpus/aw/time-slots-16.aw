// Sixteen senders share a channel by time slots: the clock goes on only when the sender of the slot is silent
//! verdict: safe

const N = 16;
shared 0..N - 1 slot;
shared bool sending;

thread clock {
  loop {
    atomic { await !sending; slot = (slot + 1) % N; }
  }
}

thread sender[N] {
  0..3 bytes;
  loop {
    bytes = *;
    if (bytes > self % 4) { continue; }
    atomic { await slot == self && !sending; sending = true; }
    while (bytes > 0) {
      send: assert slot == self && sending;
      bytes = bytes - 1;
    }
    sending = false;
  }
}

never at(send) >= 2;
