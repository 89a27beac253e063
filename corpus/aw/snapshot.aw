// A double collect: if both cells were read twice and had not changed, the values were there at one moment
//! verdict: safe

// The cells only grow, so equal values mean no change. The left one is never more than one ahead.
shared 0..3 left, right;

thread writer {
  while (right < 3) {
    left = left + 1;
    right = right + 1;
  }
}

thread scanner {
  0..3 l1, r1, l2, r2;
  loop {
    l1 = left;
    r1 = right;
    l2 = left;
    r2 = right;
    if (l1 == l2 && r1 == r2) { assert l1 == r1 || l1 == r1 + 1; }
  }
}
