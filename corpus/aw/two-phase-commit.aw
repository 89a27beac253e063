// Two-phase commit with a coordinator and three participants: they all commit or all abort
//! verdict: safe
//! property: deadlock

// Votes and decisions: 0 none yet, 1 yes or commit, 2 no or abort.
const N = 3;
shared bool asked;
shared 0..2 vote[3], decision, result[3];

thread coordinator {
  0..3 j;
  bool no;
  asked = true;
  while (j < N) {
    choose {
      await vote[j] == 1;
    } or {
      await vote[j] == 2;
      no = true;
    } or {
      no = true;                        // tired of waiting
    }
    j = j + 1;
  }
  decision = no ? 2 : 1;
}

thread participant[3] {
  await asked;
  if (*) {
    vote[self] = 1;
    await decision != 0;
    result[self] = decision;
  } else {
    vote[self] = 2;
    result[self] = 2;                   // may abort at once
  }
}

never mixed: (result[0] == 1 || result[1] == 1 || result[2] == 1) && (result[0] == 2 || result[1] == 2 || result[2] == 2);
