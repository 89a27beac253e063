//! A sequence lock with any number of readers: a read that saw the same even number twice is consistent. The writer ends: an
//! endless one would let the number wrap around while a reader sleeps.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

unsigned sequence;
int left, right;

static void *writer(void *unused) {
    for (int i = 0; i < 4; i++) {
        sequence++;
        left = i;
        right = i;
        sequence++;
    }
    return NULL;
}

static void *reader(void *unused) {
    for (;;) {
        unsigned before = sequence;
        if (before % 2 != 0)
            continue;
        int x = left;
        int y = right;
        if (sequence != before)
            continue;
        assert(x == y);
    }
    return NULL;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, writer, NULL);
    for (;;)
        pthread_create(&one, NULL, reader, NULL);
    return 0;
}
