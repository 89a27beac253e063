//! As many threads are created as the input says, which is restricted; each counts under a lock if its own input is the same, and all of them may.
//! verdict: unsafe
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

int n, count;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *check(void *unused) {
    assert(count < n);
    return 0;
}

static void *worker(void *unused) {
    int key = __VERIFIER_nondet_int();
    __VERIFIER_assume(key >= 3 && key <= 6);
    pthread_mutex_lock(&m);
    if (key == n) count = count + 1;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t thread;
    n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 3 && n <= 6);
    pthread_create(&thread, 0, check, 0);
    for (int i = 0; i < n; i++) pthread_create(&thread, 0, worker, 0);
    return 0;
}
