// Ten different services of a small kernel: each call puts a number into the one register, and takes it out again
//! verdict: safe

// The number of the service that is inside, or 0.
shared 0..10 kernel;
shared bool register;

proc call(1..10 number) {
  atomic { await kernel == 0; kernel = number; }
  assert !register;
  register = true;
  inside: assert register && kernel == number;
  register = false;
  kernel = 0;
}

thread disk {
  0..4 block;
  loop {
    while (block < 4) { block = block + 1; }
    call(1);
    block = 0;
  }
}

thread net {
  0..3 packets;
  loop {
    choose { await packets < 3; packets = packets + 1; }
    or { await packets > 0; call(2); packets = packets - 1; }
  }
}

thread keyboard {
  bool shift;
  loop {
    choose { shift = !shift; } or { await shift; call(3); }
  }
}

thread screen {
  0..3 x, y;
  loop {
    x = (x + 1) % 4;
    if (x == 0) { y = (y + 1) % 4; }
    if (x == y) { call(4); }
  }
}

thread timer {
  0..9 ticks;
  loop {
    ticks = (ticks + 1) % 10;
    if (ticks == 0) { call(5); }
  }
}

thread audio {
  0..4 left, right;
  loop {
    choose { await left < 4; left = left + 1; }
    or { await right < 4; right = right + 1; }
    or { await left == right; call(6); left, right = 0, 0; }
  }
}

thread printer {
  bool paper, ink;
  loop {
    choose { paper = !paper; } or { ink = !ink; } or { await paper && ink; call(7); }
  }
}

thread mouse {
  0..3 buttons;
  loop {
    buttons = *;
    if (buttons == 3) { call(8); }
  }
}

thread modem {
  1..7 noise = 1;
  loop {
    noise = noise % 2 == 0 ? noise / 2 : (noise + 7) / 2;
    if (noise == 1) { call(9); }
  }
}

thread swapper {
  0..4 pages;
  loop {
    choose { await pages < 4; pages = pages + 1; } or { await pages == 4; call(10); pages = 0; }
  }
}

never at(inside) >= 2;
