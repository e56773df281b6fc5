// `keel run` before it starts its command.
#define _GNU_SOURCE // setenv
#include <stdio.h>
#include <stdlib.h>

#include "bundle/versions.h"
#include "cli/bundle.h"

// Adds what a line was printed about to `told`: "plugin,jax".
static keel_status_t pass(const char *name, const keel_bundle_verdict_t *verdict, bool quiet,
                          char told[64]) {
    if (verdict->support == KEEL_BUNDLE_IMPOSSIBLE)
        return keel_status_make(KEEL_UNSUPPORTED, "%s", verdict->text);
    if (!*verdict->text) return NULL;
    if (!quiet) cli_say("%s", verdict->text);
    size_t used = strlen(told);
    snprintf(told + used, 64 - used, "%s%s", used ? "," : "", name);
    return NULL;
}

// If there are several clients, only the process knows which one it uses: then NULL.
static const char *judge_only_client(const keel_bundle_t *bundle, keel_bundle_verdict_t *out) {
    const char *name = NULL;
    keel_bundle_verdict_t verdict;
    for (size_t i = 0; i < KEEL_BUNDLE_CLIENTS_TRIED; ++i) {
        keel_bundle_judge_client(bundle, i, &verdict);
        if (verdict.support == KEEL_BUNDLE_UNKNOWN) continue;
        if (name) return NULL;
        name = keel_bundle_tried[i].name;
        *out = verdict;
    }
    return name;
}

static keel_status_t check_plugin(const char *plugin, bool quiet, keel_probe_t *probe,
                                  char told[64]) {
    enum { SECONDS = 5 };
    keel_bundle_verdict_t verdict;
    const keel_probe_request_t use = {.plugin = plugin, .limit = SECONDS, .last = KEEL_PROBE_LOAD};
    keel_bundle_format(&probe->bundle, KEEL_BUNDLE_PLUGIN, "path", "%s", plugin);
    KEEL_TRY(keel_probe_use(&use, probe));
    keel_bundle_judge_plugin(&probe->bundle, &verdict);
    return pass("plugin", &verdict, quiet, told);
}

keel_status_t cli_check_versions(const char *interpreter, const char *plugin, bool quiet) {
    char told[64] = "";
    keel_probe_t probe;
    keel_bundle_verdict_t verdict;
    const keel_bundle_request_t rest = {.interpreter = interpreter};
    keel_probe_initialize(&probe);
    keel_status_t status = plugin ? check_plugin(plugin, quiet, &probe, told) : NULL;
    if (!status && interpreter) keel_bundle_collect(&rest, &probe.bundle);
    const char *client = judge_only_client(&probe.bundle, &verdict);
    if (!status && client) status = pass(client, &verdict, quiet, told);
    if (!status) status = keel_bundle_status(&probe.bundle);
    keel_probe_deinitialize(&probe);
    KEEL_TRY(status);
    // So that the process does not repeat what was printed here.
    if (told[0] ? setenv("KEEL_TOLD", told, 1) : unsetenv("KEEL_TOLD"))
        return keel_status_make(KEEL_NO_MEMORY, "out of memory: setting KEEL_TOLD");
    return NULL;
}
