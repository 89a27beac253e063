// An elevator with three floors: cab and door are two threads; the cab waits for the closed door before it moves
//! verdict: safe
//! property: deadlock

shared 0..2 floor;
shared bool called[3], open, must_open, moving;

thread cab {
  0..2 target;
  loop {
    choose { await called[0]; target = 0; }
    or { await called[1]; target = 1; }
    or { await called[2]; target = 2; }
    while (floor != target) {
      moving = true;
      floor = target > floor ? floor + 1 : floor - 1;
      moving = false;
    }
    called[target] = false;
    must_open = true;
    await open;
    must_open = false;
    await !open;
  }
}

thread door {
  loop {
    await must_open;
    open = true;
    await !must_open;
    open = false;
  }
}

thread passenger {
  0..2 wish;
  loop {
    wish = *;
    called[wish] = true;
  }
}

never moving && open;
