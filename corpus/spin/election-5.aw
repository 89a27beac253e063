// Leader election on a ring (Chang and Roberts) with 5 nodes, channels of one message, and any order of the identities' steps
//! verdict: safe

const N = 5;
// A channel holds an identity, 0 if it is empty. Node i has the identity i * 2 % N + 1.
shared 0..N channel[N];
shared 0..N leaders;

thread node[N] {
  0..N id, got;
  id = self * 2 % N + 1;
  await channel[(self + 1) % N] == 0;
  channel[(self + 1) % N] = id;
  loop {
    await channel[self] != 0;
    got, channel[self] = channel[self], 0;
    if (got == id) {
      leaders = leaders + 1;
      assert leaders == 1 && id == N;
      break;
    }
    if (got > id) {
      await channel[(self + 1) % N] == 0;
      channel[(self + 1) % N] = got;
    }
  }
}
