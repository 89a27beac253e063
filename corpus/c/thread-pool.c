//! A pool of two workers that take jobs from a queue until it is closed: each job runs exactly once.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define WORKERS 2
#define JOBS 3

struct job {
    void (*run)(void *);
    void *argument;
    struct job *next;
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct job *head, *tail;
    bool closed;
    pthread_t workers[WORKERS];
};

static int runs[JOBS];

static void *work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        pthread_mutex_lock(&pool->mutex);
        while (pool->head == NULL && !pool->closed)
            pthread_cond_wait(&pool->work, &pool->mutex);
        struct job *job = pool->head;
        if (job == NULL) {
            pthread_mutex_unlock(&pool->mutex);
            return NULL;
        }
        pool->head = job->next;
        if (pool->head == NULL)
            pool->tail = NULL;
        pthread_mutex_unlock(&pool->mutex);
        job->run(job->argument);
        free(job);
    }
}

static void submit(struct pool *pool, void (*run)(void *), void *argument) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        abort();
    job->run = run;
    job->argument = argument;
    job->next = NULL;
    pthread_mutex_lock(&pool->mutex);
    if (pool->tail != NULL)
        pool->tail->next = job;
    else
        pool->head = job;
    pool->tail = job;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

static void close_pool(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->closed = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(pool->workers[i], NULL);
}

static void count(void *argument) {
    int *place = argument;
    ++*place;
}

int main(void) {
    static struct pool pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&pool.workers[i], NULL, work, &pool);
    for (int i = 0; i < JOBS; i++)
        submit(&pool, count, &runs[i]);
    close_pool(&pool);
    for (int i = 0; i < JOBS; i++)
        assert(runs[i] == 1);
    return 0;
}
