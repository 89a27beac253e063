// Szymanski's lock for three threads: a waiting room with two doors; each test of all flags is one step
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

// Flags: 0 outside, 1 wants in, 2 waits in the room, 3 goes into the room, 4 has closed the door.
shared 0..4 flag[3];

thread p[3] {
  loop {
    flag[self] = 1;
    await flag[0] < 3 && flag[1] < 3 && flag[2] < 3;
    flag[self] = 3;
    if (flag[0] == 1 || flag[1] == 1 || flag[2] == 1) {
      flag[self] = 2;
      await flag[0] == 4 || flag[1] == 4 || flag[2] == 4;
    }
    flag[self] = 4;
    await (self <= 0 || flag[0] < 2) && (self <= 1 || flag[1] < 2);
    crit: skip;
    await (self >= 1 || flag[1] < 2 || flag[1] == 4) && (self >= 2 || flag[2] < 2 || flag[2] == 4);
    flag[self] = 0;
  }
}

never at(crit) >= 2;
