// TM, Example 23: any number of threads take a lock and release it; the quadratic method proves it
//! run: --threads t=2 => safe
//! run: --threads t=3 => safe
//! run: --threads t=5 => safe

shared 0..1 m;

thread t[*] {
  atomic { await m == 0; m = 1; }
  b: m = 0;
}

never at(b) >= 2;
