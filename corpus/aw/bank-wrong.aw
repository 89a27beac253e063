// Two withdrawals look at the balance before they take the lock: the account goes below zero
//! verdict: unsafe
//! violation: range
//! switches: 2

lock m;
shared 0..3 balance = 3;

thread withdrawal[2] {
  if (balance >= 2) {
    acquire(m);
    balance = balance - 2;
    release(m);
  }
}
