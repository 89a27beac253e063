//! Inputs pass through a ring of cells from one thread to another, which finds each as it was sent.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

#define SENT 4
#define CELLS 2

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ring[CELLS], sent[SENT];
static unsigned head, tail;

static void *sender(void *unused) {
    for (int i = 0; i < SENT;) {
        pthread_mutex_lock(&mutex);
        if (tail - head < CELLS) {
            int value = __VERIFIER_nondet_int();
            sent[i++] = value;
            ring[tail++ % CELLS] = value;
        }
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *receiver(void *unused) {
    for (int i = 0; i < SENT;) {
        pthread_mutex_lock(&mutex);
        if (head != tail) {
            int value = ring[head++ % CELLS];
            assert(value == sent[i++]);
        }
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, sender, NULL);
    pthread_create(&other, NULL, receiver, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
