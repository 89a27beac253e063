//! Ports of a device are read before the threads start, and kept; one thread writes a port and looks at what is kept, the other waits for a lock.
//! verdict: safe
#include <pthread.h>
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned __VERIFIER_nondet_uint(void);

unsigned char shadow[4];
unsigned base;
int selected;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *set(void *unused) {
    unsigned minor = __VERIFIER_nondet_uint() & 31;
    unsigned port = minor >> 3;
    unsigned char value = __VERIFIER_nondet_uchar() + base;
    shadow[port] = value;
    assert(shadow[port] == value);
    return 0;
}

static void *configure(void *unused) {
    pthread_mutex_lock(&m);
    selected = base + 7;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t one, two;
    base = __VERIFIER_nondet_uint();
    for (int port = 0; port < 4; port++) shadow[port] = __VERIFIER_nondet_uchar() + base;
    pthread_create(&one, 0, set, 0);
    pthread_create(&two, 0, configure, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    unsigned char kept = shadow[2];
    assert(kept == shadow[2]);
    return 0;
}
