//! A driver that registers its interrupt handler before it has set what the handler reads; clock and registers come from outside.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

extern void *__VERIFIER_nondet_pointer(void);

struct bus {
    int number;
    void *private;
};

struct port {
    struct bus *bus;
    void *clock;
    unsigned status;
};

void *request(void) {
    void *given;
    given = __VERIFIER_nondet_pointer();
    return given;
}

void *handler(void *context) {
    struct port *port = context;
    void *clock = port->clock;
    assert(clock == port->clock); /* fails here */
    return NULL;
}

struct bus *make_bus(unsigned room) {
    void *memory;
    memory = calloc(1, sizeof(struct bus) + room);
    struct bus *bus = (struct bus *)memory;
    bus->private = (void *)(bus + 1);
    return bus;
}

int main(void) {
    pthread_t interrupt;
    struct bus *bus = make_bus(sizeof(struct port) + 4);
    void *room = bus->private;
    struct port *port = (struct port *)room;
    port->bus = bus;
    pthread_create(&interrupt, NULL, handler, port);
    port->clock = request();
    pthread_join(interrupt, NULL);
    return 0;
}
