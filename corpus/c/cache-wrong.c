//! A cache that writes its slot without the lock: a reader sees the new key with the old value.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#define SLOTS 2

struct slot {
    bool filled;
    int key, value;
};
static struct slot cache[SLOTS];
static pthread_rwlock_t lock;
static int misses;

static int compute(int key) { return key * key + 1; }

static int get(int key) {
    struct slot *slot = &cache[key % SLOTS];
    pthread_rwlock_rdlock(&lock);
    if (slot->filled && slot->key == key) {
        int value = slot->value;
        pthread_rwlock_unlock(&lock);
        return value;
    }
    pthread_rwlock_unlock(&lock);
    int value = compute(key);
    if (!slot->filled || slot->key != key) {
        slot->filled = true;
        slot->key = key;
        slot->value = value;
        misses++;
    }
    return value;
}

static void *client(void *unused) {
    for (int key = 1; key <= 3; key++)
        assert(get(key) == key * key + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_rwlock_init(&lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(misses >= 3 && misses <= 6);
    return 0;
}
