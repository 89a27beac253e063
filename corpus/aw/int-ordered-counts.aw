// Begun is counted before ended, each in a step of its own, by any number of threads: never more have ended than begun
//! verdict: safe
//! solver: needed

shared int begun, ended;

thread job[*] {
  loop {
    begun = begun + 1;
    ended = ended + 1;
  }
}

never ended > begun;
