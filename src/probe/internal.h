// Room-internal: the child that uses the plugin, and the lines that it writes.
#ifndef KEEL_PROBE_INTERNAL_H_
#define KEEL_PROBE_INTERNAL_H_

#include "pjrt/pjrt.h"
#include "probe/probe.h"

// What the child knows so far. A process has one.
typedef struct probe_child_t {
    int descriptor; // takes the lines
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
keel_status_t probe_second_reload(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_sizes(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_topology(probe_child_t *child) KEEL_MUST_CHECK;
keel_status_t probe_compile_elsewhere(probe_child_t *child) KEEL_MUST_CHECK;

// ---- tell.c: the lines -------------------------------------------------------------------------

// Begins {"<kind>": "<name>". Fields follow, and probe_line_end writes the line and frees the
// buffer; without memory it writes a line that says so instead.
void probe_line_begin(keel_buffer_t *line, const char *kind, const char *name);
void probe_line_text(keel_buffer_t *line, const char *name, keel_str_t text);
void probe_line_number(keel_buffer_t *line, const char *name, int64_t number);
void probe_line_end(const probe_child_t *child, keel_buffer_t *line);
// Writes what the bundle says about the plugin, and about its client unless that is NULL.
keel_status_t probe_line_bundle(const probe_child_t *child, PJRT_Client *client) KEEL_MUST_CHECK;
// Frees a status that does not matter; for lack of memory, it also writes a line.
void probe_forgive(const probe_child_t *child, keel_status_t status);

// Written to stderr when a step begins, followed by the step as a letter from 'A': it assigns
// stderr output to steps, which arrives separately from the lines.
#define PROBE_MARK '\1'

// ---- the parent --------------------------------------------------------------------------------

// A copy with control bytes other than newlines as "?": foreign text may end up on a terminal.
keel_status_t probe_clean(keel_arena_t *arena, keel_str_t text, const char **out) KEEL_MUST_CHECK;
// The same in the probe's arena; "" if there is no memory, which the probe records.
const char *probe_keep(keel_probe_t *probe, keel_str_t text);
// Examines the file, and the wheel that it came from.
keel_status_t probe_look_at_file(const keel_probe_request_t *request,
                                 keel_probe_t *out) KEEL_MUST_CHECK;
// From its file's name.
bool probe_is_tpu(const char *plugin);
// Whether there is a device file of a TPU.
bool probe_has_tpu(void);
// "SIGABRT"; "signal 77" for one without a name.
void probe_signal_name(int number, char out[32]);

#endif // KEEL_PROBE_INTERNAL_H_
