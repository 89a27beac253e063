//! A value is handed from one thread to another and back, changed each time; the first round trip in 2^32 that comes back equal.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned box;
int turn;

static void *partner(void *unused) {
    while (turn != 1)
        ;
    box = box * 3 + 0x10002;
    turn = 2;
    return NULL;
}

int main(void) {
    pthread_t one;
    unsigned sent = __VERIFIER_nondet_uint();
    pthread_create(&one, NULL, partner, NULL);
    box = sent ^ 0x5a5a5a5a;
    turn = 1;
    while (turn != 2)
        ;
    assert((box ^ 0x5a5a5a5a) != sent); /* fails here */
    pthread_join(one, NULL);
    return 0;
}
