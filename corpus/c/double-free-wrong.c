//! Two threads count down what they share and read the count again: both may find that they are the last, and free it.
//! verdict: unsafe
#include <pthread.h>
#include <stdlib.h>

struct shared {
  int count;
  int value;
};

struct shared *object;

void *user(void *unused) {
  __atomic_fetch_sub(&object->count, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&object->count, __ATOMIC_SEQ_CST) == 0)
    free(object);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  object = malloc(sizeof *object);
  object->count = 2;
  pthread_create(&one, NULL, user, NULL);
  pthread_create(&two, NULL, user, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
