// As many steps down as up: the parity is even again when the outermost call returns. Only the whole stack shows it: the proof is a regular set of stacks
//! verdict: safe

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
