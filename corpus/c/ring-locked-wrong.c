//! Any number of threads write into a ring of 512 places and add up what is there; the place is read before the mutex is taken.
//! verdict: unsafe
//! options: --property no-data-race
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

#define PLACES 512

static long ring[PLACES], sum;
static unsigned next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
    for (;;) {
        long value = __VERIFIER_nondet_int();
        unsigned mine = next; /* fails here */
        pthread_mutex_lock(&lock);
        ring[mine] = value;
        next = (next + 1) % PLACES;
        sum = sum * 31 + ring[next];
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    while (__VERIFIER_nondet_int())
        pthread_create(&thread, 0, worker, 0);
    return 0;
}
