//! A thread frees what main has made, and main does not wait for it.
//! verdict: unsafe
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
    return 0; /* the process may end first */
}
