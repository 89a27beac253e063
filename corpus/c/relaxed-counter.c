//! Relaxed operations on one memory location, and nothing else that threads share: each thread sees its changes in one order.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *worker(void *unused) {
    int before = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    int after = atomic_load_explicit(&counter, memory_order_relaxed);
    assert(after > before);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(atomic_load_explicit(&counter, memory_order_relaxed) == 2);
    return 0;
}
