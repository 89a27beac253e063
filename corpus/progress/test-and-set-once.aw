// The test-and-set lock, taken once by each of three threads: everybody comes to the end
//! verdict: safe

shared bool taken;

thread p[3] {
  while (!cas(taken, false, true)) {}
  crit: skip;
  taken = false;
  done: skip;
}

never at(crit) >= 2;
eventually crit;
eventually done;
