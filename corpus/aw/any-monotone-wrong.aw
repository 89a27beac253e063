// A conductor raises the tempo and takes it back once: a player sees it fall
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared 0..4 tempo;

thread conductor {
  while (tempo < 4) { tempo = tempo + 1; }
  tempo = 2;
}

thread player[*] {
  0..4 last, now;
  loop {
    now = tempo;
    assert last <= now;
    last = now;
  }
}
