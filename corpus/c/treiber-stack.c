//! A stack of nodes from the heap, with compare-and-swap: two threads push, and nothing is lost.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;

static void *pusher(void *argument) {
    struct node *node = malloc(sizeof *node);
    node->value = (int)(long)argument;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node))
        ;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, pusher, (void *)1);
    pthread_create(&two, NULL, pusher, (void *)2);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    int sum = 0;
    for (struct node *node = top; node; node = node->next)
        sum += node->value;
    assert(sum == 3);
    return 0;
}
