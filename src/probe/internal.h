// Room-internal: the child that uses the plugin, and the lines that it writes.
#ifndef KEEL_PROBE_INTERNAL_H_
#define KEEL_PROBE_INTERNAL_H_

#include "base/json.h"
#include "pjrt/pjrt.h"
#include "probe/probe.h"

// What the child knows so far. A process has one.
typedef struct probe_child_t {
    int descriptor;     // takes the lines
    keel_buffer_t line; // being written
    keel_json_t json;   // writes it
    const keel_probe_request_t *request;
    const keel_digest_t *build; // of the plugin's file; NULL if unknown
    bool elsewhere;             // only TOPOLOGY and ELSEWHERE

    keel_plugin_t plugin;
    PJRT_Api *api; // the plugin's, through the bridge; records the codes of errors
    PJRT_Client *client;
    PJRT_Device *const *devices; // that this process can use
    size_t device_count;
    PJRT_LoadedExecutable *compiled, *reloaded;
    keel_bytes_t serialized;
    PJRT_TopologyDescription *topology;

    const char *code;    // PJRT's name for the code of the latest error; NULL: no error so far
    const char *skipped; // set by a step that has nothing to do: the reason
} probe_child_t;

// The longest line: a bundle of many devices, or the readable texts of a key.
enum { PROBE_LINE_LIMIT = 1 << 21 };

// The exit code of a child that finished; a plugin's own exit() has another.
enum { PROBE_DONE = 77 };

// Runs the steps and writes their lines; returns the exit code.
int probe_child_run(probe_child_t *child);

// ---- steps -------------------------------------------------------------------------------------

keel_status_t probe_devices(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_compile(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_run(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_serialize(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_reload(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_run_again(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_last_device(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_older_client(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_topology(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_compile_elsewhere(probe_child_t *child) KEEL_MUST_CHECK;

// ---- lines, which facts.c reads ----------------------------------------------------------------

// Begins a line, a JSON object, and one with facts, an object in that. The end writes it; without
// memory, it writes a line that says so instead.
keel_json_t *probe_line_begin(probe_child_t *child);
void probe_line_end(probe_child_t *child);
keel_json_t *probe_facts_begin(probe_child_t *child);
void probe_facts_end(probe_child_t *child);
// Writes what the bundle says about the plugin, and about its client unless that is NULL.
keel_status_t probe_line_bundle(probe_child_t *child, PJRT_Client *client) KEEL_MUST_CHECK;
// Frees a status that does not matter; for lack of memory, it also writes a line.
void probe_forgive(probe_child_t *child, keel_status_t status);

// Written to stderr when a step begins, followed by the step as a letter from 'A': it assigns
// stderr output to steps, which arrives separately from the lines.
#define PROBE_MARK '\1'

// ---- the parent --------------------------------------------------------------------------------

// A copy that is safe to show: what a terminal may obey is "?" (newlines stay), and so are bytes
// that are not UTF-8.
keel_status_t probe_clean(keel_arena_t *arena, keel_str_t text, const char **out) KEEL_MUST_CHECK;
// The same in the probe's arena; "" if there is no memory, which the probe records.
const char *probe_keep(keel_probe_t *probe, keel_str_t text);
// Sets a member of facts; takes the value.
void probe_set(keel_probe_t *probe, struct json_t *object, const char *name, struct json_t *value);
void probe_set_text(keel_probe_t *probe, struct json_t *object, const char *name, const char *text);
// The facts' "plugin".
struct json_t *probe_plugin(keel_probe_t *probe);
// Whether the backend decides the component, not the program and its options, which are the same
// wherever it is compiled.
bool probe_is_of_backend(keel_component_t component);
// Examines the file, and the wheel that it came from.
keel_status_t probe_look_at_file(const keel_probe_request_t *request,
                                 keel_probe_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PROBE_INTERNAL_H_
