//! As in any-workers.c, but a worker counts up twice when it is done, as it looks at its own work only.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int begun;
static int done;

static void *worker(void *unused) {
    __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
    assert(done < begun); /* fails here */
    __atomic_fetch_add(&done, 2, __ATOMIC_SEQ_CST);
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
