#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/functions.h"

struct functions_t {
    pthread_mutex_t lock;
    // Keys; functions: how many keys each had; functions with a key: how often each asked for it;
    // those with a thread: how often that replica did.
    keel_map_t counts;
};

keel_status_t functions_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(functions_t), &memory));
    engine->functions = memory;
    pthread_mutex_init(&engine->functions->lock, NULL);
    keel_map_initialize(&engine->functions->counts);
    return NULL;
}

void functions_destroy(functions_t *functions) {
    if (!functions) return;
    keel_map_deinitialize(&functions->counts);
    pthread_mutex_destroy(&functions->lock);
    keel_free(functions);
}

// Each begins with the one before it.
typedef struct names_t {
    keel_bytes_t function, keyed, by_thread;
} names_t;

static keel_status_t make_names(const functions_ask_t *ask, keel_buffer_t *bytes, names_t *out) {
    // Unlike pthread_self(), not reused at once. glibc has gettid() only from 2.30 on.
    pid_t thread = (pid_t)syscall(SYS_gettid);
    keel_buffer_append(bytes, ask->name, strlen(ask->name) + 1);
    keel_buffer_text(bytes, ask->origin);
    size_t function = keel_buffer_bytes(bytes).size;
    keel_buffer_append(bytes, "", 1);
    keel_buffer_append(bytes, ask->key->bytes, KEEL_DIGEST_SIZE);
    size_t keyed = keel_buffer_bytes(bytes).size;
    keel_buffer_append(bytes, &thread, sizeof thread);
    keel_bytes_t all = keel_buffer_bytes(bytes);
    *out = (names_t){keel_bytes(all.data, function), keel_bytes(all.data, keyed), all};
    return keel_buffer_status(bytes);
}

static uint64_t count_of(const keel_map_t *counts, keel_bytes_t name) {
    const uint64_t *found = keel_map_find(counts, name);
    return found ? *found : 0;
}

static keel_status_t count(keel_map_t *counts, const functions_ask_t *ask, const names_t *names,
                           functions_known_t *out) {
    out->keys = count_of(counts, names->function);
    out->asked = count_of(counts, names->keyed);
    out->asked_by_thread = ask->is_replica ? count_of(counts, names->by_thread) : out->asked;
    const keel_bytes_t key = keel_bytes(ask->key->bytes, KEEL_DIGEST_SIZE);
    out->has_key = keel_map_find(counts, key) != NULL;
    if (!out->has_key) KEEL_TRY(keel_map_put(counts, key, 1));
    if (!out->asked) KEEL_TRY(keel_map_add(counts, names->function, 1));
    if (ask->is_replica) KEEL_TRY(keel_map_add(counts, names->by_thread, 1));
    return keel_map_add(counts, names->keyed, 1);
}

keel_status_t functions_note(functions_t *functions, const functions_ask_t *ask,
                             functions_known_t *out) {
    keel_buffer_t bytes;
    names_t names;
    *out = (functions_known_t){0};
    keel_buffer_initialize(&bytes, 0);
    keel_status_t status = make_names(ask, &bytes, &names);
    if (!status) {
        pthread_mutex_lock(&functions->lock);
        status = count(&functions->counts, ask, &names, out);
        pthread_mutex_unlock(&functions->lock);
    }
    keel_buffer_deinitialize(&bytes);
    return status;
}
