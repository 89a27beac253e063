//! A list whose writers take the lock for reading: one insertion is lost.
//! verdict: unsafe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
};

static struct node *head;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void insert(int key) {
    struct node *node = malloc(sizeof *node);
    node->key = key;
    pthread_rwlock_rdlock(&lock);
    struct node **place = &head;
    while (*place && (*place)->key < key)
        place = &(*place)->next;
    node->next = *place;
    *place = node;
    pthread_rwlock_unlock(&lock);
}

static void *writer(void *argument) {
    insert(*(int *)argument);
    return NULL;
}

static void *reader(void *argument) {
    (void)argument;
    pthread_rwlock_rdlock(&lock);
    for (struct node *node = head; node && node->next; node = node->next)
        assert(node->key <= node->next->key);
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t one, two, three;
    int first = 7, second = 3;
    pthread_create(&one, NULL, writer, &first);
    pthread_create(&two, NULL, writer, &second);
    pthread_create(&three, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_join(three, NULL);
    assert(head->key == 3 && head->next->key == 7 && head->next->next == NULL);
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
