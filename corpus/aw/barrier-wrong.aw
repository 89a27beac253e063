// A barrier used again too soon: a thread comes round before another has left, and both wait
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 1

const N = 2;
shared 0..1 arrived;

thread p[2] {
  bool last;
  loop {
    last, arrived = arrived == N - 1, (arrived + 1) % N;
    if (!last) { await arrived == 0; }
  }
}
