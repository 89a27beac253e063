//! A ring whose producers take one place too many: the test says "at most" where it should say "fewer".
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

#define PLACES 4

static int ring[PLACES];
static unsigned head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *produce(void *unused) {
    for (;;) {
        int value = __VERIFIER_nondet_int();
        pthread_mutex_lock(&lock);
        if (head - tail <= PLACES) {
            ring[head % PLACES] = value;
            head++;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consume(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        assert(head - tail <= PLACES);
        if (head != tail)
            tail++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (;;) {
        pthread_create(&thread, NULL, produce, NULL);
        pthread_create(&thread, NULL, consume, NULL);
    }
}
