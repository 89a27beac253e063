//! Twelve threads insert keys into a table with a mutex for each cell; whatever they find there, they stay inside of it.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

#define CELLS 64
#define THREADS 12
#define KEYS 3

static int table[CELLS];
static pthread_mutex_t locks[CELLS];
static pthread_t threads[THREADS];

static int take(int cell, int key) {
    int taken = 0;
    pthread_mutex_lock(&locks[cell]);
    if (table[cell] == 0) {
        table[cell] = key;
        taken = 1;
    }
    pthread_mutex_unlock(&locks[cell]);
    return taken;
}

static void *insert(void *argument) {
    int number = *(int *)argument; /* perhaps that of a later thread */
    for (int i = 1; i <= KEYS; i++) {
        int key = i * 17 + number;
        int cell = key * 5 % CELLS;
        assert(cell >= 0);
        while (!take(cell, key))
            cell = (cell + 1) % CELLS;
    }
    return 0;
}

int main(void) {
    int number;
    for (int i = 0; i < CELLS; i++)
        pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < THREADS; i++) {
        number = i;
        pthread_create(&threads[i], 0, insert, &number);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
