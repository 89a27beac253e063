// The ticket lock with procedures, any number of threads: a proof copies them into the threads
//! verdict: safe
//! solver: needed

shared int serving, next;

proc take() : int {
  atomic { next = next + 1; return next - 1; }
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
