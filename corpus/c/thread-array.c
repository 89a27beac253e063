//! As many threads as an input says, their numbers in memory of that size; each turns a switch under a lock.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

int on;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *turn(void *unused) {
    pthread_mutex_lock(&lock);
    int before = on;
    on = before ? 0 : 1;
    assert(on != before);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0) return 0;
    pthread_t *threads = malloc(n * sizeof(pthread_t));
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, turn, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
