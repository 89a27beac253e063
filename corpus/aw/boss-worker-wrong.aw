// A boss wakes the workers before the work is ready
//! verdict: unsafe
//! threads: worker=2
//! violation: assert
//! switches: 1

shared bool ready;
event go;

thread boss {
  spawn worker;
  spawn worker;
  broadcast go;
  ready = true;
}

thread worker[0] {
  wait go;
  assert ready;
}
