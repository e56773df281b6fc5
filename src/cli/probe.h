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
    bool bundle_known; // that of the probe is complete
    char *python;      // in force; NULL: none

    const char *other; // file that is compared with; NULL: none, and nothing of what follows
    struct json_t *there;
    keel_bundle_t bundle_there;
    bool bundle_there_known;
    keel_probe_fit_t fit;
    keel_bundle_changes_t changes; // where both bundles are known; old is there, new is here
} cli_probed_t;

// Reads `other`; done before the plugin is used, so that a wrong file is refused at once.
keel_status_t cli_probe_read_other(cli_probed_t *probed) KEEL_MUST_CHECK;
keel_status_t cli_probe_compare(cli_probed_t *probed) KEEL_MUST_CHECK;
// A client or a variable from which other programs may come: entries fit, and are not asked for.
bool cli_probe_makes_programs(const keel_bundle_change_t *change);

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out);
void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out);

#endif // KEEL_CLI_PROBE_H_
