//! All threads are started by one helper function; the lock is forgotten in what one of them runs.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static pthread_t start(void *(*run)(void *), int *data) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, data);
    return thread;
}

static void *add(void *data) {
    pthread_mutex_lock(&lock);
    done += *(int *)data;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *delegate(void *data) {
    pthread_t other = start(add, data);
    done += *(int *)data;
    pthread_join(other, NULL);
    return NULL;
}

int main(void) {
    int one = 1, two = 2;
    pthread_t first = start(add, &one), second = start(delegate, &two);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(done == 5); /* fails here */
    return 0;
}
