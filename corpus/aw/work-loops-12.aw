// Twelve threads work in loops of different lengths, and count what they have done, modulo 8, under a lock that knows its owner
//! verdict: safe

const N = 12;
shared 0..N owner = N;
shared 0..7 total;

thread worker[N] {
  0..N work;
  0..7 seen;
  loop {
    work = 0;
    while (work < self) { work = work + 1; }
    atomic { await owner == N; owner = self; }
    seen = total;
    total = (seen + 1) % 8;
    assert total == (seen + 1) % 8;
    owner = N;
    seen = 0;
  }
}
