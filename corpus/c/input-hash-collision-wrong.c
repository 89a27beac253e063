//! Two workers hash different inputs, and their author trusts that the hashes differ, too.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned first, second;
unsigned hashes[2];

static unsigned hash(unsigned key) {
    unsigned h = (key ^ key >> 16) * 73244475u;
    return h >> 6;
}

static void *of_first(void *unused) {
    hashes[0] = hash(first);
    return NULL;
}

static void *of_second(void *unused) {
    hashes[1] = hash(second);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    first = __VERIFIER_nondet_uint();
    second = __VERIFIER_nondet_uint();
    if (first == second)
        return 0;
    pthread_create(&one, NULL, of_first, NULL);
    pthread_create(&two, NULL, of_second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(hashes[0] != hashes[1]); /* fails here */
    return 0;
}
