// The message-passing test: who sees the flag sees the message
//! run: --threads reader=1 => safe
//! run: --threads reader=3 => safe

shared bool message, flag;

thread writer {
  message = true;
  flag = true;
}

thread reader[*] {
  await flag;
  assert message;
}
