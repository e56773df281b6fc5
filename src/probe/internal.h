// Room-internal: the child that uses the plugin, and the lines that it writes.
#ifndef KEEL_PROBE_INTERNAL_H_
#define KEEL_PROBE_INTERNAL_H_

#include "pjrt/pjrt.h"
#include "probe/probe.h"

// What the child knows so far. There is one in a process.
typedef struct probe_child_t {
    int descriptor; // takes the lines
    const keel_probe_request_t *request;
    const keel_digest_t *build; // of the plugin's file; NULL where it is not known
    bool elsewhere;             // only TOPOLOGY and ELSEWHERE

    keel_plugin_t plugin;
    PJRT_Api *api; // the plugin's behind the bridge; notes the codes of errors
    PJRT_Client *client;
    PJRT_Device *const *devices; // that this process can use
    size_t device_count;
    PJRT_LoadedExecutable *compiled, *reloaded;
    keel_bytes_t serialized;
    PJRT_TopologyDescription *topology;

    const char *code;    // PJRT's name for that of the newest error; NULL: no error so far
    const char *skipped; // set by a step that has nothing to do: why
} probe_child_t;

// The exit code of a child that came to its end: a plugin's own exit() has another.
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

// Begins {"<kind>": "<name>", fields follow, and the line is written by probe_line_end, which frees
// the buffer. Where there is no memory for it another line says that.
void probe_line_begin(keel_buffer_t *line, const char *kind, const char *name);
void probe_line_text(keel_buffer_t *line, const char *name, keel_str_t text);
void probe_line_number(keel_buffer_t *line, const char *name, int64_t number);
void probe_line_end(const probe_child_t *child, keel_buffer_t *line);
// Frees a status that nothing hangs on, but for one of no memory, of which a line is written.
void probe_forgive(const probe_child_t *child, keel_status_t status);

// Written to stderr when a step begins, followed by the step as a letter from 'A': what is said
// there comes by another way than the lines, and belongs to a step all the same.
#define PROBE_MARK '\1'

// ---- the parent --------------------------------------------------------------------------------

// A copy with control bytes, but for newlines, as "?": what comes from elsewhere goes to a
// terminal.
keel_status_t probe_clean(keel_arena_t *arena, keel_str_t text, const char **out) KEEL_MUST_CHECK;
// The same in the probe's arena; "" where there is no memory, which the probe keeps in mind.
const char *probe_keep(keel_probe_t *probe, keel_str_t text);
// Looks at the file and at the wheel that it came from.
keel_status_t probe_look_at_file(const keel_probe_request_t *request,
                                 keel_probe_t *out) KEEL_MUST_CHECK;
// By its file's name.
bool probe_is_tpu(const char *plugin);
// A device file of a TPU.
bool probe_has_tpu(void);
// "SIGABRT"; "signal 77" for one without a name.
void probe_signal_name(int number, char out[32]);

#endif // KEEL_PROBE_INTERNAL_H_
