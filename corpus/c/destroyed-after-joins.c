//! Ten threads hash their keys into a table behind one mutex, which is destroyed when all of them are joined.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

#define THREADS 10
#define CELLS 32

static int table[CELLS];
static pthread_mutex_t lock;
static pthread_t threads[THREADS];

static void *insert(void *argument) {
    int cell = 1 + *(int *)argument; /* perhaps that of a later thread */
    for (int key = 0; key < 5; key++) {
        cell = (cell * 5 + key) % CELLS;
        assert(cell >= 0);
        pthread_mutex_lock(&lock);
        table[cell]++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    int number;
    pthread_mutex_init(&lock, NULL);
    for (int i = 0; i < THREADS; i++) {
        number = i;
        pthread_create(&threads[i], NULL, insert, &number);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&lock);
    return 0;
}
