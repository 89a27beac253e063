//! Two threads write a port of a device, and look at what is kept, without a lock; which port and what is written is any number.
//! verdict: unsafe
#include <pthread.h>
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned __VERIFIER_nondet_uint(void);

unsigned char shadow[4];

static void *set(void *unused) {
    unsigned port = __VERIFIER_nondet_uint() & 3;
    unsigned char value = __VERIFIER_nondet_uchar();
    shadow[port] = value;
    assert(shadow[port] == value);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, set, 0);
    pthread_create(&two, 0, set, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    unsigned char kept = shadow[2];
    assert(kept == shadow[2]);
    return 0;
}
