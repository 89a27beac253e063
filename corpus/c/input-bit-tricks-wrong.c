//! A worker counts bits by a well-known trick with a digit wrong in one mask: some keys with a valid mark have the wrong count.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned given;
unsigned counted;

static void *counter(void *unused) {
    unsigned v = given;
    v = v - (v >> 1 & 0x55555555u);
    v = (v & 0x33333333u) + (v >> 2 & 0x33331333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    counted = v * 0x01010101u >> 24;
    return NULL;
}

int main(void) {
    pthread_t one;
    unsigned bits = 0;
    given = __VERIFIER_nondet_uint();
    if (given * 40503u >> 16 != 0x1234)
        return 0;
    pthread_create(&one, NULL, counter, NULL);
    for (int i = 0; i < 32; i++)
        bits += given >> i & 1;
    pthread_join(one, NULL);
    assert(counted == bits); /* fails here */
    return 0;
}
