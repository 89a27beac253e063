//! Twelve workers, all alike, take jobs from a stack under a lock; when main has joined them, every job was done once.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

#define WORKERS 12

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs = WORKERS;
static int done;

static void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    int job = jobs;
    if (job > 0)
        jobs = job - 1;
    pthread_mutex_unlock(&lock);
    if (job > 0)
        __sync_fetch_and_add(&done, 1);
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(jobs == 0 && done == WORKERS);
    return 0;
}
