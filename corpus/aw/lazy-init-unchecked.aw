// Lazy initialisation without the second check: done twice
//! verdict: unsafe
//! threads: user=2
//! violation: assert
//! switches: 2

lock m;
shared bool ready, data;

thread user[*] {
  if (!ready) {
    acquire(m);
    assert !data;
    data = true;
    ready = true;
    release(m);
  }
  assert data;
}
