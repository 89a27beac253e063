//! Treiber's stack that frees and reuses its nodes from a pool: the ABA problem.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int owner; /* how many threads hold it */
    struct node *next;
};

static struct node nodes[3];
static struct node *_Atomic top;

static void push(struct node *node) {
    struct node *old = atomic_load(&top);
    do
        node->next = old;
    while (!atomic_compare_exchange_weak(&top, &old, node));
}

static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old != NULL && !atomic_compare_exchange_weak(&top, &old, old->next))
        ;
    return old;
}

static void *one(void *unused) {
    struct node *a = pop();
    struct node *b = pop();
    if (a)
        push(a);
    if (b) {
        assert(b->owner == 0);
        b->owner = 1;
    }
    return NULL;
}

static void *two(void *unused) {
    struct node *a = pop();
    struct node *b = pop();
    if (a) {
        assert(a->owner == 0);
        a->owner = 1;
    }
    if (b) {
        assert(b->owner == 0);
        b->owner = 1;
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    for (int i = 0; i < 3; i++)
        push(&nodes[i]);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
