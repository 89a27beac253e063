//! Two threads draw tickets near the end of the range of int, and only one of them looks whether any are left.
//! verdict: unsafe
//! options: --property no-overflow
#include <limits.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ticket = INT_MAX - 1;

static void *careful(void *unused) {
    pthread_mutex_lock(&mutex);
    if (ticket < INT_MAX)
        ticket++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *careless(void *unused) {
    pthread_mutex_lock(&mutex);
    ticket++; /* overflows if the other one was first */
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, careful, NULL);
    pthread_create(&two, NULL, careless, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
