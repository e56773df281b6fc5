#include "engine/once.h"

// Names of a kind; 0: any number. Texts of components are as many as the digests in the journal.
static const size_t most[ONCE_KINDS] = {[ONCE_OPTIONS] = 1024, [ONCE_SOURCE] = 512};

struct once_t {
    pthread_mutex_t lock;
    keel_map_t known[ONCE_KINDS];
};

keel_status_t once_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(once_t), &memory));
    engine->once = memory;
    pthread_mutex_init(&engine->once->lock, NULL);
    for (int i = 0; i < ONCE_KINDS; ++i)
        keel_map_initialize(&engine->once->known[i]);
    return NULL;
}

void once_destroy(once_t *once) {
    if (!once) return;
    for (int i = 0; i < ONCE_KINDS; ++i)
        keel_map_deinitialize(&once->known[i]);
    pthread_mutex_destroy(&once->lock);
    keel_free(once);
}

bool once_first(once_t *once, once_kind_t kind, keel_bytes_t name) {
    keel_map_t *known = &once->known[kind];
    pthread_mutex_lock(&once->lock);
    bool is_full = most[kind] && known->count >= most[kind];
    bool is_first = !is_full && !keel_map_find(known, name);
    if (is_first) keel_status_ignore(keel_map_put(known, name, 1));
    pthread_mutex_unlock(&once->lock);
    return is_first;
}
