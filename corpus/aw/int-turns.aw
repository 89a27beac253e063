// Two kinds of threads take turns, by whether a count is even; any number of each
//! verdict: safe
//! solver: needed

shared int turn;

thread even[*] {
  loop {
    await turn % 2 == 0;
    skip;
    atomic { await turn % 2 == 0; turn = turn + 1; }
  }
}

thread odd[*] {
  loop {
    atomic { await turn % 2 == 1; assert turn >= 1; turn = turn + 1; }
  }
}

never turn < 0;
