// Two may come before the first of them looks how many have come: both keep the books, in one shared variable
//! verdict: unsafe
//! violation: assert

shared int arrived, booked;

thread clerk[*] {
  int own;
  arrived = arrived + 1;
  if (arrived <= 2) {
    loop {
      booked = booked + 3;
      own = own + 3;
      assert booked == own;
    }
  }
}
