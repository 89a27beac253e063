//! Double-checked locking that publishes the object before it is filled.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config {
    int port, workers;
};

static struct config *instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void) {
    if (instance == NULL) {
        pthread_mutex_lock(&mutex);
        if (instance == NULL) {
            instance = calloc(1, sizeof *instance);
            instance->port = 80;
            instance->workers = 4;
        }
        pthread_mutex_unlock(&mutex);
    }
    return instance;
}

static void *user(void *unused) {
    struct config *config = get();
    assert(config->workers == 4); /* fails here */
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, user, NULL);
    pthread_create(&two, NULL, user, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
