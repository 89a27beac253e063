// Runs a program once for every way of choosing, as long as there are not too many, and prints what is left of its variables.
#define main program
#include PROGRAM
#undef main
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 4000, RUNS = 400000 };
enum { BLOCKED = 1, WRONG, BEYOND, DEEP };

static jmp_buf back;
static int taken[DEEPEST], greatest[DEEPEST], depth, used;

static int pick(int count) {
  if (used == DEEPEST) longjmp(back, DEEP);
  if (used == depth) {
    taken[depth] = 0;
    greatest[depth] = count - 1;
    depth++;
  }
  return taken[used++];
}

bool nondet_bool(void) { return pick(2); }

// All that programs choose lies between these.
long long nondet_long_long(void) { return -9 + pick(19); }

void __CPROVER_assume(bool condition) {
  if (!condition) longjmp(back, BLOCKED);
}

void __CPROVER_assert(bool condition, const char *what) {
  if (!condition) longjmp(back, strcmp(what, "a number beyond 64 bits") == 0 ? BEYOND : WRONG);
}

int main(void) {
  alarm(5);
  for (int runs = 0; runs < RUNS; runs++) {
    used = 0;
    switch (setjmp(back)) {
      case 0:
        program();
        FINAL
        break;
      case WRONG: puts("wrong"); break;
      case BEYOND: puts("beyond"); return 0;
      case DEEP: puts("cut"); return 0;
      default: break;
    }
    depth = used;
    while (depth > 0 && taken[depth - 1] == greatest[depth - 1]) depth--;
    if (depth == 0) return 0;
    taken[depth - 1]++;
  }
  puts("cut");
  return 0;
}
