#include <stdio.h>

#include "engine/clients.h"
#include "engine/fusions.h"
#include "engine/late.h"
#include "engine/portable.h"

typedef struct node_t {
    client_t client;
    struct node_t *next;
} node_t;

struct clients_t {
    pthread_mutex_t lock; // for the fields below
    node_t *first;
    bool had_any;
};

// Of all engines of the process: they may write to one journal.
static _Atomic uint64_t made;

keel_status_t clients_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(clients_t), &memory));
    engine->clients = memory;
    pthread_mutex_init(&engine->clients->lock, NULL);
    return NULL;
}

void clients_destroy(clients_t *clients) {
    if (!clients) return;
    pthread_mutex_destroy(&clients->lock);
    keel_free(clients);
}

static void destroy_node(node_t *node) {
    keel_key_deinitialize(&node->client.backend);
    keel_buffer_deinitialize(&node->client.flags);
    keel_buffer_deinitialize(&node->client.libtpu_flags);
    keel_free(node);
}

// 0 if the plugin does not say.
static uint32_t process_of(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_ProcessIndex_Args args = {KEEL_PJRT_SIZE(PJRT_Client_ProcessIndex),
                                          .client = client};
    keel_status_t status = keel_pjrt_has(api, PJRT_Client_ProcessIndex)
                               ? KEEL_PJRT_CALL(api, PJRT_Client_ProcessIndex, args)
                               : NULL;
    bool is_known = !status && args.process_index >= 0;
    keel_status_ignore(status);
    return is_known ? (uint32_t)args.process_index : 0;
}

static uint32_t addressable_of(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_AddressableDevices_Args args = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                                .client = client};
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Client_AddressableDevices, args);
    uint32_t count = status ? 0 : (uint32_t)args.num_addressable_devices;
    keel_status_ignore(status);
    return count;
}

static keel_status_t make_node(keel_engine_t *engine, PJRT_Client *client,
                               const keel_backend_t *backend, node_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(node_t), &memory));
    node_t *node = memory;
    node->client =
        (client_t){.client = client,
                   .process_count = backend->process_count,
                   .is_cpu = strcmp(backend->platform_name, "cpu") == 0,
                   .gates_replicas = portable_is_needed(backend->platform_name, engine->api),
                   .lacks_fusions = fusions_are_unknown(backend->platform_name, engine->api)};
    snprintf(node->client.platform, sizeof node->client.platform, "%s", backend->platform_name);
    if (backend->process_count > 1) {
        node->client.process = process_of(engine->api, client);
        node->client.addressable = addressable_of(engine->api, client);
    }
    late_begin(&node->client);
    keel_key_initialize(&node->client.backend);
    keel_status_t status = keel_backend_key(backend, engine->plugin->path, &engine->plugin_build,
                                            &node->client.backend);
    if (status) {
        destroy_node(node);
        return status;
    }
    node->client.number = atomic_fetch_add(&made, 1) + 1;
    *out = node;
    return NULL;
}

keel_status_t clients_add(keel_engine_t *engine, PJRT_Client *client, const keel_backend_t *backend,
                          const client_t **out) {
    clients_t *clients = engine->clients;
    node_t *node;
    KEEL_TRY(make_node(engine, client, backend, &node));
    pthread_mutex_lock(&clients->lock);
    node->next = clients->first;
    clients->first = node;
    clients->had_any = true;
    pthread_mutex_unlock(&clients->lock);
    *out = &node->client;
    return NULL;
}

// The link to the client's node, or to NULL. Under the lock.
static node_t **find_link(clients_t *clients, const PJRT_Client *client) {
    node_t **link = &clients->first;
    while (*link && (*link)->client.client != client)
        link = &(*link)->next;
    return link;
}

const client_t *clients_find(clients_t *clients, const PJRT_Client *client) {
    pthread_mutex_lock(&clients->lock);
    const node_t *node = *find_link(clients, client);
    pthread_mutex_unlock(&clients->lock);
    return node ? &node->client : NULL;
}

void clients_remove(clients_t *clients, const PJRT_Client *client) {
    pthread_mutex_lock(&clients->lock);
    node_t **link = find_link(clients, client), *node = *link;
    if (node) *link = node->next;
    pthread_mutex_unlock(&clients->lock);
    if (node) destroy_node(node);
}

bool clients_had_any(clients_t *clients) {
    pthread_mutex_lock(&clients->lock);
    bool had_any = clients->had_any;
    pthread_mutex_unlock(&clients->lock);
    return had_any;
}
