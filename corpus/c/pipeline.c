//! Stages of a pipeline with one-place channels: the sum at the end is that of the squares.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct {
    pthread_mutex_t m;
    pthread_cond_t not_full, not_empty;
    int value;
    bool full;
} channel_t;

static void channel_init(channel_t *c) {
    pthread_mutex_init(&c->m, NULL);
    pthread_cond_init(&c->not_full, NULL);
    pthread_cond_init(&c->not_empty, NULL);
    c->full = false;
}
static void send(channel_t *c, int v) {
    pthread_mutex_lock(&c->m);
    while (c->full)
        pthread_cond_wait(&c->not_full, &c->m);
    c->value = v;
    c->full = true;
    pthread_cond_signal(&c->not_empty);
    pthread_mutex_unlock(&c->m);
}
static int receive(channel_t *c) {
    pthread_mutex_lock(&c->m);
    while (!c->full)
        pthread_cond_wait(&c->not_empty, &c->m);
    int v = c->value;
    c->full = false;
    pthread_cond_signal(&c->not_full);
    pthread_mutex_unlock(&c->m);
    return v;
}

static channel_t numbers, squares;

static void *generate(void *_) {
    for (int i = 1; i <= 3; i++)
        send(&numbers, i);
    send(&numbers, -1);
    return 0;
}
static void *square(void *_) {
    int v;
    while ((v = receive(&numbers)) != -1)
        send(&squares, v * v);
    send(&squares, -1);
    return 0;
}

int main() {
    pthread_t g, s;
    int sum = 0, v;
    channel_init(&numbers);
    channel_init(&squares);
    pthread_create(&g, 0, generate, 0);
    pthread_create(&s, 0, square, 0);
    while ((v = receive(&squares)) >= 0)
        sum += v;
    assert(sum == 14);
    pthread_join(g, 0);
    pthread_join(s, 0);
}
