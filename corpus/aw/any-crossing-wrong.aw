// Any number of walkers pass a crossing with a traffic light, which turns green before the car has left
//! verdict: unsafe
//! violation: assert
//! switches: 1

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
    light = 0;
    car = false;
  }
}

never at(cross) >= 2;
