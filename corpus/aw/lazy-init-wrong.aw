// Double-checked initialisation with the flag written before the data: a reader sees the flag and not the data
//! verdict: unsafe
//! threads: user=2
//! violation: assert
//! switches: 1

lock m;
shared bool ready, data;

thread user[*] {
  if (!ready) {
    acquire(m);
    if (!ready) {
      ready = true;
      data = true;
    }
    release(m);
  }
  assert data;
}
