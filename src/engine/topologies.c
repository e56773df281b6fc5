// Topologies that are compiled for without a client.
#include "engine/topologies.h"

// By the digest of their backend's key. Of the process: there are few.
typedef struct topology_t {
    struct topology_t *next;
    keel_engine_t *engine;
    keel_digest_t backend;
} topology_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static topology_t *topologies;

static keel_digest_t digest_of(const keel_backend_t *backend) {
    const keel_buffer_t *const parts[] = {&backend->platform, &backend->topology,
                                          &backend->device_kinds};
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        keel_hasher_update(&hasher, &parts[i]->size, sizeof parts[i]->size);
        keel_hasher_update(&hasher, parts[i]->data, parts[i]->size);
    }
    return keel_hasher_finish(&hasher);
}

// Under the lock.
static keel_status_t add_topology(keel_engine_t *engine, const keel_digest_t *digest,
                                  const keel_backend_t *backend, topology_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(topology_t), &memory));
    topology_t *fresh = memory;
    *fresh = (topology_t){.next = topologies, .engine = engine, .backend = *digest};
    keel_status_t status = engine_add_client(engine, (PJRT_Client *)fresh, backend);
    if (status) {
        keel_free(fresh);
        return status;
    }
    topologies = fresh;
    *out = fresh;
    return NULL;
}

keel_status_t topologies_client(keel_engine_t *engine, PJRT_TopologyDescription *topology,
                                PJRT_Client **out) {
    keel_backend_t backend;
    KEEL_TRY(keel_backend_read_topology(engine->api, topology, &backend));
    keel_digest_t digest = digest_of(&backend);
    keel_status_t status = NULL;
    pthread_mutex_lock(&lock);
    topology_t *at = topologies;
    while (at && (at->engine != engine || !keel_digest_equal(&at->backend, &digest)))
        at = at->next;
    if (!at) status = add_topology(engine, &digest, &backend, &at);
    pthread_mutex_unlock(&lock);
    keel_backend_deinitialize(&backend);
    if (!status) *out = (PJRT_Client *)at;
    return status;
}
