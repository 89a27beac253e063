//! A buffer of two places with condition variables: what comes out is what went in, in order.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

enum { PLACES = 2, ITEMS = 4 };

struct buffer {
    int items[PLACES];
    unsigned first, count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

static struct buffer buffer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void put(struct buffer *to, int item) {
    pthread_mutex_lock(&to->mutex);
    while (to->count == PLACES)
        pthread_cond_wait(&to->changed, &to->mutex);
    to->items[(to->first + to->count) % PLACES] = item;
    to->count++;
    pthread_cond_broadcast(&to->changed);
    pthread_mutex_unlock(&to->mutex);
}

static int take(struct buffer *from) {
    pthread_mutex_lock(&from->mutex);
    while (from->count == 0)
        pthread_cond_wait(&from->changed, &from->mutex);
    int item = from->items[from->first];
    from->first = (from->first + 1) % PLACES;
    from->count--;
    pthread_cond_broadcast(&from->changed);
    pthread_mutex_unlock(&from->mutex);
    return item;
}

static void *producer(void *unused) {
    for (int i = 0; i < ITEMS; i++)
        put(&buffer, i);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++)
        assert(take(&buffer) == i);
    pthread_join(thread, NULL);
    return 0;
}
