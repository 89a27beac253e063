// Three philosophers and three locks of the language: deadlock
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 2

lock a;
lock b;
lock c;

thread plato {
  loop { acquire(a); acquire(b); release(b); release(a); }
}

thread kant {
  loop { acquire(b); acquire(c); release(c); release(b); }
}

thread hume {
  loop { acquire(c); acquire(a); release(a); release(c); }
}
