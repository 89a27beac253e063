// Any number of walkers pass a crossing with a traffic light; the car goes only while it is red and nobody is on the road
//! verdict: safe

// 0: green, 1: green and somebody is on the road, 2: red.
shared 0..2 light;
shared bool car;

thread walker[*] {
  loop {
    atomic { await light == 0; light = 1; }
    cross: assert !car;
    light = 0;
  }
}

thread driver {
  loop {
    atomic { await light == 0; light = 2; }
    car = true;
    car = false;
    light = 0;
  }
}

never at(cross) >= 2;
