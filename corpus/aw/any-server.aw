// A server starts a worker for each request, without end, until it is told to stop; no worker begins before the setup
//! verdict: safe

shared bool ready, stop;
shared 0..2 config;

thread server {
  config = 1;
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
  begin: assert ready && mine == 2;
}
never at(begin) > 0 && !ready;
