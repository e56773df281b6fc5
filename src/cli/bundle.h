// What `keel bundle`, `keel probe` and `keel run` share.
#ifndef KEEL_CLI_BUNDLE_H_
#define KEEL_CLI_BUNDLE_H_

#include "cli/cli.h"
#include "probe/probe.h"

// What to look at, and what was found.
typedef struct cli_look_t {
    const char *interpreter; // as --python names it; NULL: the current one
    unsigned seconds;        // that anything may take
    bool loads;              // uses the plugin up to the step `last`
    keel_probe_step_t last;
    keel_settings_t settings; // not loaded if that failed
    keel_probe_t probe;
} cli_look_t;

// Fills a cleared `look`; end it even after a failure. KEEL_NOT_FOUND if there is no plugin; the
// bundle then has the rest.
keel_status_t cli_look(const cli_call_t *call, cli_look_t *look) KEEL_MUST_CHECK;
void cli_look_end(cli_look_t *look);

// bundle_diff.c
int cli_bundle_diff(cli_call_t *call);

// bundle_gate.c: checks the plugin (NULL: whoever loads one does), and the packages of a command's
// Python (NULL: it has none). Unless `quiet`, prints a line about a version that Keel was not
// tested with. KEEL_UNSUPPORTED if it cannot work.
keel_status_t cli_check_versions(const char *interpreter, const char *plugin,
                                 bool quiet) KEEL_MUST_CHECK;

#endif // KEEL_CLI_BUNDLE_H_
