//! A hash table with a lock for each two buckets: an insertion is found by whoever inserted it.
//! verdict: safe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 4
#define STRIPES 2

struct entry {
    unsigned key;
    int value;
    struct entry *next;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t locks[STRIPES];

static unsigned hash(unsigned key) { return (key * 2654435761u) >> 30; }

static void insert(unsigned key, int value) {
    unsigned bucket = hash(key);
    pthread_mutex_t *lock = &locks[bucket % STRIPES];
    pthread_mutex_lock(lock);
    for (struct entry *entry = buckets[bucket]; entry; entry = entry->next)
        if (entry->key == key) {
            entry->value = value;
            pthread_mutex_unlock(lock);
            return;
        }
    struct entry *entry = malloc(sizeof(struct entry));
    entry->key = key;
    entry->value = value;
    entry->next = buckets[bucket];
    buckets[bucket] = entry;
    pthread_mutex_unlock(lock);
}

static int lookup(unsigned key, int *value) {
    unsigned bucket = hash(key);
    pthread_mutex_t *lock = &locks[bucket % STRIPES];
    int found = 0;
    pthread_mutex_lock(lock);
    for (struct entry *entry = buckets[bucket]; entry; entry = entry->next)
        if (entry->key == key) {
            *value = entry->value;
            found = 1;
            break;
        }
    pthread_mutex_unlock(lock);
    return found;
}

static void *user(void *argument) {
    unsigned base = (unsigned)(long)argument;
    int value;
    insert(base, 10 + base);
    insert(base + 4, 20 + base);
    assert(lookup(base, &value) && value == 10 + (int)base);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, user, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int value;
    assert(lookup(5, &value) && value == 21);
    return 0;
}
