// An assembly line of 20 stages: one carriage goes from stage to stage, and each stage prepares its part meanwhile
//! verdict: safe

const N = 20;
shared 0..N carriage;
shared bool part;

thread stage[N] {
  0..4 prepared;
  loop {
    while (prepared < 4) { prepared = prepared + 1; }
    await carriage == self;
    assert !part;
    part = true;
    mount: prepared = 0;
    part = false;
    carriage = self + 1;
  }
}

thread unload {
  loop {
    await carriage == N;
    assert !part;
    empty: carriage = 0;
  }
}

never at(mount) >= 2;
never at(mount) >= 1 && at(empty) >= 1;
