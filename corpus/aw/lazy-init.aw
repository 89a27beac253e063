// Double-checked initialisation: the data are written before the flag
//! run: --threads user=2 => safe
//! run: --threads user=3 => safe

lock m;
shared bool ready, data;

thread user[*] {
  if (!ready) {
    acquire(m);
    if (!ready) {
      assert !data;                     // nobody initialises twice
      data = true;
      ready = true;
    }
    release(m);
  }
  assert data;
}
