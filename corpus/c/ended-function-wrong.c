//! A thread gets the address of a variable of a function that may have returned when it looks there.
//! verdict: unsafe
#include <pthread.h>
#include <stddef.h>

pthread_t helper;

void *help(void *argument) {
  int *job = argument;
  *job = *job + 1; /* fails here */
  return NULL;
}

void start(void) {
  int job = 1;
  pthread_create(&helper, NULL, help, &job);
}

int main(void) {
  start();
  pthread_join(helper, NULL);
  return 0;
}
