// Readers and writers take tickets from one row; a reader calls the next one before it is counted
//! verdict: unsafe
//! violation: never

shared int next, serving, readers;

thread reader[*] {
  int mine;
  loop {
    mine, next = next, next + 1;
    await serving == mine;
    serving = serving + 1;
    readers = readers + 1;
    reading: skip;
    readers = readers - 1;
  }
}

thread writer[*] {
  int mine;
  loop {
    mine, next = next, next + 1;
    await serving == mine;
    await readers == 0;
    writing: skip;
    serving = serving + 1;
  }
}

never at(writing) >= 1 && at(reading) >= 1;
