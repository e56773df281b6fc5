// The parts of `keel probe`.
#ifndef KEEL_CLI_PROBE_H_
#define KEEL_CLI_PROBE_H_

#include "bundle/bundle.h"
#include "cli/cli.h"
#include "probe/compare.h"
#include "probe/probe.h"

typedef struct cli_probed_t {
    keel_probe_t probe;
    keel_settings_t settings;
    bool settings_known;
    keel_bundle_t bundle;
    bool bundle_known;
    const char *other;    // file that is compared with; NULL: none
    keel_probe_fit_t fit; // where `other` is not NULL
} cli_probed_t;

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out);
void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out);

#endif // KEEL_CLI_PROBE_H_
