// prefetch: loads what the script asked for last time while it still traces. See prefetch.c.
#ifndef KEEL_ENGINE_PREFETCH_H_
#define KEEL_ENGINE_PREFETCH_H_

#include "engine/clients.h"
#include "engine/load.h"
#include "store/plan.h"

enum { PREFETCH_PATIENCE = 300 }; // seconds that an executable waits for the client to ask

typedef struct prefetch_t prefetch_t;

keel_status_t prefetch_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only before prefetch_begin. NULL is allowed.
void prefetch_destroy(prefetch_t *prefetch);
// The process made its first client: loads what the script asked for last time.
void prefetch_begin(keel_engine_t *engine, const client_t *client);
// Stops that, and waits until it no longer uses the client (NULL: any client). False, said once, if
// that takes longer than engine_patience_for: if the thread wakes up it still uses the client.
bool prefetch_stop(keel_engine_t *engine, const PJRT_Client *client);

typedef struct prefetched_t {
    loaded_entry_t loaded;
    uint64_t waited;  // nanoseconds
    keel_miss_t miss; // why a planned program did not load; otherwise KEEL_MISS_ABSENT
} prefetched_t;

// The client asks for this key. False if the caller must load or compile it; then *out has no
// `loaded`.
bool prefetch_take(keel_engine_t *engine, const PJRT_Client *client, const keel_digest_t *key,
                   prefetched_t *out);
// The client has an executable of this key, which may be stored.
void prefetch_asked(keel_engine_t *engine, const keel_key_t *key, const keel_cost_t *cost);
// What compiling such a program took in this process or in the script's last run; 0: unknown.
double prefetch_last_seconds(keel_engine_t *engine, const char *name, uint64_t operations);
// An entry was loaded from the disk tier. If it is on the plan that a remote had, it came from
// there and was here before anybody asked for it: the remote is named as its tier.
void prefetch_name_remote(keel_engine_t *engine, const keel_digest_t *key, loaded_entry_t *loaded);
// Writes what was asked for, if it changed; `ended`: nothing more follows.
void prefetch_keep_plan(keel_engine_t *engine, bool ended);

#endif // KEEL_ENGINE_PREFETCH_H_
