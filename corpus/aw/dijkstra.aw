// Dijkstra's lock for three threads, the first for more than two
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

const N = 3;
shared bool want[3], inside[3];
shared 0..2 turn;

thread p[3] {
  0..3 j;
  loop {
    want[self] = true;
    again: if (turn != self) {
      inside[self] = false;
      if (!want[turn]) { turn = self; }
      goto again;
    }
    inside[self] = true;
    j = 0;
    while (j < N) {
      if (j != self && inside[j]) { goto again; }
      j = j + 1;
    }
    crit: skip;
    inside[self] = false;
    want[self] = false;
  }
}

never at(crit) >= 2;
