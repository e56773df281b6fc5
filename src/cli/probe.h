// The parts of `keel probe`.
#ifndef KEEL_CLI_PROBE_H_
#define KEEL_CLI_PROBE_H_

#include "bundle/bundle.h"
#include "bundle/compare.h"
#include "cli/cli.h"
#include "probe/compare.h"
#include "probe/probe.h"

typedef struct cli_probed_t {
    keel_probe_t probe;
    keel_settings_t settings;
    bool settings_known;
    bool bundle_known; // the bundle in `probe` is complete
    char *python;      // the current one; NULL: none

    const char *other; // the file to compare with; if NULL, the rest is not set
    struct json_t *there;
    keel_bundle_t bundle_there;
    bool bundle_there_known;
    keel_probe_fit_t fit;
    keel_bundle_changes_t changes; // if both bundles are known; old is there, new is here
} cli_probed_t;

// Reads `other`. Call it before the plugin is used, so that a wrong file is refused at once.
keel_status_t cli_probe_read_other(cli_probed_t *probed) KEEL_MUST_CHECK;
keel_status_t cli_probe_compare(cli_probed_t *probed) KEEL_MUST_CHECK;
// Whether it may make the client ask for different programs: entries then fit, but nobody asks for
// them.
bool cli_probe_makes_programs(const keel_bundle_change_t *change);

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out);
void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out);

#endif // KEEL_CLI_PROBE_H_
