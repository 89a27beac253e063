// A ring in which a station that waits long believes that the token is lost and makes a new one
//! verdict: unsafe
//! violation: never
//! switches: 1

const N = 3;
shared bool started, token[3];

thread station[3] {
  loop {
    choose {
      atomic { await token[self]; token[self] = false; }
    } or {
      atomic { await !started; started = true; }
    } or {
      await started && self == 2;       // station 2 is impatient
    }
    send: skip;
    token[(self + 1) % N] = true;
  }
}

never at(send) >= 2;
