// A counter goes up on the way out of a recursion: four levels are too many for it
//! verdict: unsafe
//! violation: range
//! switches: 0

shared 0..3 count;

proc descend() {
  if (*) { descend(); }
  count = count + 1;
}

thread p { descend(); }
