//! Memory through a function of the program's own, which callers use for objects of different types.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct event {
    int kind;
    struct event *next;
};

struct sample {
    int kind, low, high;
    struct sample *next;
};

static struct event *events;
static struct sample *samples;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *xmalloc(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void add_sample(int kind, int low, int high) {
    struct sample *sample = xmalloc(sizeof *sample);
    sample->kind = kind;
    sample->low = low;
    sample->high = high;
    pthread_mutex_lock(&mutex);
    sample->next = samples;
    samples = sample;
    pthread_mutex_unlock(&mutex);
}

static void *collect(void *unused) {
    for (int i = 0; i < 2; i++) {
        struct event *event = xmalloc(sizeof *event);
        event->kind = i;
        pthread_mutex_lock(&mutex);
        event->next = events;
        events = event;
        pthread_mutex_unlock(&mutex);
        add_sample(i, i, i + 1);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, collect, NULL);
    add_sample(7, 7, 8);
    pthread_join(thread, NULL);
    int sum = 0;
    for (struct sample *sample = samples; sample; sample = sample->next) {
        assert(sample->low < sample->high);
        sum += sample->kind;
    }
    for (struct event *event = events; event; event = event->next)
        sum += event->kind;
    assert(sum == 9);
    return 0;
}
