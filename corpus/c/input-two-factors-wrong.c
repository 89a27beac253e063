//! Two inputs whose product is checked: a worker takes it for a prime.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned left, right;

static void *multiplier(void *unused) {
    unsigned long product = (unsigned long)left * right;
    assert(product != 1052651ul); /* fails here */
    return NULL;
}

int main(void) {
    pthread_t one;
    left = __VERIFIER_nondet_uint();
    right = __VERIFIER_nondet_uint();
    if (left < 2 || right < 2 || left > 4095 || right > 4095 || left > right)
        return 0;
    pthread_create(&one, NULL, multiplier, NULL);
    pthread_join(one, NULL);
    return 0;
}
