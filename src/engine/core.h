// core: the engine itself, shared by all of its parts, and helpers that they all need. Only the
// names of the parts appear here; each part's header defines it.
#ifndef KEEL_ENGINE_CORE_H_
#define KEEL_ENGINE_CORE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "key/key.h"
#include "store/store.h"

struct keel_engine_t {
    keel_engine_t *next; // of the process's engines, older
    keel_settings_t settings;
    const keel_plugin_t *plugin;
    const PJRT_Api *api;
    pid_t pid; // a forked child has no background thread and goes straight to the plugin
    atomic_bool ended;
    keel_digest_t plugin_build;
    keel_journal_t *journal; // NULL if there is none
    const char *cache_dir;   // the setting; "" if no folder may be used
    keel_tiers_t tiers;      // see tiers.h
    bool looks_up, stores;
    keel_engine_gate_t gate;     // `check` is NULL: all programs may pass
    char *script;                // keel_host_script; NULL: unknown
    const keel_target_t *target; // a rehearsal's; NULL: the devices are there

    // The parts, made with the engine and never replaced.
    struct background_t *background;
    struct clients_t *clients;
    struct counters_t *counters;
    struct executables_t *executables;
    struct flow_t *flow;
    struct functions_t *functions;
    struct handed_t *handed;
    struct handlers_t *handlers;
    struct host_ops_t *host_ops;
    struct makers_t *makers;
    struct memory_t *memory_use;
    struct once_t *once;
    struct order_t *order;
    struct pace_t *pace;
    struct prefetch_t *prefetch; // NULL if it is off
    struct progress_t *progress;
    struct proofs_t *proofs;
    struct rehearsal_t *rehearsal; // NULL if the devices are there
    struct release_t *release;
    struct repeats_t *repeats;
    struct sent_t *sent;
    struct sites_t *sites;
    struct steps_t *steps;
    struct transfers_t *transfers;
};

// A process may have several engines. The newest; `next` leads to the others. An engine that was
// added stays.
keel_engine_t *engine_newest(void);
void engine_add(keel_engine_t *engine);
// Starts a detached thread that gets none of the client's signals. False on failure.
bool engine_start_thread(void *(*body)(void *), void *context);
// How long to wait for work on another thread before it counts as hanging, in seconds, and in
// nanoseconds for a program whose compile took `compile_seconds` (0: unknown). Tests shorten it.
extern double engine_patience;
uint64_t engine_patience_for(double compile_seconds);
// The digest of a plugin or a library. It is remembered in the cache folder, where that may be
// written.
keel_status_t engine_build_of(const keel_engine_t *engine, const char *path,
                              keel_digest_t *out) KEEL_MUST_CHECK;
// A place in the journal's form.
keel_journal_site_t engine_site(const keel_place_t *place);
// Writes the journal's first line if no client could be made; otherwise the client's start does.
void engine_begin_without_client(keel_engine_t *engine);
// Reports the failure once on stderr and writes it to the journal. Takes the status.
void engine_fell_through(keel_engine_t *engine, const char *what,
                         const keel_journal_subject_t *subject, keel_status_t status);

#endif // KEEL_ENGINE_CORE_H_
