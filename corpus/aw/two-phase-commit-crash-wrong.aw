// Two-phase commit over channels: a participant that has voted yes and hears nothing commits on its own
//! verdict: unsafe
//! violation: never

enum Outcome { open, committed, aborted }
const N = 2;
chan votes[N] of bool;
chan decision0[1], decision1[1] of bool;
shared Outcome outcome[N], decided;

thread coordinator {
  bool yes, all = true;
  for _vote in 1..N {
    recv(votes, yes);
    all = all && yes;
  }
  if (*) { return; }                    // a crash
  decided = all ? committed : aborted;
  send(decision0, all);
  if (*) { return; }                    // a crash between the two
  send(decision1, all);
}

thread participant[N] {
  bool yes = *, commit;
  send(votes, yes);
  if (!yes) { outcome[self] = aborted; return; }
  commit = true;
  if (self == 0) { try_recv(decision0, commit); } else { try_recv(decision1, commit); }
  outcome[self] = commit ? committed : aborted;
}

never mixed: (exists i in 0..N - 1: outcome[i] == committed) && exists i in 0..N - 1: outcome[i] == aborted;
never alone: decided != committed && exists i in 0..N - 1: outcome[i] == committed;
