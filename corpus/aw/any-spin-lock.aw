// Any number of threads and a spin lock: who is inside is alone, and finds the pair as the last one left it
//! verdict: safe

shared bool taken;
shared 0..1 a, b;

thread client[*] {
  loop {
    atomic { await !taken; taken = true; }
    assert a == b;
    a = 1 - a;
    crit: b = a;
    taken = false;
  }
}

never at(crit) >= 2;
