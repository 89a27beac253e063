// Two-phase commit where a participant that has voted yes gets tired of waiting and aborts
//! verdict: unsafe
//! violation: never
//! switches: 4

const N = 2;
shared bool asked;
shared 0..2 vote[2], decision, result[2];

thread coordinator {
  0..2 j;
  bool no;
  asked = true;
  while (j < N) {
    choose {
      await vote[j] == 1;
    } or {
      await vote[j] == 2;
      no = true;
    }
    j = j + 1;
  }
  decision = no ? 2 : 1;
}

thread participant[2] {
  await asked;
  if (*) {
    vote[self] = 1;
    choose {
      await decision != 0;
      result[self] = decision;
    } or {
      result[self] = 2;
    }
  } else {
    vote[self] = 2;
    result[self] = 2;
  }
}

never mixed: (result[0] == 1 || result[1] == 1) && (result[0] == 2 || result[1] == 2);
