// DrUBA, Example 12 with two threads: when both are over, t has been flipped twice, even if s was set between
//! verdict: safe

shared bool s, t;

thread p[2] {
  t = !t;
  if (t) { s = true; }
  over: skip;
}

never s && t && at(over) == 2;
