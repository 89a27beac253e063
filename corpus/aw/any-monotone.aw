// A conductor raises the tempo; any number of players look at it again and again, and never see it fall
//! verdict: safe

shared 0..4 tempo;

thread conductor {
  while (tempo < 4) { tempo = tempo + 1; }
}

thread player[*] {
  0..4 last, now;
  loop {
    now = tempo;
    assert last <= now;
    last = now;
  }
}
