// Any number of threads draw random numbers and write the new seed without comparing: two draw the same number
//! verdict: unsafe
//! violation: assert
//! switches: 2

// Three times the number, modulo 7, goes through all of 1 to 6.
shared 1..6 seed, last;

thread user[*] {
  1..6 old, mine;
  loop {
    old = seed;
    mine = 3 * old % 7;
    atomic {
      seed = mine;
      assert mine == 3 * last % 7;
      last = mine;
    }
  }
}
