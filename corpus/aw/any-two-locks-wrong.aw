// Any number of threads move a coin between two purses, and let the first go before they take the second: the coin is away
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared bool first, second;
shared 0..1 left = 1, right;

thread mover[*] {
  loop {
    atomic { await !first; first = true; }
    assert left + right == 1;
    left = 1 - left;
    first = false;
    atomic { await !second; second = true; }
    right = 1 - right;
    second = false;
  }
}
