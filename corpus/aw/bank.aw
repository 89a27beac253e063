// Transfers between two accounts, each in one atomic step: no money is made or lost
//! verdict: safe

shared 0..4 account[2];
shared bool open;

thread bank {
  atomic { account[0] = 2; account[1] = 2; open = true; }
}

thread transfer[3] {
  await open;
  loop {
    atomic {
      if (account[self % 2] > 0) {
        account[self % 2] = account[self % 2] - 1;
        account[(self + 1) % 2] = account[(self + 1) % 2] + 1;
      }
    }
  }
}

never open && account[0] + account[1] != 4;
