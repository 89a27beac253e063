//! Two threads increment a counter without a lock: an update can be lost.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

int counter;

static void *worker(void *unused) {
    counter++;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(counter == 2); /* fails here */
    return 0;
}
