//! Two gates, of which one lets any number of threads pass: the level rises beyond what was meant.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t low = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void *up_and_down(void *unused) {
    __sync_fetch_and_add(&level, 1);
    __sync_fetch_and_sub(&level, 1);
    return NULL;
}

static void *down_and_up(void *unused) {
    pthread_mutex_lock(&low);
    __sync_fetch_and_sub(&level, 1);
    __sync_fetch_and_add(&level, 1);
    pthread_mutex_unlock(&low);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (;;) {
        pthread_create(&thread, NULL, up_and_down, NULL);
        pthread_create(&thread, NULL, down_and_up, NULL);
        int seen = __sync_fetch_and_add(&level, 0);
        assert(-1 <= seen && seen <= 1); /* fails here */
    }
}
