// Handlers that are registered are called when the thread ends, the last one first; then the destructors of its keys.
//! verdict: safe
#include <assert.h>
#include <pthread.h>

int order;
pthread_key_t key;

void note(void *what) { order = order * 10 + *(int *)what; }

int one = 1, two = 2, three = 3;

void leave(int deep) {
    pthread_cleanup_push(note, &two);
    if (deep) pthread_exit(&three);
    pthread_cleanup_pop(0);
}

void *worker(void *argument) {
    pthread_setspecific(key, &three);
    pthread_cleanup_push(note, &one);
    leave(0);
    leave(1);
    pthread_cleanup_pop(1);
    return 0;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_key_create(&key, note);
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, &result);
    assert(order == 213);
    assert(result == &three);
    return 0;
}
