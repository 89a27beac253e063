// A lock that is taken in two steps, and so by two threads at a time.
//
//   allways check NAME.aw                       finds the schedule that shows it
//   allways check NAME.aw --html NAME.html      the same as a page
//   allways test NAME.aw                        is it still as the next line says?
//! verdict: unsafe
//
// The language: docs/language.md of Allways. To repair the lock, put test and write into one step,
//
//   atomic { await !taken; taken = true; }
//
// and check again: then it is safe, and with `worker[*]` for any number of threads.

shared bool taken;             // shared by all threads; starts as false
shared 0..3 entered;           // a number from 0 to 3; starts as 0

thread worker[2] {             // two threads; `self` is 0 in one and 1 in the other
  loop {
    await !taken;              // waits until it is true; each statement is one step
    taken = true;
    inside: skip;              // a label, for the property below
    entered = (entered + 1) % 4;
    assert taken;              // must hold whenever a thread is here
    taken = false;
  }
}

never at(inside) >= 2;         // no two threads are at `inside` at a time
