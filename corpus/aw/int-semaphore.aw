// A counting semaphore with two permits, any number of threads
//! verdict: safe
//! solver: needed

shared int permits = 2;

thread p[*] {
  loop {
    atomic { await permits > 0; permits = permits - 1; }
    inside: skip;
    permits = permits + 1;
  }
}

never at(inside) >= 3;
