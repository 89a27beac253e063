// An account whose balance is looked at in one step and used in the next
//! verdict: unsafe
//! violation: never

shared int balance = 10;

thread spender[*] {
  loop {
    await balance >= 4;
    balance = balance - 4;
  }
}

never balance < 0;
