// An error statement that no schedule reaches, because the two halves of the key are never there together
//! verdict: safe

shared bool left, right;

thread one {
  loop { left = true; left = false; await !right; right = true; right = false; }
}

thread two {
  if (left && right) { error; }
}
