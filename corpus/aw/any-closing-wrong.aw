// A host wakes everybody and then closes: a guest has gone back to sleep when the lights go out
//! verdict: unsafe
//! violation: never
//! switches: 2

shared bool closed, dark;
event bell;

thread host {
  broadcast bell;
  closed = true;
  dark = true;
}

thread guest[*] {
  loop {
    if (!closed) {
      sleep: wait bell;
    }
  }
}

never dark && at(sleep) > 0;
