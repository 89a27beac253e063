// A barrier for two threads whose sense is turned with every round: nobody is ahead by more than one round
//! verdict: safe
//! solver: needed

shared int arrived, rounds[2];
shared bool sense;

thread p[2] {
  bool mine;
  int order;
  loop {
    mine = !mine;
    order, arrived = arrived + 1, arrived + 1;
    if (order == 2) {
      arrived = 0;
      sense = mine;
    } else {
      await sense == mine;
    }
    rounds[self] = rounds[self] + 1;
    assert rounds[self] - rounds[1 - self] <= 1;
  }
}
