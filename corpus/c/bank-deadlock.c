//! Transfers between accounts that lock them in the order of their addresses.
//! verdict: safe
//! options: --deadlock
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t mutex;
    long balance;
};

static struct account accounts[3] = {
    {PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 50}, {PTHREAD_MUTEX_INITIALIZER, 0}};

struct transfer {
    struct account *from, *to;
    long amount;
};

static int transfer(struct account *from, struct account *to, long amount) {
    int done = 0;
    struct account *first = from < to ? from : to, *second = from < to ? to : from;
    pthread_mutex_lock(&first->mutex);
    pthread_mutex_lock(&second->mutex);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
        done = 1;
    }
    pthread_mutex_unlock(&to->mutex);
    pthread_mutex_unlock(&from->mutex);
    return done;
}

static void *teller(void *argument) {
    struct transfer *order = argument;
    transfer(order->from, order->to, order->amount);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    struct transfer orders[3] = {
        {&accounts[0], &accounts[1], 30}, {&accounts[1], &accounts[2], 60}, {&accounts[2], &accounts[0], 10}};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, teller, &orders[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += accounts[i].balance;
    assert(sum == 150);
    return 0;
}
