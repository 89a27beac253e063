// A divisor is tested and then used; another thread makes it zero between
//! verdict: unsafe
//! violation: division
//! switches: 2

shared 0..2 divisor = 2;
shared 0..4 quotient;

thread user {
  if (divisor != 0) {
    quotient = 4 / divisor;
    assert quotient >= 2;
  }
}

thread eraser { divisor = 0; }
