// What one thread sees is the same with two and with three threads, and each of its statements is a function of that; with four it goes wrong
//! verdict: unsafe
//! violation: never

shared int s;

thread p[*] {
  zero: choose {
    atomic { await s == 0; s = 2; }
    goto two;
  } or {
    atomic { await s == 2; s = 0; }
    goto three;
  }
  two: choose {
    atomic { await s == 0; s = 1; }
    goto zero;
  } or {
    await s == 2;
    goto zero;
  }
  three: skip;
}

never s == 1 && at(two) >= 1;
