// Eisenberg and McGuire's lock for three threads: nobody is overtaken more than twice
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

// Flags: 0 idle, 1 wants in, 2 is going in.
const N = 3;
shared 0..2 flag[3], turn;

thread p[3] {
  0..3 j;
  loop {
    again: flag[self] = 1;
    j = turn;
    while (j != self) {
      j = flag[j] != 0 ? turn : (j + 1) % N;
    }
    flag[self] = 2;
    j = 0;
    while (j < N && (j == self || flag[j] != 2)) {
      j = j + 1;
    }
    if (j < N) { goto again; }
    if (turn != self && flag[turn] != 0) { goto again; }
    turn = self;
    crit: skip;
    j = (turn + 1) % N;
    while (flag[j] == 0) {
      j = (j + 1) % N;
    }
    turn = j;
    flag[self] = 0;
  }
}

never at(crit) >= 2;
