//! A thread frees what main has made, and main waits for it.
//! verdict: safe
//! options: --property valid-memcleanup
#include <pthread.h>
#include <stdlib.h>

static int *message;

static void *consume(void *unused) {
    free(message);
    return NULL;
}

int main(void) {
    pthread_t consumer;
    message = malloc(sizeof(int));
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(consumer, NULL);
    return 0;
}
