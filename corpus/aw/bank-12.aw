// A bank with twelve clerks and three accounts: each clerk books in two steps, while it has the books, and no coin is lost
//! verdict: safe

const N = 12, COINS = 3;
shared 0..N books = N;
shared 0..COINS account[3] = 1;

thread clerk[N] {
  0..2 from, to;
  loop {
    from = *;
    to = (from + 1 + self % 2) % 3;
    atomic { await books == N; books = self; }
    if (account[from] > 0) {
      account[from] = account[from] - 1;
      account[to] = account[to] + 1;
    }
    assert account[0] + account[1] + account[2] == COINS;
    books = N;
  }
}
