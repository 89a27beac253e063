// A barrier for two threads that lets the other one go before it counts from zero again: that one takes itself for the last
//! verdict: unsafe
//! violation: assert

shared int arrived, rounds[2];
shared bool sense;

thread p[2] {
  bool mine;
  int order;
  loop {
    mine = !mine;
    order, arrived = arrived + 1, arrived + 1;
    if (order >= 2) {
      sense = mine;
      arrived = 0;
    } else {
      await sense == mine;
    }
    rounds[self] = rounds[self] + 1;
    assert rounds[self] - rounds[1 - self] <= 1;
  }
}
