// A host closes and then wakes everybody: no guest, of any number, is asleep when the lights go out
//! verdict: safe

shared bool closed, dark;
event bell;

thread host {
  closed = true;
  broadcast bell;
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
