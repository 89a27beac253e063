//! Two workers lock a queue and a log in opposite orders, while a watchdog goes on for ever: no global deadlock, but the workers
//! never move again.
//! verdict: unsafe
//! options: --property no-partial-deadlock
#include <pthread.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int queued, logged, ticks;

static void *produce(void *unused) {
    pthread_mutex_lock(&queue);
    queued++;
    pthread_mutex_lock(&log_lock);
    logged++;
    pthread_mutex_unlock(&log_lock);
    pthread_mutex_unlock(&queue);
    return NULL;
}

static void *report(void *unused) {
    pthread_mutex_lock(&log_lock);
    pthread_mutex_lock(&queue);
    logged += queued;
    pthread_mutex_unlock(&queue);
    pthread_mutex_unlock(&log_lock);
    return NULL;
}

static void *watchdog(void *unused) {
    while (1)
        ticks = !ticks;
    return NULL;
}

int main(void) {
    pthread_t one, two, dog;
    pthread_create(&dog, NULL, watchdog, NULL);
    pthread_create(&one, NULL, produce, NULL);
    pthread_create(&two, NULL, report, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
