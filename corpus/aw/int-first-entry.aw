// Whoever comes first keeps the books, in a shared variable and in one of its own; any number of others leave again
//! verdict: safe
//! solver: needed

shared int arrived, booked;

thread clerk[*] {
  int own;
  arrived = arrived + 1;
  if (arrived == 1) {
    loop {
      booked = booked + 3;
      own = own + 3;
      assert booked == own;
    }
  }
}
