// Two recursions step in turn on the way in and on the way out; both come to their end, if they go equally deep
//! verdict: unsafe
//! violation: never
//! switches: 3

// If one turns back earlier than the other, the other is left with a step that nobody answers.
shared 0..1 turn;

proc ping() {
  atomic { await turn == 0; turn = 1; }
  if (*) { ping(); }
  atomic { await turn == 0; turn = 1; }
}

proc pong() {
  atomic { await turn == 1; turn = 0; }
  if (*) { pong(); }
  atomic { await turn == 1; turn = 0; }
}

thread a { ping(); a_over: skip; }
thread b { pong(); b_over: skip; }

never at(a_over) == 1 && at(b_over) == 1;
