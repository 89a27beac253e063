// A relay of forty runners: each warms up, waits for the runner before, and hands the baton on
//! verdict: safe

const N = 40;
shared 0..N baton;

thread runner[N] {
  0..3 laps;
  while (laps < 3) { laps = laps + 1; }
  await baton == self;
  run: assert laps == 3;
  baton = baton + 1;
  assert baton > self;
}

never at(run) >= 2;
never at(run) == 1 && baton == N;
