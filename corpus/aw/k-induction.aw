// Two threads recurse to any depth and then wait for each other to flip x; their writes never compete
//! verdict: safe

shared bool x = *;

proc foo() {
  if (*) { foo(); }
  while (x) {}
  raise: x = true;
}

proc bar() {
  if (*) { bar(); }
  while (!x) {}
  lower: x = false;
}

thread a { foo(); }
thread b { bar(); }

never at(raise) >= 1 && at(lower) >= 1;
