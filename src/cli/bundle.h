// What `keel bundle` and `keel probe` share.
//
//   bundle.c        the bundle of this machine
//   bundle_diff.c   two bundles
//   bundle_gate.c   `keel run` before it starts its command
//   probe.c         using the plugin, findings, whether entries would fit elsewhere
//   probe_print.c   how that is shown
#ifndef KEEL_CLI_BUNDLE_H_
#define KEEL_CLI_BUNDLE_H_

#include "cli/cli.h"
#include "probe/probe.h"

int cli_bundle_diff(cli_call_t *call);
// Reads a bundle from a file that the user named: one from --json, or a journal.
keel_status_t cli_take_bundle(const char *path, keel_bundle_t *out) KEEL_MUST_CHECK;

// Checks the plugin, and the packages of a command's Python (NULL: it has none). Unless `quiet`,
// prints a line about a version that Keel was not tested with. KEEL_UNSUPPORTED if it cannot work.
keel_status_t cli_check_versions(const char *interpreter, const char *plugin,
                                 bool quiet) KEEL_MUST_CHECK;

// The plugin that the settings name, and the one that it wraps if it is Keel's own library. The
// caller frees both, even after a failure. What follows still has the limit of this search.
keel_status_t cli_find_plugin(const keel_settings_t *settings, const char *python,
                              char **out_plugin, char **out_wraps) KEEL_MUST_CHECK;

// Adds the plugin's file to the bundle.
keel_status_t cli_describe_plugin(const keel_settings_t *settings, const char *plugin,
                                  keel_bundle_t *out) KEEL_MUST_CHECK;

typedef struct cli_probed_t {
    keel_probe_t probe;
    const char *other; // the file to compare with; if NULL, the rest is not set
    keel_bundle_t there;
    keel_bundle_changes_t changes; // old is there, new is here
    const char *blocks[KEEL_PROBE_BLOCKS];
    size_t block_count;
    bool hits;
} cli_probed_t;

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out);
void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out);

#endif // KEEL_CLI_BUNDLE_H_
