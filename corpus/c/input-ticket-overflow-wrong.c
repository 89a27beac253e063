//! A ticket lock that starts at a number made of a seed, and compares tickets by order: two threads are inside when it overflows.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned next, serving;
int inside;

static void *client(void *unused) {
    unsigned mine = __sync_fetch_and_add(&next, 1);
    while (serving < mine)
        ;
    inside++;
    assert(inside == 1); /* fails here */
    inside--;
    serving++;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    unsigned start = __VERIFIER_nondet_uint() * 2654435761u + 12345u;
    next = start;
    serving = start;
    pthread_create(&one, NULL, client, NULL);
    pthread_create(&two, NULL, client, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
