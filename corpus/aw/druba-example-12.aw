// DrUBA, Example 12: one thread alone sets s; two in round robin without delays never do
//! run: --threads p=1 => unsafe
//! run: --threads p=2 => unsafe
//! violation: never

shared bool s, t;

thread p[2] {
  t = !t;
  if (t) { s = true; }
}

never s;
