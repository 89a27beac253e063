// A token goes round a ring of 16 stations; each has a queue of its own, and sends from it while it has the token
//! verdict: safe

const N = 16;
shared 0..N - 1 token;

thread station[N] {
  0..3 queue;
  loop {
    choose {
      await queue < 3;
      queue = queue + 1;
    } or {
      await token == self;
      while (queue > 0) { send: queue = queue - 1; }
      token = (self + 1) % N;
    }
  }
}

never at(send) >= 2;
