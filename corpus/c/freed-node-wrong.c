//! A reader keeps a node of a list that another thread takes out and frees.
//! verdict: unsafe
#include <pthread.h>
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

struct node *head;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *reader(void *unused) {
  pthread_mutex_lock(&lock);
  struct node *first = head;
  pthread_mutex_unlock(&lock);
  int seen = first ? first->value : 0; /* fails here */
  return NULL;
}

void *remover(void *unused) {
  pthread_mutex_lock(&lock);
  struct node *first = head;
  if (first)
    head = first->next;
  pthread_mutex_unlock(&lock);
  free(first);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  head = malloc(sizeof *head);
  head->value = 1;
  head->next = NULL;
  pthread_create(&one, NULL, reader, NULL);
  pthread_create(&two, NULL, remover, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
