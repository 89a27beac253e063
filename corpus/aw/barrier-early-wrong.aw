// A sense-reversing barrier that counts in two steps: an arrival is lost
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 2

const N = 2;
shared 0..2 arrived;
shared bool sense;

thread p[2] {
  bool mine;
  0..2 before;
  loop {
    mine = !mine;
    before = arrived;
    arrived = before + 1;
    if (before == N - 1) {
      arrived = 0;
      sense = mine;
    } else {
      await sense == mine;
    }
  }
}
