//! A lock that is tested before it is set: two threads get in.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static volatile int lock;
static volatile int inside;

static void *worker(void *unused) {
    while (lock)
        ;
    lock = 1;
    inside = 1;
    assert(inside == 1); /* fails here */
    inside = 0;
    lock = 0;
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (;;)
        pthread_create(&thread, NULL, worker, NULL);
}
