//! The same stack, whose last cell lies beyond the array.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

enum { CELLS = 3 };

struct cell {
    int value;
    int below;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell cells[CELLS];
static int fresh = 1; /* the cell 0 stands for none */
static int top;

static int new_cell(void) {
    int cell = 0;
    pthread_mutex_lock(&lock);
    if (fresh <= CELLS) {
        cell = fresh;
        fresh++;
    }
    pthread_mutex_unlock(&lock);
    return cell;
}

static void *worker(void *unused) {
    for (;;) {
        int cell = new_cell();
        if (cell == 0)
            return NULL;
        cells[cell].value = 7;
        pthread_mutex_lock(&lock);
        cells[cell].below = top;
        top = cell;
        pthread_mutex_unlock(&lock);
        assert(top != 0);
    }
}

int main(void) {
    pthread_t thread;
    for (;;)
        pthread_create(&thread, NULL, worker, NULL);
}
