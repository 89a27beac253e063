// Ended is counted before begun
//! verdict: unsafe
//! violation: never

shared int begun, ended;

thread job[*] {
  loop {
    ended = ended + 1;
    begun = begun + 1;
  }
}

never ended > begun;
