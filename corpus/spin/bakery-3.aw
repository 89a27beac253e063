// Lamport's bakery for 3 threads, with tickets up to 4 and waiting where they run out
//! verdict: safe

const N = 3, MOST = 4;
shared bool choosing[N];
shared 0..MOST number[N];

thread p[N] {
  0..N k;
  0..MOST most;
  loop {
    choosing[self] = true;
    most = 0;
    k = 0;
    while (k < N) {
      if (number[k] > most) { most = number[k]; }
      k = k + 1;
    }
    await most < MOST;
    number[self] = most + 1;
    choosing[self] = false;
    k = 0;
    while (k < N) {
      await !choosing[k];
      await k == self || number[k] == 0 || number[k] > number[self] || number[k] == number[self] && k > self;
      k = k + 1;
    }
    crit: skip;
    number[self] = 0;
  }
}

never at(crit) >= 2;
