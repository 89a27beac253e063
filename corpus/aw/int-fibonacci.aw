// Two threads add two numbers to each other, three times each: they get no further than 21
//! verdict: safe

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

never i > 21 || j > 21;
