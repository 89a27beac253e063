//! The address of a loop variable is passed to threads, which may read it late.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static int seen[2];

static void *worker(void *argument) {
    int me = *(int *)argument;
    if (me < 2)
        seen[me]++;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &i);
    for (int j = 0; j < 2; j++)
        pthread_join(threads[j], NULL);
    assert(seen[0] == 1); /* fails here */
    return 0;
}
