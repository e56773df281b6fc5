// Plugins that a client loads before it is known which one it uses by default. JAX loads all
// plugins that it finds, in any order, and then makes a client of each. A plugin's table is its
// own, in memory of Keel's, so that Keel can still put itself in front of the one that is chosen.
#include <pthread.h>

#include "shim/shim.h"

typedef struct offer_t offer_t;
struct offer_t {
    offer_t *next;
    char *path;
    PJRT_Api *table;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static offer_t *offers; // under the lock; an offer lives as long as the process
static _Thread_local PJRT_Api *pending;

static offer_t *find_offer(const char *path) {
    offer_t *offer = offers;
    while (offer && strcmp(offer->path, path) != 0)
        offer = offer->next;
    return offer;
}

// Has room for what this header knows, though the plugin may be older.
keel_status_t keel_shim_copy_table(const PJRT_Api *real, PJRT_Api **out) {
    size_t size = real->struct_size > sizeof *real ? real->struct_size : sizeof *real;
    void *memory;
    KEEL_TRY(keel_calloc(1, size, &memory));
    memcpy(memory, real, real->struct_size);
    *out = memory;
    return NULL;
}

static keel_status_t fill_offer(const char *path, offer_t *out) {
    keel_plugin_t plugin;
    KEEL_TRY(keel_plugin_load(path, &plugin));
    keel_free(plugin.path);
    KEEL_TRY(keel_strdup(keel_str(path), &out->path));
    keel_status_t status = keel_shim_copy_table(plugin.api, &out->table);
    if (status) keel_free(out->path);
    return status;
}

static keel_status_t make_offer(const char *path, offer_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(offer_t), &memory));
    keel_status_t status = fill_offer(path, memory);
    if (status) {
        keel_free(memory);
        return status;
    }
    *out = memory;
    (*out)->next = offers;
    offers = *out;
    return NULL;
}

bool keel_shim_offer(const char *path) {
    pthread_mutex_lock(&lock);
    offer_t *offer = find_offer(path);
    keel_status_t status = offer ? NULL : make_offer(path, &offer);
    pthread_mutex_unlock(&lock);
    if (status) keel_log_once(path, "%s", keel_status_message(status));
    keel_status_ignore(status);
    pending = offer ? offer->table : NULL;
    return offer != NULL;
}

PJRT_Api *keel_shim_offered(const char *path) {
    pthread_mutex_lock(&lock);
    offer_t *offer = find_offer(path);
    pthread_mutex_unlock(&lock);
    return offer ? offer->table : NULL;
}

PJRT_Api *keel_shim_take_offer(void) {
    PJRT_Api *taken = pending;
    pending = NULL;
    return taken;
}
