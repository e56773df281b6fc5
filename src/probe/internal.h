// Room-internal: the child that uses the plugin, and the messages that it sends.
#ifndef KEEL_PROBE_INTERNAL_H_
#define KEEL_PROBE_INTERNAL_H_

#include "pjrt/pjrt.h"
#include "probe/probe.h"

// What the child knows so far.
typedef struct probe_child_t {
    int descriptor; // takes the messages
    const keel_probe_request_t *request;
    const keel_digest_t *build; // of the plugin's file; NULL if unknown
    bool elsewhere;             // only TOPOLOGY and ELSEWHERE
    keel_bundle_t facts;        // of this step

    keel_plugin_t plugin;
    PJRT_Api *api; // the plugin's, through the bridge; records the codes of errors
    PJRT_Client *client;
    PJRT_Device *const *devices; // that this process can use
    size_t device_count;
    PJRT_LoadedExecutable *compiled, *reloaded;
    keel_bytes_t serialized;
    PJRT_TopologyDescription *topology;
    const char *skipped; // set by a step that has nothing to do: the reason
} probe_child_t;

// The longest message. One datagram may be about 200 KiB long.
enum { PROBE_LINE_LIMIT = 1 << 17 };

// The exit code of a child that finished; a plugin's own exit() has another.
enum { PROBE_DONE = 77 };

// Runs the steps and sends their messages; returns the exit code.
int probe_child_run(probe_child_t *child);

// The steps with the small program, in program.c.
keel_status_t probe_compile(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_run(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_serialize(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_reload(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_run_again(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_last_device(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_older_client(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_topology(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_compile_elsewhere(probe_child_t *child) KEEL_MUST_CHECK;

// Any TPU will do, since only the compiler is tested; this is the newest that all know.
#define PROBE_TOPOLOGY "v6e:2x4"

// A copy in the bundle's arena, on one line that is safe to show; "" if there is no memory, which
// the probe records.
const char *probe_keep(keel_probe_t *probe, keel_str_t text);
// Adds a fact to the bundle.
void probe_note(keel_probe_t *probe, keel_bundle_section_t section, const char *name,
                const char *value);

#endif // KEEL_PROBE_INTERNAL_H_
