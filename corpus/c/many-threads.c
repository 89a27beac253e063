// A loop that creates more threads than are told apart: any two of them may lose an increment.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

#define N 10000

int counter;

void *worker(void *argument) {
    int seen = counter;
    counter = seen + 1;
    assert(counter == seen + 1); /* fails here */
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
