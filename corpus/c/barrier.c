//! Two threads write, meet at a barrier, and read what the other wrote.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int written[2];

static void *worker(void *argument) {
    int me = *(int *)argument;
    written[me] = 1;
    pthread_barrier_wait(&barrier);
    assert(written[1 - me]);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
