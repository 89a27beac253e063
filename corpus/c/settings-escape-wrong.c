//! `main` fills a table before it creates threads, which read it without a lock, and uses their sum when it has joined all but the last.
//! verdict: unsafe
//! options: --property no-data-race
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

#define PLACES 20
#define THREADS 3

static int table[PLACES];
static long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
    long own = 0;
    for (int i = 0; i < PLACES; i++)
        own += table[i]; /* fails here */
    pthread_mutex_lock(&lock);
    sum += own;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < PLACES; i++)
        table[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < THREADS - 1; i++)
        pthread_join(threads[i], 0);
    sum *= 2;
    table[0] = sum > 0;
    return 0;
}
