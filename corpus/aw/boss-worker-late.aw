// A worker that comes to its wait after the broadcast waits forever
//! verdict: unsafe
//! threads: worker=2
//! property: deadlock
//! violation: deadlock
//! switches: 3

shared 0..2 here;
event go;

thread boss {
  spawn worker;
  spawn worker;
  await here >= 1;
  broadcast go;
}

thread worker[0] {
  here = here + 1;
  wait go;
}
