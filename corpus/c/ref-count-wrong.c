//! Two threads share an object by counting references: the test and the decrement are two accesses, and the object is freed twice.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int payload;
};

static void drop(struct object *object) {
    atomic_fetch_sub(&object->references, 1);
    if (atomic_load(&object->references) == 0)
        free(object);
}

static void *user(void *argument) {
    struct object *object = argument;
    assert(object->payload == 42);
    drop(object);
    return NULL;
}

int main(void) {
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->references, 3);
    object->payload = 42;
    pthread_t one, two;
    pthread_create(&one, NULL, user, object);
    pthread_create(&two, NULL, user, object);
    assert(object->payload == 42);
    drop(object);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
