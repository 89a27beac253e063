//! A worker returns early and forgets the mutex that it has.
//! verdict: unsafe
//! options: --property no-held-mutex
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = 1;

static void *withdraw(void *unused) {
    pthread_mutex_lock(&mutex);
    if (balance == 0)
        return NULL; /* the mutex is still held */
    balance--;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, withdraw, NULL);
    pthread_create(&two, NULL, withdraw, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
