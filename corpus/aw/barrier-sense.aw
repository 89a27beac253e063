// A sense-reversing barrier can be used again at once; no thread is ever a round behind
//! run: --threads p=3 --deadlock => safe

const N = 3;
shared 0..2 arrived, round[3];
shared bool sense;

thread p[3] {
  bool mine, last;
  loop {
    round[self] = (round[self] + 1) % 3;
    mine = !mine;
    last, arrived = arrived == N - 1, (arrived + 1) % N;
    if (last) {
      sense = mine;
    } else {
      await sense == mine;
    }
    assert round[(self + 1) % N] != (round[self] + 2) % 3;
    assert round[(self + 2) % N] != (round[self] + 2) % 3;
  }
}
