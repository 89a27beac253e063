//! Producers and consumers with semaphores and a ring: all items come out once.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define SIZE 2
#define ITEMS 2

static int ring[SIZE];
static int in, out;
static sem_t empty, full;
static pthread_mutex_t mutex;
static int seen[2 * ITEMS + 1];

static void *producer(void *argument) {
    int id = *(int *)argument;
    for (int i = 1; i <= ITEMS; i++) {
        int item = id * ITEMS + i;
        sem_wait(&empty);
        pthread_mutex_lock(&mutex);
        ring[in] = item;
        in = (in + 1) % SIZE;
        pthread_mutex_unlock(&mutex);
        sem_post(&full);
        printf("producer %d put %d\n", id, item);
    }
    pthread_exit(NULL);
}

static void *consumer(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&full);
        pthread_mutex_lock(&mutex);
        int item = ring[out];
        out = (out + 1) % SIZE;
        seen[item]++;
        pthread_mutex_unlock(&mutex);
        sem_post(&empty);
    }
    pthread_exit(NULL);
}

int main(void) {
    pthread_t producers[2], consumers[2];
    int ids[2] = {0, 1};
    sem_init(&empty, 0, SIZE);
    sem_init(&full, 0, 0);
    pthread_mutex_init(&mutex, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&producers[i], NULL, producer, (void *)&ids[i]);
        pthread_create(&consumers[i], NULL, consumer, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(producers[i], NULL);
        pthread_join(consumers[i], NULL);
    }
    for (int item = 1; item <= 2 * ITEMS; item++)
        assert(seen[item] == 1);
    sem_destroy(&empty);
    sem_destroy(&full);
    pthread_mutex_destroy(&mutex);
    return 0;
}
