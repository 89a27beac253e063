// A device with ten users and a power manager: a user switches it on before use, the manager off, each while it has the device
//! verdict: safe

const USERS = 10, MANAGER = USERS, FREE = USERS + 1;
shared 0..FREE owner = FREE;
shared bool powered;
// 0: cold, 1: ready, 2: at work.
shared 0..2 state;

proc take(0..MANAGER who) {
  atomic { await owner == FREE; owner = who; }
}

proc switch_on() {
  if (!powered) {
    powered = true;
    state = 1;
  }
}

thread user[USERS] {
  0..3 requests;
  loop {
    requests = *;
    if (requests == self % 4) { continue; }
    while (requests > 0) {
      take(self);
      switch_on();
      assert powered && state == 1;
      state = 2;
      use: state = 1;
      owner = FREE;
      requests = requests - 1;
    }
  }
}

thread manager {
  loop {
    take(MANAGER);
    assert state != 2;
    powered = false;
    state = 0;
    owner = FREE;
  }
}

never at(use) >= 2;
never at(use) >= 1 && !powered;
