//! A pointer is published before what it points to; the reader does not look before it leaps.
//! verdict: unsafe
#include <pthread.h>

static int value;
static int *published;

static void *writer(void *unused) {
    value = 1;
    published = &value;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    int seen = *published; /* fails here */
    pthread_join(thread, NULL);
    return seen;
}
