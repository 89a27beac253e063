//! Two threads share a queue of four places, with a mutex and two condition variables; a consumer looks at what it takes after it has given the mutex back.
//! verdict: unsafe
//! options: --property no-data-race
#include <pthread.h>

#define PLACES 4
#define PAIRS 1

static int places[PLACES];
static int head, tail, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

static void *produce(void *unused) {
    for (int job = 0;; job++) {
        pthread_mutex_lock(&lock);
        while (count == PLACES)
            pthread_cond_wait(&not_full, &lock);
        places[tail] = job * 3;
        tail = (tail + 1) % PLACES;
        count++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *consume(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&not_empty, &lock);
        int mine = head;
        head = (head + 1) % PLACES;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
        if (places[mine] < 0) /* fails here */
            break;
    }
    return 0;
}

int main(void) {
    pthread_t producers[PAIRS], consumers[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pthread_create(&producers[i], 0, produce, 0);
        pthread_create(&consumers[i], 0, consume, 0);
    }
    for (int i = 0; i < PAIRS; i++)
        pthread_join(consumers[i], 0);
    return 0;
}
