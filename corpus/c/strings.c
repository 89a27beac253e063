//! A thread copies a string into memory that another has allocated, and the library's functions see what it is.
//! verdict: safe
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>

char *name;
char whole[8];

static void *writer(void *unused) {
    if (name) strcpy(name, "allways");
    return 0;
}

int main(void) {
    pthread_t thread;
    name = malloc(8);
    pthread_create(&thread, 0, writer, 0);
    pthread_join(thread, 0);
    strncpy(whole, "all", sizeof whole);
    strcat(whole, "ways");
    assert(strcmp(name, whole) == 0);
    assert(strlen(name) == 7);
    assert(strchr(name, 'w') == name + 3);
    return 0;
}
