//! A deadline is computed as start plus delay, which wraps around: the waiter gives up at once, although a delay was asked for.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned now, delay;
int gave_up;

static void *waiter(void *unused) {
    unsigned deadline = now + delay;
    if (now >= deadline)
        gave_up = 1;
    return NULL;
}

int main(void) {
    pthread_t one;
    now = __VERIFIER_nondet_uint();
    delay = __VERIFIER_nondet_uint();
    if (now > 4000000000u || delay == 0 || delay > 300000000u)
        return 0;
    pthread_create(&one, NULL, waiter, NULL);
    pthread_join(one, NULL);
    assert(!gave_up); /* fails here */
    return 0;
}
