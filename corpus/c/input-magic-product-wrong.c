//! A worker multiplies an input with a large odd number; one input in 2^32 gives the key.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned ticket;
int opened;

static void *door(void *unused) {
    unsigned mixed = ticket * 2654435761u;
    if (mixed == 0xdeadbeefu)
        opened = 1;
    return NULL;
}

int main(void) {
    pthread_t one;
    ticket = __VERIFIER_nondet_uint();
    pthread_create(&one, NULL, door, NULL);
    pthread_join(one, NULL);
    assert(!opened); /* fails here */
    return 0;
}
