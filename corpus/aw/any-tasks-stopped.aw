// Tasks post themselves again, twice each, so that more and more are pending, until the service stops; none runs after its end
//! verdict: safe

shared bool stopped, closed;

main {
  post work();
  while (*) { post work(); }
  stopped = true;
  post close();
}

task work() {
  if (!stopped) {
    assert !closed;
    post work();
    yield;
    post work();
  }
}

task close() {
  assert stopped;
  closed = true;
}
