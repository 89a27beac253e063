// The ticket lock with procedures that takes tickets in two steps: two threads may get the same
//! verdict: unsafe
//! violation: never

shared int serving, next;

proc take() : int {
  int ticket = next;
  next = ticket + 1;
  return ticket;
}

proc enter() {
  int mine;
  mine = take();
  await serving == mine;
}

proc leave() {
  serving = serving + 1;
}

thread client[*] {
  loop {
    enter();
    crit: skip;
    leave();
  }
}

never at(crit) >= 2;
