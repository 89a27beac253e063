//! A condition variable that is waited for with `if`: a wake-up without a reason finds the buffer empty.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void *producer(void *unused) {
    pthread_mutex_lock(&mutex);
    count++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    if (count == 0)
        pthread_cond_wait(&filled, &mutex);
    assert(count > 0); /* fails here */
    count--;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, consumer, NULL);
    pthread_create(&two, NULL, producer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
