// Two locks taken in the same order by everybody
//! verdict: safe
//! property: deadlock

lock a;
lock b;

thread one {
  acquire(a);
  acquire(b);
  both: skip;
  release(b);
  release(a);
}

thread two {
  acquire(a);
  acquire(b);
  also: skip;
  release(a);
  release(b);
}

never at(both) >= 1 && at(also) >= 1;
