//! The middle of two indices, whose sum overflows.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int low, high, middle;

static void *searcher(void *unused) {
    middle = (low + high) / 2;
    return NULL;
}

int main(void) {
    pthread_t one;
    low = __VERIFIER_nondet_int();
    high = __VERIFIER_nondet_int();
    if (low < 0 || low > high || high > 2000000000)
        return 0;
    pthread_create(&one, NULL, searcher, NULL);
    pthread_join(one, NULL);
    assert(low <= middle && middle <= high); /* fails here */
    return 0;
}
