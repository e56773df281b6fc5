// compare: whether an entry made here would be a hit on another machine, whose probe is given as
// JSON.
#ifndef KEEL_PROBE_COMPARE_H_
#define KEEL_PROBE_COMPARE_H_

#include "explain/explain.h"
#include "probe/probe.h"

// Reads another probe's JSON, which is foreign; what is missing or unusable counts as unknown. The
// caller frees *out with json_decref. KEEL_INVALID if it is not a probe, or one of a later version.
keel_status_t keel_probe_read_other(keel_bytes_t bytes, struct json_t **out) KEEL_MUST_CHECK;

enum { KEEL_PROBE_BLOCKS = 8 };

typedef struct keel_probe_fit_t {
    bool hits;
    bool differs[KEEL_COMPONENT_COUNT];    // components that the backend gives
    const char *blocks[KEEL_PROBE_BLOCKS]; // other reasons why not: one sentence each, static
    size_t block_count;
    keel_explanation_t fields; // differences inside components; old is there, new is here
} keel_probe_fit_t;

void keel_probe_fit_initialize(keel_probe_fit_t *fit);
void keel_probe_fit_deinitialize(keel_probe_fit_t *fit);
// `settings` may be NULL. `out` is initialized.
keel_status_t keel_probe_compare(const keel_probe_t *here, const keel_settings_t *settings,
                                 const struct json_t *there, keel_probe_fit_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PROBE_COMPARE_H_
