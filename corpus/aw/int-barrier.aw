// A barrier for two threads with a number for each round: who is let through is exactly one round on
//! verdict: safe
//! solver: needed

shared int arrived, round;

thread p[2] {
  int mine;
  loop {
    mine = round;
    atomic {
      arrived = arrived + 1;
      if (arrived == 2) {
        arrived, round = 0, round + 1;
      }
    }
    await round != mine;
    assert round == mine + 1;
  }
}
