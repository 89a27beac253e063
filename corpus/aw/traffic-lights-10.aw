// Traffic lights at a crossing of ten roads: a controller gives green to one road at a time, and cars queue up at all
//! verdict: safe

const ROADS = 10;
shared 0..ROADS - 1 road;
shared bool green;

thread controller {
  loop {
    green = true;
    await !green;
    road = (road + 1) % ROADS;
  }
}

thread lights[ROADS] {
  0..5 cars;
  loop {
    choose {
      await cars < 5;
      cars = cars + 1;
    } or {
      await green && road == self;
      while (cars > 0) {
        assert green && road == self;
        cross: cars = cars - 1;
      }
      green = false;
    }
  }
}

never at(cross) >= 2;
