//! An area is the product of two sides whenever nobody has the mutex; a proof speaks of the product of two variables. Any number of
//! threads.
//! verdict: safe
//! solver: needed
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int width, height, area;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grow(void *unused) {
    int more = __VERIFIER_nondet_int();
    if (more < 0 || more > 1000)
        return NULL;
    pthread_mutex_lock(&lock);
    if (width < 10000 && height < 10000) {
        width += more;
        area = width * height;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    assert(area == width * height);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    height = 7;
    for (;;) {
        pthread_create(&thread, NULL, grow, NULL);
        pthread_create(&thread, NULL, look, NULL);
    }
}
