//! Up to thirty clerks each read a total and write it back with one more, so that some are lost; it never exceeds their number.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int total;
static int clerks;

static void *clerk(void *unused) {
    int seen = total;
    total = seen + 1;
    return NULL;
}

static void *auditor(void *unused) {
    assert(total <= clerks);
    return NULL;
}

int main(void) {
    pthread_t thread;
    clerks = __VERIFIER_nondet_int();
    if (clerks < 10 || clerks > 30)
        return 0;
    pthread_create(&thread, NULL, auditor, NULL);
    for (int i = 0; i < clerks; i++)
        pthread_create(&thread, NULL, clerk, NULL);
    return 0;
}
