//! A worker returns early and gives its mutex back first.
//! verdict: safe
//! options: --property no-held-mutex
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = 1;

static void *withdraw(void *unused) {
    pthread_mutex_lock(&mutex);
    if (balance == 0) {
        pthread_mutex_unlock(&mutex);
        return NULL;
    }
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
