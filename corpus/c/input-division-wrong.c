//! A rate is the quotient of two inputs; the divisor is tested before another thread subtracts from it.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned total, users;

static void *leaver(void *unused) {
    users = users - 70001;
    return NULL;
}

int main(void) {
    pthread_t one;
    total = __VERIFIER_nondet_uint();
    users = __VERIFIER_nondet_uint();
    if (users < 70000)
        return 0;
    pthread_create(&one, NULL, leaver, NULL);
    if (total / 3 == 123456789u && users != 0) {
        unsigned rate = total / users; /* fails here */
        total = rate;
    }
    pthread_join(one, NULL);
    return 0;
}
