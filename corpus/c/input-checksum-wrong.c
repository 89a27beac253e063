//! A checksum over four words: a message of which all words are large passes, although its author thought that none does.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned words[4];
int arrived;

static void *receiver(void *unused) {
    unsigned sum = 1, all = 0;
    for (int i = 0; i < 4; i++) {
        sum = (sum << 5 | sum >> 27) ^ words[i];
        all |= words[i] >> 31;
    }
    if (arrived && sum == 0x13572468u)
        assert(!all); /* fails here */
    return NULL;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, receiver, NULL);
    for (int i = 0; i < 4; i++)
        words[i] = __VERIFIER_nondet_uint();
    arrived = 1;
    pthread_join(one, NULL);
    return 0;
}
