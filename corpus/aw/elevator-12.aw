// An elevator with twelve floors: people wait at each, and get in only while it is there with open doors
//! verdict: safe

const FLOORS = 12;
shared 0..FLOORS - 1 floor;
// 0: closed, 1: open, 2: somebody is in the door.
shared 0..2 door;

thread cab {
  bool up = true;
  loop {
    door = 1;
    atomic { await door == 1; door = 0; }
    if (floor == FLOORS - 1) { up = false; }
    if (floor == 0) { up = true; }
    move: floor = up ? floor + 1 : floor - 1;
  }
}

thread people[FLOORS] {
  0..4 waiting;
  loop {
    choose {
      await waiting < 4;
      waiting = waiting + 1;
    } or {
      atomic { await floor == self && door == 1; door = 2; }
      enter: waiting = waiting > 0 ? waiting - 1 : 0;
      assert floor == self && door == 2;
      door = 1;
    }
  }
}

never at(enter) >= 2;
never at(enter) >= 1 && at(move) >= 1;
