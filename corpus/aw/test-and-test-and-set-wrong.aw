// A spin lock that looks, and then takes the lock in another step
//! verdict: unsafe
//! threads: p=2
//! violation: never
//! switches: 2

shared bool held;

thread p[*] {
  loop {
    while (held) {}
    held = true;
    crit: skip;
    held = false;
  }
}

never at(crit) >= 2;
