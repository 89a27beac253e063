// Two threads add two numbers to each other, three times each: one gets as far as 21
//! verdict: unsafe
//! violation: never

shared int i = 1, j = 1;

thread first {
  int k;
  while (k < 3) {
    i = i + j;
    k = k + 1;
  }
}

thread second {
  int k;
  while (k < 3) {
    j = j + i;
    k = k + 1;
  }
}

never i >= 21 || j >= 21;
