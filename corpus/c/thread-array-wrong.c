//! As many threads as an input says, their numbers in memory of that size; after all of them have ended, an update may be lost.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

int count;

static void *add(void *unused) {
    count++;
    return unused;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 4) return 0;
    pthread_t *threads = malloc(n * sizeof(pthread_t));
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    assert(count == n); /* fails here */
    free(threads);
    return 0;
}
