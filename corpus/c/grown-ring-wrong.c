//! A ring of jobs grows when it is full; then a worker takes what is behind the last job: a cell that has never been in use.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

#define JOBS 3
#define MOST 4

struct job {
    int runs;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct job jobs[JOBS];
static struct job *ring[MOST];
static unsigned cells = 1, head, tail;

static void grow(void) {
    struct job *larger[MOST];
    for (unsigned i = 0; i < tail - head; i++)
        larger[i] = ring[(head + i) % cells];
    tail -= head;
    head = 0;
    cells *= 2;
    for (unsigned i = 0; i < cells; i++)
        ring[i] = larger[i];
}

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    if (head < tail)
        ring[(cells > 2 ? tail : head++) % cells]->runs++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&mutex);
        if (tail - head == cells)
            grow();
        ring[tail++ % cells] = &jobs[i];
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < JOBS; i++)
        assert(jobs[i].runs <= 1);
    return 0;
}
