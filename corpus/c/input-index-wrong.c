//! An index is computed from an input, and its author forgot that the remainder of a negative number is negative.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int table[16];
int key;

static void *writer(void *unused) {
    int slot = (key * 7 + 3) % 16;
    table[slot] = 1; /* fails here */
    return NULL;
}

int main(void) {
    pthread_t one;
    key = __VERIFIER_nondet_int();
    if (key < -1000000000 || key > 1000000000 || key == 0)
        return 0;
    if (key % 1000003 != 17 && key % 1000003 != -17)
        return 0;
    pthread_create(&one, NULL, writer, NULL);
    pthread_join(one, NULL);
    return 0;
}
