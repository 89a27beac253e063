//! A sequence lock whose readers forget to look whether the number is even: a read may be torn.
//! verdict: unsafe
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
        int x = left;
        int y = right;
        if (sequence != before)
            continue;
        assert(x == y); /* fails here */
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
