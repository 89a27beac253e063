//! As many workers as an input says count up before they work and after; the second counter stays behind the first.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int begun;
static int done;

static void *worker(void *unused) {
    __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
    assert(done < begun); /* at most as many as there are workers, so it never overflows */
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int workers = __VERIFIER_nondet_int();
    done = 0;
    for (int i = 0; i < workers; i++)
        pthread_create(&thread, NULL, worker, NULL);
    return 0;
}
