//! A thread copies a string while another one looks at it: half of it may be there.
//! verdict: unsafe
#include <pthread.h>
#include <string.h>
#include <assert.h>

char name[4];

static void *writer(void *unused) {
    strcpy(name, "abc");
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    unsigned long length = strlen(name);
    pthread_join(thread, 0);
    assert(length == 0 || length == 3);
    return 0;
}
