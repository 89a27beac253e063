// Twelve workers compute in phases: they come to the barrier in order, the last one opens the next phase
//! verdict: safe

const N = 12;
shared 0..N - 1 arrived;
shared bool phase;

thread worker[N] {
  bool mine;
  0..2 i, j;
  loop {
    i = *;
    j = *;
    while (i != j) {
      if (i < j) { i = i + 1; } else { j = j + 1; }
    }
    assert phase == mine;
    await arrived == self;
    if (self < N - 1) {
      arrived = self + 1;
      await phase != mine;
    } else {
      arrived, phase = 0, !phase;
    }
    mine = !mine;
  }
}
