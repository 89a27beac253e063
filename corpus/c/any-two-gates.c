//! Any number of threads change a level behind two gates, one thread at a time behind each: up and down, or down and up.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t high = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t low = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void *up_and_down(void *unused) {
    pthread_mutex_lock(&high);
    __sync_fetch_and_add(&level, 1);
    __sync_fetch_and_sub(&level, 1);
    pthread_mutex_unlock(&high);
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
        assert(-1 <= seen && seen <= 1);
    }
}
