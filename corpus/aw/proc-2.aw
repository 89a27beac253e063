// Two counters recurse until a bound is passed, two observers wait for it; once done, it stays done
//! verdict: safe

// `small` stands for "the count is below its bound": an increment may make it false.
shared bool small, done;

proc count() {
  if (small) {
    small = *;
    count();
  } else {
    done = true;
  }
}

thread counter[2] {
  small = true;
  count();
  assert done;
}

thread observer[2] {
  while (!done) {}
  assert done;
}
