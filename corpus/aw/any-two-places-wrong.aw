// Any number of threads go back and forth between two places: two are in one of them and three in the other
//! verdict: unsafe
//! violation: never
//! switches: 2

thread p[*] {
  loop {
    here: skip;
    there: skip;
  }
}

never at(here) >= 2 && at(there) >= 3;
