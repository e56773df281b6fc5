// compare: would an entry made here be a hit on another machine, of which a probe's JSON is known.
#ifndef KEEL_PROBE_COMPARE_H_
#define KEEL_PROBE_COMPARE_H_

#include "explain/explain.h"
#include "probe/probe.h"

// What is read of another probe. The JSON is foreign: what it does not say, or says in a way that
// cannot be used, is not known.
typedef struct keel_probe_other_t {
    keel_arena_t arena;
    keel_key_t key;
    bool known[KEEL_COMPONENT_COUNT];
    const char *verdict, *plugin, *mode; // "" where it is not said
    const char *reload;                  // states of steps, likewise
    const char *run_again;               //
} keel_probe_other_t;

void keel_probe_other_initialize(keel_probe_other_t *other);
void keel_probe_other_deinitialize(keel_probe_other_t *other);
// `out` is initialized. KEEL_INVALID where it is no probe, or one of a later form.
keel_status_t keel_probe_read_other(keel_bytes_t bytes, keel_probe_other_t *out) KEEL_MUST_CHECK;

enum { KEEL_PROBE_BLOCKS = 8 };

typedef struct keel_probe_fit_t {
    bool hits;
    bool differs[KEEL_COMPONENT_COUNT];    // components that the backend gives
    const char *blocks[KEEL_PROBE_BLOCKS]; // why not, besides those: one sentence each
    size_t block_count;
    keel_explanation_t fields; // what differs in the components; old is there, new is here
    keel_arena_t arena;
} keel_probe_fit_t;

void keel_probe_fit_initialize(keel_probe_fit_t *fit);
void keel_probe_fit_deinitialize(keel_probe_fit_t *fit);
// `settings` may be NULL. `out` is initialized.
keel_status_t keel_probe_compare(const keel_probe_t *here, const keel_settings_t *settings,
                                 const keel_probe_other_t *there,
                                 keel_probe_fit_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PROBE_COMPARE_H_
