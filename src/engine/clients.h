// clients: the clients that an engine has, and what is known about each.
//
// Threads: any. A client_t never changes; it lives until clients_remove, which the client's owner
// calls when nothing uses the client any more.
#ifndef KEEL_ENGINE_CLIENTS_H_
#define KEEL_ENGINE_CLIENTS_H_

#include "engine/core.h"
#include "pjrt/identity.h"

typedef struct clients_t clients_t;

typedef struct client_t {
    PJRT_Client *client;
    uint64_t number;                   // among the process's clients, from 1
    keel_key_t backend;                // the components that all programs share
    keel_buffer_t flags, libtpu_flags; // as they were given when it was made; see late.h
    uint32_t process_count, process;   // how many there are, and which one this is
    uint32_t addressable;              // devices of this one
    char platform[16];                 // the plugin's name for it
    bool is_cpu;
    bool gates_replicas; // see portable.c
    bool lacks_fusions;  // see fusions.c
} client_t;

keel_status_t clients_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while it is empty. NULL is allowed.
void clients_destroy(clients_t *clients);

keel_status_t clients_add(keel_engine_t *engine, PJRT_Client *client, const keel_backend_t *backend,
                          const client_t **out) KEEL_MUST_CHECK;
// The same, for the engine's own use, with the start in the journal (lifetime.c).
keel_status_t engine_add_client(keel_engine_t *engine, PJRT_Client *client,
                                const keel_backend_t *backend) KEEL_MUST_CHECK;
// NULL if it is not there: its backend could not be read.
const client_t *clients_find(clients_t *clients, const PJRT_Client *client);
void clients_remove(clients_t *clients, const PJRT_Client *client);
// Whether the engine ever had one.
bool clients_had_any(clients_t *clients);

#endif // KEEL_ENGINE_CLIENTS_H_
