// Any number of threads draw random numbers and take the lock after they have read the seed: two draw the same number
//! verdict: unsafe
//! violation: assert
//! switches: 2

// Three times the number, modulo 7, goes through all of 1 to 6.
shared 1..6 seed, last;
lock m;

thread user[*] {
  1..6 mine;
  loop {
    mine = 3 * seed % 7;
    acquire(m);
    seed = mine;
    assert mine == 3 * last % 7;
    last = mine;
    release(m);
  }
}
