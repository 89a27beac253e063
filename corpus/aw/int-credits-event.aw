// Credits that consumers sleep for: who is woken looks again, since others may have been faster
//! verdict: safe
//! solver: needed

shared int credits;
event more;

thread producer[*] {
  loop {
    credits = credits + 1;
    broadcast more;
  }
}

thread consumer[*] {
  loop {
    bool taken = false;
    while (!taken) {
      atomic {
        if (credits > 0) {
          credits = credits - 1;
          taken = true;
        }
      }
      if (!taken) { wait more; }
    }
  }
}

never credits < 0;
