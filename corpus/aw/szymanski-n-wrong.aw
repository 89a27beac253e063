// Szymanski's lock for any constant number of threads, where nobody waits for those with a lower number before it enters
//! verdict: unsafe
//! violation: never

const N = 3;
enum Flag { outside, wants, waits, enters, closed }
shared Flag flag[N];

thread p[N] {
  loop {
    flag[self] = wants;
    await forall i in 0..N - 1: flag[i] < enters;
    flag[self] = enters;
    if (exists i in 0..N - 1: flag[i] == wants) {
      flag[self] = waits;
      await exists i in 0..N - 1: flag[i] == closed;
    }
    flag[self] = closed;
    crit: skip;
    await forall i in 0..N - 1: i <= self || flag[i] < waits || flag[i] == closed;
    flag[self] = outside;
  }
}

never at(crit) >= 2;
