//! A thread leaves the address of its own variable to others, and ends.
//! verdict: unsafe
#include <pthread.h>
#include <stddef.h>

int *result;

void *compute(void *unused) {
  int sum = 1 + 2 + 3;
  result = &sum;
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, compute, NULL);
  pthread_join(thread, NULL);
  return *result == 6; /* fails here */
}
