//! What is left over is looked at when the number of members may have changed: the mutex was given back too early.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int members = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *join(void *unused) {
    int now = __VERIFIER_nondet_int();
    if (now <= 0)
        return NULL;
    pthread_mutex_lock(&lock);
    members = now;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *share(void *unused) {
    int goods = __VERIFIER_nondet_int();
    if (goods < 0)
        return NULL;
    pthread_mutex_lock(&lock);
    int each = goods / members, left = goods % members;
    pthread_mutex_unlock(&lock);
    assert(each <= goods && left < members);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (;;) {
        pthread_create(&thread, NULL, join, NULL);
        pthread_create(&thread, NULL, share, NULL);
    }
}
