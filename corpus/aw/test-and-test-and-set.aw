// A spin lock that looks before it writes and reads in one step
//! run: --threads p=2 => safe
//! run: --threads p=4 => safe

shared bool held;

thread p[*] {
  bool was;
  loop {
    was = true;
    while (was) {
      while (held) {}
      was, held = held, true;
    }
    crit: skip;
    held = false;
  }
}

never at(crit) >= 2;
