// As many steps down as up: the parity is even again when the outermost call returns. True, but only the whole stack shows it, and no invariant of today says so
//! run: --timeout 1s => unknown

shared bool odd;

proc walk() {
  odd = !odd;
  if (*) { walk(); }
  odd = !odd;
}

thread p {
  walk();
  assert !odd;
}
