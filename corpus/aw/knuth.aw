// Knuth's lock for three threads: Dijkstra's made fair by a cyclic order
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

const N = 3;
shared 0..2 control[3], first;

thread p[3] {
  0..3 j;
  loop {
    start: control[self] = 1;
    scan: j = first;
    while (j != self) {
      if (control[j] != 0) { goto scan; }
      j = (j + N - 1) % N;
    }
    control[self] = 2;
    j = 0;
    while (j < N) {
      if (j != self && control[j] == 2) { goto start; }
      j = j + 1;
    }
    first = self;
    crit: skip;
    first = (self + N - 1) % N;
    control[self] = 0;
  }
}

never at(crit) >= 2;
