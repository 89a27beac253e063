// A server starts workers, without end, before its setup is complete
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared bool ready, stop;
shared 0..2 config;

thread server {
  config = 1;
  spawn worker;
  config = 2;
  ready = true;
  while (!stop) { spawn worker; }
}

thread operator {
  await ready;
  stop = true;
}

thread worker[0] {
  0..2 mine;
  mine = config;
  assert ready && mine == 2;
}
