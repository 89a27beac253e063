// Two threads fill an array; each looks for room before it writes, and not while it does
//! verdict: unsafe
//! violation: index
//! switches: 2

shared 0..4 count;
shared bool used[3];

thread p[2] {
  while (count < 3) {
    used[count] = true;
    count = count + 1;
  }
  assert used[0];
}
