// What the files of the engine share.
#ifndef KEEL_ENGINE_INTERNAL_H_
#define KEEL_ENGINE_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/payload.h"
#include "journal/journal.h"
#include "key/key.h"
#include "store/store.h"

// ---- executables.c -----------------------------------------------------------------------------

// Executions of one program (by the digest of its bytes), over all its executables. Never freed.
typedef struct counter_t {
    keel_digest_t program;
    _Atomic uint64_t count;
    uint64_t reported; // under the table's lock
    struct counter_t *next;
} counter_t;

enum { EXECUTABLE_SLOTS = 1 << 14, EXECUTABLE_PROBES = 64 };

// Loaded executables by pointer. Looked up without a lock by every execution; changed under one.
// A slot that was emptied holds the pointer 1, so that a search goes on past it.
typedef struct executable_slot_t {
    _Atomic uintptr_t loaded;
    _Atomic(counter_t *) counter;
    keel_stored_t *stored; // under the lock; NULL where it was compiled here
} executable_slot_t;

// The bytes that an executable was loaded from, shared by the loaded executable, what the client
// took from it, and what it serialized.
struct keel_stored_t {
    uint8_t *data;
    keel_payload_t payload; // within data
    atomic_uint references;
};

typedef struct taken_t {
    const PJRT_Executable *executable;
    keel_stored_t *stored;
    struct taken_t *next;
} taken_t;

typedef struct executables_t {
    pthread_mutex_t lock;
    executable_slot_t *slots;
    counter_t *counters;
    keel_map_t counter_of; // program digest -> counter_t *
    taken_t *taken;
    _Atomic uint64_t others; // executions of executables that are in no slot
} executables_t;

keel_status_t executables_initialize(executables_t *table) KEEL_MUST_CHECK;
// While nothing is in it.
void executables_deinitialize(executables_t *table);
// Takes over `data` (from keel_alloc; NULL where it was compiled), also on failure.
keel_status_t executables_add(executables_t *table, const PJRT_LoadedExecutable *loaded,
                              const keel_digest_t *program, uint8_t *data,
                              size_t size) KEEL_MUST_CHECK;
// Around a fork: a child must not find the lock held by a thread that it does not have.
void executables_lock(executables_t *table);
void executables_unlock(executables_t *table);
// What was executed since the last call; the caller frees out->data with keel_free.
keel_status_t executables_collect(executables_t *table, keel_journal_counts_t *out,
                                  uint64_t *out_total) KEEL_MUST_CHECK;

// ---- engine.c ----------------------------------------------------------------------------------

typedef struct client_t {
    PJRT_Client *client;
    keel_key_t backend; // the components that are the same for all programs
    uint32_t process_count;
    struct client_t *next;
} client_t;

struct keel_engine_t {
    keel_settings_t settings;
    const keel_plugin_t *plugin;
    const PJRT_Api *api;
    pid_t pid; // a forked child has no publisher and goes straight to the plugin
    atomic_bool ended;
    keel_digest_t plugin_build;
    keel_journal_t *journal; // NULL where there is none
    keel_tier_t memory, disk;
    bool looks_up, stores;

    pthread_mutex_t lock; // of what follows
    client_t *clients;
    bool had_client;
    keel_map_t names; // module names, and module names with their keys, that were seen

    executables_t executables;
    struct publisher_t *publisher;
};

const char *engine_cache_dir(const keel_engine_t *engine);
// Says it once on stderr and writes it to the journal. Takes the status.
void engine_fell_through(keel_engine_t *engine, const char *what,
                         const keel_journal_subject_t *subject, keel_status_t status);

// ---- site.c ------------------------------------------------------------------------------------

// Where a program comes from in the user's source.
typedef struct site_t {
    keel_journal_site_t line;
    const char *origin; // tells one function from another of its name; NULL where unknown
} site_t;

// Text lives in `arena`.
void site_of_program(const keel_program_t *program, keel_arena_t *arena, site_t *out);

// ---- publish.c ---------------------------------------------------------------------------------

typedef struct publication_t {
    PJRT_Client *client;
    uint8_t *payload; // serialized; handed over, from keel_alloc
    size_t payload_size;
    const keel_key_t *key;
    const keel_digest_t *program;
    const char *name;
    double compile_seconds;
    keel_claim_t claim; // handed over
} publication_t;

keel_status_t publisher_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Before anything was queued. NULL is allowed.
void publisher_destroy(struct publisher_t *publisher);
// Queues an executable that was just compiled. The claim is let go of in any case.
void publisher_publish(keel_engine_t *engine, const publication_t *publication);
// Says that a program is not stored, and why. Takes the status.
void publisher_failed(keel_engine_t *engine, const char *step, const keel_key_t *key,
                      const char *name, keel_status_t status);
// Queues a program's bytes (copied) for the journal.
void publisher_keep_program(keel_engine_t *engine, const keel_digest_t *program, const char *format,
                            keel_bytes_t bytes);
// Waits until nothing of the client (NULL: nothing at all) is queued or in work.
void publisher_drain(keel_engine_t *engine, const PJRT_Client *client);

#endif // KEEL_ENGINE_INTERNAL_H_
