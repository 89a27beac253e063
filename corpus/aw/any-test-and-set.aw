// Any number of threads and a lock that is taken by test-and-set, one exchange in one step: who finds it free is alone
//! verdict: safe

shared bool taken;

thread client[*] {
  bool was;
  loop {
    was, taken = taken, true;
    if (!was) {
      crit: skip;
      taken = false;
    }
  }
}

never at(crit) >= 2;
