// Leader election in a ring, after Chang and Roberts: numbers travel round, the greatest comes home; one leader at most
//! verdict: safe

// The channel into station i holds one number, 0 is none. Station 0 has number 2, station 1 has 3, station 2 has 1.
const N = 3;
shared 0..3 channel[3];
shared 0..3 leaders;

thread station[3] {
  1..3 number;
  0..3 got;
  number = (self + 1) % N + 1;
  atomic { await channel[(self + 1) % N] == 0; channel[(self + 1) % N] = number; }
  loop {
    atomic { await channel[self] != 0; got = channel[self]; channel[self] = 0; }
    if (got == number) {
      leaders = leaders + 1;
      assert number == 3;
    }
    if (got > number) {
      atomic { await channel[(self + 1) % N] == 0; channel[(self + 1) % N] = got; }
    }
  }
}

never leaders >= 2;
