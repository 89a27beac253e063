// An error statement that is reached if a thread is stopped between two writes
//! verdict: unsafe
//! violation: error
//! switches: 1

shared bool left, right;

thread one {
  loop { left = true; right = true; left = false; right = false; }
}

thread two {
  if (!left && right) { error; }
}
