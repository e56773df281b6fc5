#define _GNU_SOURCE
#include <pthread.h>

#include "store/entry.h"

enum { BUCKETS = 1024 };

typedef struct node_t {
    keel_entry_t entry;
    uint64_t used;        // wall clock, for list
    struct node_t *chain; // of its bucket
    struct node_t *newer, *older;
} node_t;

typedef struct memory_t {
    pthread_mutex_t lock; // for all that follows
    uint64_t limit, bytes;
    node_t *newest, *oldest;
    node_t *buckets[BUCKETS];
} memory_t;

// Keys are digests, so any of their bits serve as a hash.
static node_t **bucket_of(memory_t *memory, const keel_digest_t *key) {
    return &memory->buckets[keel_load_u32(key->bytes) % BUCKETS];
}

static node_t **find_node(memory_t *memory, const keel_digest_t *key) {
    node_t **at = bucket_of(memory, key);
    while (*at && !keel_digest_equal(&(*at)->entry.key, key))
        at = &(*at)->chain;
    return at;
}

static void unlink_use(memory_t *memory, node_t *node) {
    KEEL_ASSERT(node->newer ? node->newer->older == node : memory->newest == node);
    KEEL_ASSERT(node->older ? node->older->newer == node : memory->oldest == node);
    *(node->newer ? &node->newer->older : &memory->newest) = node->older;
    *(node->older ? &node->older->newer : &memory->oldest) = node->newer;
}

static void link_newest(memory_t *memory, node_t *node) {
    node->newer = NULL;
    node->older = memory->newest;
    *(memory->newest ? &memory->newest->newer : &memory->oldest) = node;
    memory->newest = node;
    node->used = keel_clock_wall();
}

static void drop(memory_t *memory, node_t **at) {
    node_t *node = *at;
    *at = node->chain;
    unlink_use(memory, node);
    KEEL_ASSERT(memory->bytes >= node->entry.payload_size);
    memory->bytes -= node->entry.payload_size;
    keel_entry_deinitialize(&node->entry);
    keel_free(node);
}

static keel_status_t memory_get(void *context, const keel_digest_t *key, keel_entry_t *out,
                                keel_miss_t *out_miss) {
    memory_t *memory = context;
    *out_miss = KEEL_MISS_ABSENT;
    pthread_mutex_lock(&memory->lock);
    node_t *node = *find_node(memory, key);
    keel_status_t status = NULL;
    if (node) {
        status = keel_entry_copy(&node->entry, true, out);
        if (status) *out_miss = KEEL_MISS_UNREADABLE;
        unlink_use(memory, node);
        link_newest(memory, node);
    }
    pthread_mutex_unlock(&memory->lock);
    return node ? status : keel_status_make(KEEL_NOT_FOUND, "no entry of that key in memory");
}

static void insert(memory_t *memory, node_t *node) {
    KEEL_ASSERT(node->entry.payload_size <= memory->limit);
    node_t **at = find_node(memory, &node->entry.key);
    if (*at) drop(memory, at);
    while (memory->oldest && memory->bytes > memory->limit - node->entry.payload_size)
        drop(memory, find_node(memory, &memory->oldest->entry.key));
    at = bucket_of(memory, &node->entry.key);
    node->chain = *at;
    *at = node;
    memory->bytes += node->entry.payload_size;
    link_newest(memory, node);
}

static keel_status_t memory_remove(void *context, const keel_digest_t *key) {
    memory_t *memory = context;
    pthread_mutex_lock(&memory->lock);
    node_t **at = find_node(memory, key);
    if (*at) drop(memory, at);
    pthread_mutex_unlock(&memory->lock);
    return NULL;
}

// A damaged copy needs no keeping: the tier that it came from keeps its own.
static keel_status_t memory_quarantine(void *context, const keel_digest_t *key,
                                       const char *reason) {
    (void)reason;
    return memory_remove(context, key);
}

static keel_status_t memory_put(void *context, const keel_entry_t *entry) {
    memory_t *memory = context;
    // Too large for this tier: the tier below has it. An older entry of the key must go.
    if (entry->payload_size > memory->limit) return memory_remove(context, &entry->key);
    void *node;
    KEEL_TRY(keel_calloc(1, sizeof(node_t), &node));
    keel_status_t status = keel_entry_copy(entry, true, &((node_t *)node)->entry);
    if (status) {
        keel_free(node);
        return status;
    }
    pthread_mutex_lock(&memory->lock);
    insert(memory, node);
    pthread_mutex_unlock(&memory->lock);
    return NULL;
}

static keel_status_t memory_list(void *context,
                                 keel_status_t (*visit)(void *visitor, const keel_entry_t *entry,
                                                        uint64_t stored_bytes, uint64_t last_used),
                                 void *visitor) {
    memory_t *memory = context;
    keel_status_t status = NULL;
    pthread_mutex_lock(&memory->lock);
    for (node_t *node = memory->newest; node && !status; node = node->older) {
        keel_entry_t shown = node->entry;
        shown.payload = NULL;
        status = visit(visitor, &shown, node->entry.payload_size, node->used);
    }
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static void memory_close(void *context) {
    memory_t *memory = context;
    if (!memory) return;
    while (memory->oldest)
        drop(memory, find_node(memory, &memory->oldest->entry.key));
    pthread_mutex_destroy(&memory->lock);
    keel_free(memory);
}

keel_status_t keel_store_memory(uint64_t limit, keel_tier_t *out) {
    void *context;
    KEEL_TRY(keel_calloc(1, sizeof(memory_t), &context));
    memory_t *memory = context;
    memory->limit = limit;
    pthread_mutex_init(&memory->lock, NULL);
    *out = (keel_tier_t){
        .name = "memory",
        .context = memory,
        .get = memory_get,
        .put = memory_put,
        .remove = memory_remove,
        .list = memory_list,
        .quarantine = memory_quarantine,
        .close = memory_close,
    };
    return NULL;
}
