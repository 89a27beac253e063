//! An unsigned counter of eight bits goes round: after 256 increments it is 0 again.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static unsigned char ticket;

static void *worker(void *unused) {
    for (int i = 0; i < 256; i++)
        ticket++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    assert(ticket != 0); /* fails here */
    return 0;
}
