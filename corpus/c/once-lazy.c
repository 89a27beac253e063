//! Initialisation by pthread_once, results through pthread_exit and thread-specific data.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <errno.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int initialised;
static __thread int calls;

static void initialise(void) {
    initialised++;
    pthread_key_create(&key, free);
}

static int *slot(void) {
    pthread_once(&once, initialise);
    int *value = pthread_getspecific(key);
    if (!value) {
        value = malloc(sizeof *value);
        *value = 0;
        int error = pthread_setspecific(key, value);
        if (error) {
            fprintf(stderr, "setspecific: %s\n", strerror(error));
            exit(EXIT_FAILURE);
        }
    }
    calls++;
    return value;
}

static void *worker(void *argument) {
    for (int i = 0; i < 3; i++)
        ++*slot();
    assert(*slot() == 3 && calls == 4);
    pthread_exit((void *)(long)*slot());
}

int main(int argc, char **argv) {
    pthread_t one, two;
    void *first, *second;
    if (pthread_create(&one, NULL, worker, NULL) != 0 || pthread_create(&two, NULL, worker, NULL) != 0) {
        perror("pthread_create");
        return 1;
    }
    pthread_join(one, &first);
    pthread_join(two, &second);
    assert((long)first + (long)second == 6);
    assert(initialised == 1 && calls == 0);
    printf("%s: done\n", argv[0]);
    return 0;
}
