//! A register of a device is read, kept and compared with what was kept, and the writer takes no lock; what is read is any number.
//! verdict: unsafe
#include <pthread.h>
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned shadow, sum;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused) {
    for (;;) {
        unsigned value = __VERIFIER_nondet_uint() * 3 + sum;
        shadow = value;
        assert(shadow == value);
    }
}

static void *reader(void *unused) {
    for (;;) {
        pthread_mutex_lock(&m);
        unsigned first = shadow;
        if (first > sum) sum += first / 2;
        assert(first == shadow);
        pthread_mutex_unlock(&m);
    }
}

int main(void) {
    pthread_t w, r;
    shadow = __VERIFIER_nondet_uint();
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
}
