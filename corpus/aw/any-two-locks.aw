// Any number of threads move a coin between two purses, each under a lock of its own, taken in order: there is always one coin
//! verdict: safe

shared bool first, second;
shared 0..1 left = 1, right;

thread mover[*] {
  loop {
    atomic { await !first; first = true; }
    atomic { await !second; second = true; }
    assert left + right == 1;
    left = 1 - left;
    move: right = 1 - right;
    second = false;
    first = false;
  }
}

never at(move) >= 2;
