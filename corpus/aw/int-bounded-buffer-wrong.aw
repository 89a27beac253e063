// A bounded buffer whose consumers look first and take in the next step: two of them take the same thing
//! verdict: unsafe
//! violation: never

const ROOM = 3;
shared int produced, consumed;

thread producer[*] {
  loop {
    atomic { await produced - consumed < ROOM; produced = produced + 1; }
  }
}

thread consumer[*] {
  loop {
    await consumed < produced;
    consumed = consumed + 1;
  }
}

never consumed > produced;
