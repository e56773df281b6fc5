// Room-internal: the child that uses the plugin, and what it reports.
#ifndef KEEL_PROBE_INTERNAL_H_
#define KEEL_PROBE_INTERNAL_H_

#include <stdatomic.h>
#include <sys/types.h>

#include "pjrt/pjrt.h"
#include "probe/probe.h"

typedef struct probe_reported_t {
    keel_probe_state_t state;
    uint64_t nanoseconds;
    off_t printed, printed_end; // where the file of what it prints ended, before and after
    char code[64];
    char message[KEEL_BUNDLE_VALUE_LIMIT];
} probe_reported_t;

enum { PROBE_TARGET_LIMIT = 1 << 18 };

// In memory that parent and child share. The parent trusts none of it: the plugin may write there.
typedef struct probe_report_t {
    _Atomic int step;  // that began last
    _Atomic bool done; // all steps are over
    bool out_of_memory;
    probe_reported_t steps[KEEL_PROBE_STEP_COUNT];
    size_t facts_size;
    char facts[KEEL_BUNDLE_JSON_LIMIT]; // a bundle as JSON
    size_t target_size;
    char target[PROBE_TARGET_LIMIT]; // as JSON
} probe_report_t;

// What the child knows so far.
typedef struct probe_child_t {
    probe_report_t *report;
    const keel_probe_request_t *request;
    const keel_digest_t *build; // of the plugin's file; NULL if unknown
    keel_bundle_t facts;

    keel_plugin_t plugin;
    PJRT_Api *api;              // the plugin's, through the bridge; records the codes of errors
    PJRT_NamedValue options[1]; // that the client was made with
    size_t option_count;
    PJRT_Client *client;
    PJRT_Device *const *devices; // that this process can use
    size_t device_count;
    PJRT_LoadedExecutable *compiled, *reloaded;
    keel_bytes_t serialized;
} probe_child_t;

// Takes the steps and reports them.
void probe_child_run(probe_child_t *child);

// The steps: up to the devices in child.c, those with the small program in program.c.
#define PROBE_DECLARE(step, needs, take, ...)                                                      \
    keel_status_t probe_##take(probe_child_t *child) KEEL_MUST_CHECK;
KEEL_PROBE_STEPS(PROBE_DECLARE)
#undef PROBE_DECLARE

#endif // KEEL_PROBE_INTERNAL_H_
