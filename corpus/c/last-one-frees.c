//! Two threads use what they share, and the one that counts to zero frees it.
//! verdict: safe
#include <pthread.h>
#include <stdlib.h>

struct shared {
  int count;
  int value;
};

struct shared *object;

void *user(void *unused) {
  object->value;
  if (__atomic_sub_fetch(&object->count, 1, __ATOMIC_SEQ_CST) == 0)
    free(object);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  object = malloc(sizeof *object);
  object->count = 2;
  object->value = 7;
  pthread_create(&one, NULL, user, NULL);
  pthread_create(&two, NULL, user, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
