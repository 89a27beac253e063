// Vyukov's bounded queue where a producer gives the turn away before the value is there
//! verdict: unsafe
//! violation: never

const SIZE = 2, N = 2;
struct Slot {
  0..SIZE + N turn;
  0..N value;
}
shared Slot slots[SIZE] = {{0, 0}, {1, 0}};
shared 0..N head, tail, taken[N + 1];

proc claim(ref 0..N end, 0..1 ahead) : 0..N {
  loop {
    0..N place = end;
    if (slots[place % SIZE].turn == place + ahead) {
      if (cas(end, place, place + 1)) { return place; }
    }
  }
}

thread producer[N] {
  0..N place = claim(tail, 0);
  slots[place % SIZE].turn = place + 1;
  slots[place % SIZE].value = self + 1;
}

thread consumer[N] {
  0..N place = claim(head, 1);
  fetch_add(taken[slots[place % SIZE].value], 1);
  slots[place % SIZE].turn = place + SIZE;
}

never exists v in 0..N: taken[v] > (v == 0 ? 0 : 1);
