// TM, Example 16: two threads take a lock and keep it; a thread-modular proof forgets who has it
//! verdict: safe

shared 0..1 m;

thread one {
  atomic { await m == 0; m = 1; }
  b: skip;
}

thread two {
  atomic { await m == 0; m = 1; }
  c: skip;
}

never at(b) >= 1 && at(c) >= 1;
