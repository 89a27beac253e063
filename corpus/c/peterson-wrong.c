//! Peterson's lock with the first two steps the wrong way round.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static volatile bool wants[2];
static volatile int turn;
static volatile int inside;

static void *worker(void *argument) {
    int me = (int)(long)argument;
    turn = 1 - me;
    wants[me] = true;
    while (wants[1 - me] && turn == 1 - me)
        ;
    inside++;
    assert(inside == 1); /* fails here */
    inside--;
    wants[me] = false;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, (void *)0);
    pthread_create(&two, NULL, worker, (void *)1);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
