// Credits that consumers sleep for: who is woken takes one without looking again
//! verdict: unsafe
//! violation: never

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
    wait more;
    credits = credits - 1;
  }
}

never credits < 0;
