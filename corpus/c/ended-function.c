//! A function waits for the thread that has the address of its variable.
//! verdict: safe
#include <pthread.h>
#include <stddef.h>

pthread_t helper;

void *help(void *argument) {
  int *job = argument;
  *job = *job + 1;
  return NULL;
}

void start(void) {
  int job = 1;
  pthread_create(&helper, NULL, help, &job);
  pthread_join(helper, NULL);
}

int main(void) {
  start();
  return 0;
}
