// load: one entry of a tier, made an executable again.
#ifndef KEEL_ENGINE_LOAD_H_
#define KEEL_ENGINE_LOAD_H_

#include "engine/core.h"

// An executable, and the entry that it was loaded from.
typedef struct loaded_entry_t {
    PJRT_LoadedExecutable *executable;
    keel_entry_t entry;
    keel_payload_t answer; // what the program needs, where the entry tells
    uint64_t nanoseconds;  // in the plugin, also where the load failed
} loaded_entry_t;

// False where there is no executable; what is wrong with the entry is written to the journal, and
// the entry put aside. *out is then empty but for `nanoseconds`.
bool load_entry(keel_engine_t *engine, PJRT_Client *client, const keel_tier_t *tier,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss);
// The same from the disk for a client that has not asked yet. What the plugin refuses now it may
// take then (a custom call whose target is not registered yet): it is as if there were no entry.
bool load_entry_ahead(keel_engine_t *engine, PJRT_Client *client, const keel_digest_t *key,
                      loaded_entry_t *out, keel_miss_t *out_miss);
// One that nobody has.
void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded);

#endif // KEEL_ENGINE_LOAD_H_
