// Any number of threads need a value that is computed once; the first one says that it is there too early
//! verdict: unsafe
//! violation: assert
//! switches: 1

// 0: nobody has begun, 1: somebody computes, 2: the value is there.
shared 0..2 state;
shared 0..7 value;

thread user[*] {
  0..7 mine;
  bool first;
  loop {
    atomic {
      await state != 1;
      if (state == 0) {
        state = 1;
        first = true;
      }
    }
    if (first) {
      value = value + 3;
      state = 2;
      compute: value = 2 * value;
      first = false;
    }
    mine = value;
    assert mine == 6;
    mine = 0;
  }
}

never at(compute) >= 2;
