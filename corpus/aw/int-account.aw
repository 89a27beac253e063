// An account with any number of owners: who takes something out looks at the balance in the same step
//! verdict: safe
//! solver: needed

shared int balance = 10;

thread payer[*] {
  loop {
    balance = balance + 3;
  }
}

thread spender[*] {
  loop {
    atomic { await balance >= 4; balance = balance - 4; }
  }
}

never balance < 0;
