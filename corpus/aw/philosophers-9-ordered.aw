// Nine philosophers, each of whom takes the fork with the lower number first; a fork is where its holder believes it to be
//! verdict: safe

const N = 9;
// Who has the fork: nobody, or the one to its right (1) or to its left (2).
shared 0..2 fork[N];

thread philosopher[N] {
  0..4 thoughts;
  loop {
    choose {
      await thoughts < 4;
      thoughts = thoughts + 1;
    } or {
      atomic {
        await fork[self < N - 1 ? self : 0] == 0;
        fork[self < N - 1 ? self : 0] = self < N - 1 ? 1 : 2;
        thoughts = 0;
      }
      atomic {
        await fork[self < N - 1 ? self + 1 : N - 1] == 0;
        fork[self < N - 1 ? self + 1 : N - 1] = self < N - 1 ? 2 : 1;
      }
      assert fork[self] == 1 && fork[(self + 1) % N] == 2;
      fork[(self + 1) % N] = 0;
      fork[self] = 0;
    }
  }
}
