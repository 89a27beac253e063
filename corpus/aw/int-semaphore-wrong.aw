// A counting semaphore whose permits are looked at in one step and taken in the next
//! verdict: unsafe
//! violation: never

shared int permits = 2;

thread p[*] {
  loop {
    await permits > 0;
    permits = permits - 1;
    inside: skip;
    permits = permits + 1;
  }
}

never at(inside) >= 3;
