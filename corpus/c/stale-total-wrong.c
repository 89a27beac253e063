//! As in stale-total.c, but a clerk who finds an even total adds two.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int total;
static int clerks;

static void *clerk(void *unused) {
    int seen = total;
    total = seen + (seen % 2 == 0 ? 2 : 1);
    return NULL;
}

static void *auditor(void *unused) {
    assert(total <= clerks); /* fails here */
    return NULL;
}

int main(void) {
    pthread_t thread;
    clerks = __VERIFIER_nondet_int();
    if (clerks < 1 || clerks > 30)
        return 0;
    pthread_create(&thread, NULL, auditor, NULL);
    for (int i = 0; i < clerks; i++)
        pthread_create(&thread, NULL, clerk, NULL);
    return 0;
}
