// A barrier for two threads that reads the number of the round after it has arrived: the round may be over
//! verdict: unsafe
//! violation: assert

shared int arrived, round;

thread p[2] {
  int mine, last;
  loop {
    atomic {
      arrived = arrived + 1;
      if (arrived == 2) {
        arrived, round = 0, round + 1;
      }
    }
    mine = round;
    assert mine <= last + 1;
    last = mine;
  }
}
