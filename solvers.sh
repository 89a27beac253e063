#!/bin/sh
# Installs the SMT solvers that proofs of programs with integers, and their tests, use: z3 and cvc5, where they are missing.
# Where that cannot be done it says so, and all else works without.
missing=""
for solver in z3 cvc5; do
  command -v "$solver" >/dev/null 2>&1 || missing="$missing $solver"
done
[ -z "$missing" ] && exit 0
if command -v apt-get >/dev/null 2>&1; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo -n"
  # shellcheck disable=SC2086
  { $as_root apt-get update -qq && $as_root apt-get install -qq -y $missing; } >/dev/null 2>&1 && exit 0
fi
echo "note: could not install:$missing. Programs with integers need z3; install it, or name another solver by --solver." >&2
exit 0
