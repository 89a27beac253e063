// TM, Example 15: a thread-modular proof forgets what came first and cannot show that label d is not reached
//! verdict: safe

shared 0..1 g;

thread one {
  await g == 1;
  await g == 0;
  await g == 1;
  d: skip;
}

thread two {
  g = 1;
  g = 0;
}

never at(d) >= 1;
