// load: makes an executable again from a stored entry.
#ifndef KEEL_ENGINE_LOAD_H_
#define KEEL_ENGINE_LOAD_H_

#include "engine/clients.h"
#include "engine/core.h"

// An executable, and the entry that it was loaded from.
typedef struct loaded_entry_t {
    PJRT_LoadedExecutable *executable;
    PJRT_Executable *unloaded; // instead of it
    keel_entry_t entry;
    const keel_tier_t *tier; // that had the entry
    keel_payload_t answer;   // what the program needs, if the entry says
    uint64_t nanoseconds;    // inside the plugin, also if the load failed
    // Of that, and of getting the entry; of a large one only when a processor was free for it, so
    // that a busy machine makes no entry look slow.
    uint64_t total;
    double slow_seconds; // KEEL_MISS_SLOW: what a load took
} loaded_entry_t;

// `options`: compile options to load it with, because they ask for dumps; else empty. Tries the
// tiers one after the other. False if there is no executable; problems with entries are
// written to the journal, and entries that do not load are set aside. *out is then empty except for
// `nanoseconds` and `slow_seconds`.
bool load_entry(keel_engine_t *engine, const PJRT_Client_Compile_Args *args, keel_bytes_t options,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss);
// The same from the tiers that persist, for a client that has not asked yet, on a thread of Keel's.
// The plugin may refuse now what it accepts later (a custom call whose target is not registered
// yet): then it counts as no entry.
// `operations`: of the program, as far as they are known; else 0.
bool load_entry_ahead(keel_engine_t *engine, const client_t *client, const keel_digest_t *key,
                      uint32_t operations, loaded_entry_t *out, keel_miss_t *out_miss);
// The same, but the executable is a PJRT_Executable of the rehearsal's (keel_rehearse_unloaded).
bool load_entry_unloaded(keel_engine_t *engine, const PJRT_Client_Compile_Args *args,
                         const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss);
// Destroys one that nobody took.
void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded);

#endif // KEEL_ENGINE_LOAD_H_
