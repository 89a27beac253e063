// A boss starts two workers and wakes them when the work is ready
//! verdict: safe
//! threads: worker=2

shared bool ready;
event go;

thread boss {
  spawn worker;
  spawn worker;
  ready = true;
  broadcast go;
}

thread worker[0] {
  wait go;
  assert ready;
}
