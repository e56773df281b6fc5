#define _GNU_SOURCE // setenv
#include <stdio.h>
#include <stdlib.h>

#include "bundle/versions.h"
#include "cli/bundle.h"

typedef struct gate_t {
    bool quiet, is_tpu;
    char told[64]; // "plugin,jax": what a line was printed about
} gate_t;

static keel_status_t pass_verdict(gate_t *gate, const char *name,
                                  const keel_bundle_verdict_t *verdict) {
    if (verdict->support == KEEL_BUNDLE_IMPOSSIBLE)
        return keel_status_make(KEEL_UNSUPPORTED, "%s", verdict->text);
    if (!*verdict->text) return NULL;
    if (!gate->quiet) cli_say("%s", verdict->text);
    size_t used = strlen(gate->told);
    snprintf(gate->told + used, sizeof gate->told - used, "%s%s", used ? "," : "", name);
    return NULL;
}

// If there are several clients, only the process knows which one it uses.
static keel_status_t pass_clients(gate_t *gate, const keel_bundle_t *bundle) {
    keel_bundle_verdict_t verdict, only = {.support = KEEL_BUNDLE_UNKNOWN};
    const char *name = NULL;
    for (size_t i = 0; i < keel_bundle_client_count(); ++i) {
        keel_bundle_judge_client(bundle, i, !gate->is_tpu, &verdict);
        if (verdict.support == KEEL_BUNDLE_UNKNOWN) continue;
        if (name) return NULL;
        name = keel_bundle_client_name(i);
        only = verdict;
    }
    return name ? pass_verdict(gate, name, &only) : NULL;
}

keel_status_t cli_check_versions(const char *interpreter, const char *plugin, bool quiet) {
    enum { SECONDS = 5 };
    gate_t gate = {.quiet = quiet};
    keel_probe_t probe;
    keel_bundle_verdict_t verdict;
    const keel_probe_request_t request = {
        .plugin = plugin, .limit = SECONDS, .last = KEEL_PROBE_LOAD};
    keel_probe_initialize(&probe);
    keel_status_t status =
        keel_bundle_format(&probe.bundle, KEEL_BUNDLE_PLUGIN, "path", "%s", plugin);
    if (!status) status = keel_probe_use(&request, &probe);
    gate.is_tpu = probe.is_tpu;
    keel_bundle_judge_plugin(&probe.bundle, &verdict);
    if (!status) status = pass_verdict(&gate, "plugin", &verdict);
    if (!status && interpreter) status = keel_bundle_clients(interpreter, &probe.bundle);
    if (!status && interpreter) status = pass_clients(&gate, &probe.bundle);
    keel_probe_deinitialize(&probe);
    KEEL_TRY(status);
    // So that the process does not repeat what was printed here.
    if (gate.told[0] ? setenv("KEEL_TOLD", gate.told, 1) : unsetenv("KEEL_TOLD"))
        return keel_status_make(KEEL_NO_MEMORY, "out of memory: setting KEEL_TOLD");
    return NULL;
}
