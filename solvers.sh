#!/bin/sh
# solvers.sh [PROGRAM…]: sees to the SMT solvers that proofs of programs with integers, and their tests, use, and to chromium, in
# which tests look at pages. What is missing is installed by apt-get as root; others are told how, and asked if there is a
# terminal. Whatever happens, all else works without.
[ $# -gt 0 ] || set -- z3 cvc5
missing=""
for solver in "$@"; do
  command -v "$solver" >/dev/null 2>&1 || missing="$missing $solver"
done
[ -z "$missing" ] && exit 0
[ -n "${ALLWAYS_NO_INSTALL:-}" ] && exit 0

say() {
  echo "$*" >&2
}

# Runs a command and shows what it prints only if it fails.
quietly() {
  if ! output=$("$@" 2>&1); then
    say "note: this has failed: $*"
    say "$output"
    return 1
  fi
}

without="Only programs with integers, and tests of them, need solvers; all else works without."
case "$missing" in
  *chromium*) without="Only programs with integers, and some tests, need these; all else works without." ;;
esac
if ! command -v apt-get >/dev/null 2>&1; then
  say "note: missing:$missing. $without ALLWAYS_NO_INSTALL=1 leaves out this note."
  exit 0
fi
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
# The names of the solvers are words of their own from here on.
# shellcheck disable=SC2086
if [ "$(id -u)" = 0 ]; then
  say "note: missing:$missing, now installed by apt-get. $without ALLWAYS_NO_INSTALL=1 installs nothing."
  quietly apt-get update -qq
  # One by one: that a system does not have one of them is no reason to do without the others.
  for program in $missing; do
    quietly apt-get install -qq -y "$program" || say "note: could not install: $program."
  done
else
  say "note: missing:$missing. $without To install:"
  say "  sudo apt-get update && sudo apt-get install -y$missing"
  say "ALLWAYS_NO_INSTALL=1 leaves out this note."
  if [ -t 0 ] && [ -t 2 ] && command -v sudo >/dev/null 2>&1; then
    printf 'Run it now? [y/N] ' >&2
    read -r answer
    case "$answer" in
      y | Y | yes) sudo apt-get update >&2 && sudo apt-get install -y $missing >&2 ;;
    esac
  fi
fi
exit 0
