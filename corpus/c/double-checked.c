//! A singleton that is made once, with double-checked locking and an atomic pointer.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int port, workers;
};

static struct config *_Atomic instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int made;

static struct config *get(void) {
    struct config *config = atomic_load(&instance);
    if (config == NULL) {
        pthread_mutex_lock(&mutex);
        config = atomic_load(&instance);
        if (config == NULL) {
            config = malloc(sizeof *config);
            config->port = 80;
            config->workers = 4;
            made++;
            atomic_store(&instance, config);
        }
        pthread_mutex_unlock(&mutex);
    }
    return config;
}

static void *user(void *unused) {
    struct config *config = get();
    assert(config->port == 80 && config->workers == 4);
    return config;
}

int main(void) {
    pthread_t threads[3];
    void *first, *other;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    pthread_join(threads[0], &first);
    for (int i = 1; i < 3; i++) {
        pthread_join(threads[i], &other);
        assert(other == first);
    }
    assert(made == 1);
    return 0;
}
