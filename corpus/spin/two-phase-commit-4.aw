// Two-phase commit with 4 participants that may crash and recover, and a coordinator
//! verdict: safe

// Votes: 0 none, 1 yes, 2 no. Decisions: 0 none, 1 commit, 2 abort.
const N = 4;
shared 0..2 vote[N], state[N], decision;

thread participant[N] {
  loop {
    // Nothing was promised yet: a crash is an abort.
    if (*) {
      vote[self] = 2;
      state[self] = 2;
    } else {
      vote[self] = 1;
      // After the promise, whoever crashes comes back and waits for the decision.
      while (decision == 0) { skip; }
      state[self] = decision;
    }
    assert state[self] != 1 || decision == 1;
    break;
  }
}

thread coordinator {
  0..N k;
  bool all = true;
  while (k < N) {
    if (*) {
      // It has waited for too long.
      all = false;
    } else {
      await vote[k] != 0;
      if (vote[k] == 2) { all = false; }
    }
    k = k + 1;
  }
  if (all) { decision = 1; } else { decision = 2; }
}

never (state[0] == 1 || state[1] == 1 || state[2] == 1 || state[3] == 1) &&
      (state[0] == 2 || state[1] == 2 || state[2] == 2 || state[3] == 2);
