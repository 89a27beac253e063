// Twelve actors and one mailbox with room for one letter: who finds a letter to it, reads it, and each letter is read once
//! verdict: safe

const N = 12;
shared bool full;
shared 0..N - 1 to;
// A letter says the number of its addressee, modulo 3.
shared 0..2 letter;

thread actor[N] {
  0..2 read;
  0..N - 1 next;
  loop {
    choose {
      next = *;
      atomic { await !full; to, letter = next, next % 3; full = true; }
      next = 0;
    } or {
      await full && to == self;
      open: read = letter;
      assert read == self % 3 && full && to == self;
      full = false;
    }
  }
}

never at(open) >= 2;
