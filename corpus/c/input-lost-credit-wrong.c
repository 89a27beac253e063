//! Two transfers between accounts without a lock: whether a credit is lost shows only for amounts with a certain sum.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned account, one_amount, two_amount;

static void *one_transfer(void *unused) {
    account = account + one_amount;
    return NULL;
}

static void *two_transfer(void *unused) {
    account = account + two_amount * 5;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    one_amount = __VERIFIER_nondet_uint();
    two_amount = __VERIFIER_nondet_uint();
    pthread_create(&one, NULL, one_transfer, NULL);
    pthread_create(&two, NULL, two_transfer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (one_amount * 3 + two_amount == 987654321u)
        assert(account == one_amount + two_amount * 5); /* fails here */
    return 0;
}
