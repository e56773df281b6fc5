// `keel probe --compare`: reads the other probe and compares it with this one.
#include <string.h>

#include <jansson.h>

#include "cli/probe.h"

keel_status_t cli_probe_read_other(cli_probed_t *probed) {
    uint8_t *data;
    size_t size;
    KEEL_TRY(cli_read_file(probed->other, &data, &size));
    keel_status_t status = keel_probe_read_other(keel_bytes(data, size), &probed->there);
    keel_free(data);
    if (status) return keel_status_annotate(status, "%s", probed->other);
    const json_t *bundle = json_object_get(probed->there, "bundle");
    if (!json_is_object(bundle)) return NULL;
    status = keel_bundle_take(bundle, &probed->bundle_there);
    probed->bundle_there_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status); // of a later version
    return NULL;
}

bool cli_probe_makes_programs(const keel_bundle_change_t *change) {
    static const char *const clients[] = {"jax", "jaxlib", "torch", "torch-xla", "torchax"};
    static const char *const prefixes[] = {"JAX_", "XLA_", "PT_XLA_"};
    // These choose a platform or a folder, or add source lines, which keys leave out.
    static const char *const others[] = {"JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR",
                                         "XLA_IR_DEBUG", "XLA_HLO_DEBUG"};
    bool makes = false;
    for (size_t i = 0; i < sizeof clients / sizeof *clients; ++i)
        makes = makes ||
                (change->section == KEEL_BUNDLE_CLIENTS && strcmp(change->name, clients[i]) == 0);
    if (change->section != KEEL_BUNDLE_ENVIRONMENT || change->weight == KEEL_BUNDLE_WEIGHT_KEYS)
        return makes;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i)
        makes = makes || strncmp(change->name, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        makes = makes && strcmp(change->name, others[i]) != 0;
    return makes;
}

keel_status_t cli_probe_compare(cli_probed_t *probed) {
    KEEL_TRY(keel_probe_compare(&probed->probe, probed->settings_known ? &probed->settings : NULL,
                                probed->there, &probed->fit));
    if (!probed->bundle_known || !probed->bundle_there_known) return NULL;
    return keel_bundle_compare(&probed->bundle_there, &probed->probe.bundle, &probed->changes);
}
