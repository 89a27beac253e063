//! A lock made of compare-and-swap, taken by any number of threads.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

static int lock;
static int inside;

static void *worker(void *unused) {
    for (;;) {
        while (!__sync_bool_compare_and_swap(&lock, 0, 1))
            ;
        inside = 1;
        assert(inside == 1);
        inside = 0;
        assert(inside == 0);
        __sync_lock_release(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (;;)
        pthread_create(&thread, NULL, worker, NULL);
}
