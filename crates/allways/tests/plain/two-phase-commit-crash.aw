// Two-phase commit over channels
//! verdict: safe

const N = 2;
const OPEN = 0, COMMITTED = 1, ABORTED = 2;
shared bool votes[N];
shared 0..N sent;
shared bool has_decision[N], decision[N];
shared OPEN..ABORTED outcome[N], decided;

thread coordinator {
  bool yes, all = true;
  0..N received;
  while (received < N) {
    atomic {
      await sent > 0;
      yes = votes[0];
      votes[0] = votes[1];
      sent = sent - 1;
    }
    all = all && yes;
    received = received + 1;
  }
  if (*) { return; }
  decided = all ? COMMITTED : ABORTED;
  has_decision[0], decision[0] = true, all;
  if (*) { return; }
  has_decision[1], decision[1] = true, all;
}

thread participant[N] {
  bool yes = *, commit;
  atomic {
    await sent < N;
    votes[sent] = yes;
    sent = sent + 1;
  }
  if (!yes) {
    outcome[self] = ABORTED;
    return;
  }
  atomic {
    await has_decision[self];
    commit = decision[self];
    has_decision[self] = false;
  }
  outcome[self] = commit ? COMMITTED : ABORTED;
}

never mixed: (outcome[0] == COMMITTED || outcome[1] == COMMITTED) && (outcome[0] == ABORTED || outcome[1] == ABORTED);
never alone: decided != COMMITTED && (outcome[0] == COMMITTED || outcome[1] == COMMITTED);
