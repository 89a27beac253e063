// A token goes round a ring of four stations; who has it may send
//! verdict: safe
//! property: deadlock

const N = 4;
shared 0..3 token;

thread station[4] {
  loop {
    await token == self;
    send: skip;
    token = (self + 1) % N;
  }
}

never at(send) >= 2;
