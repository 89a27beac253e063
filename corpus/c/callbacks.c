//! Threads that run what a table of functions says.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

static int total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add(int amount) { total += amount; }
static void subtract(int amount) { total -= amount; }

static void (*const operations[])(int) = {add, subtract};

static void *worker(void *argument) {
    long number = (long)argument;
    pthread_mutex_lock(&mutex);
    operations[number](5);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(total == 0);
    return 0;
}
