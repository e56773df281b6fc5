// core: the engine itself, on which each of its parts works, and what all of them need. A part is
// known by name only here; what it is stands in the header of its own name.
#ifndef KEEL_ENGINE_CORE_H_
#define KEEL_ENGINE_CORE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/pace.h"
#include "key/key.h"
#include "store/store.h"

typedef struct client_t {
    PJRT_Client *client;
    uint64_t number;    // of the process's clients, from 1
    keel_key_t backend; // the components that are the same for all programs
    uint32_t process_count;
    bool is_cpu;
    bool gates_replicas; // see portable.c
    struct client_t *next;
} client_t;

struct keel_engine_t {
    keel_settings_t settings;
    const keel_plugin_t *plugin;
    const PJRT_Api *api;
    pid_t pid; // a forked child has no background thread and goes straight to the plugin
    atomic_bool ended;
    atomic_bool bundled; // see bundling.c
    keel_digest_t plugin_build;
    keel_journal_t *journal; // NULL where there is none
    const char *cache_dir;   // the setting; "" if there is no folder that may be used
    keel_tier_t memory, disk;
    bool looks_up, stores;
    char *script;           // keel_host_script; NULL: unknown
    keel_map_t told_values; // components whose text the journal has; the background thread's own
    keel_map_t told_files;  // source files that were read for it, or could not be; likewise

    pace_t pace; // of figures in the journal; the background thread's own

    pthread_mutex_t lock; // of what follows
    client_t *clients;
    uint64_t client_count; // that were ever made
    keel_map_t names; // functions (module names and where they come from): how many keys each had;
                      // and functions with a key: how often each was asked for, of replicas also by
                      // which thread

    // The parts, made when the engine is and never exchanged.
    struct background_t *background;
    struct counters_t *counters;
    struct executables_t *executables;
    struct flow_t *flow;
    struct host_ops_t *host_ops;
    struct memory_t *memory_use;
    struct prefetch_t *prefetch; // NULL where it is off
    struct progress_t *progress;
    struct release_t *release;
    struct sites_t *sites;
    struct transfers_t *transfers;
};

// Starts a thread that takes none of the client's signals, and lets go of it. False where it
// cannot.
bool engine_start_thread(void *(*body)(void *), void *context);
// A place as the journal has it.
keel_journal_site_t engine_site(const keel_place_t *place);
// Says it once on stderr and writes it to the journal. Takes the status.
void engine_fell_through(keel_engine_t *engine, const char *what,
                         const keel_journal_subject_t *subject, keel_status_t status);

#endif // KEEL_ENGINE_CORE_H_
