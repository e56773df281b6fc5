// Collects all parts of an installation.
#include "bundle/internal.h"
#include "key/key.h"

static keel_status_t add_keel(keel_bundle_t *bundle) {
    KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_KEEL, "version", "%s", KEEL_VERSION));
    KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_KEEL, "key_version", "%d", KEEL_KEY_VERSION));
    return bundle_format(bundle, KEEL_BUNDLE_KEEL, "pjrt_header", "%d.%d", PJRT_API_MAJOR,
                         PJRT_API_MINOR);
}

static keel_status_t add_plugin(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    if (request->plugin) {
        bundle_looking(request, request->plugin);
        KEEL_TRY(bundle_plugin_file(request, bundle));
        bundle_looking(request, NULL);
    }
    if (request->api) {
        KEEL_TRY(bundle_plugin_table(request->api, bundle));
        if (!request->device_client) return NULL;
        return bundle_plugin_client(request->api, request->device_client, bundle);
    }
    if (!request->plugin || !request->load_seconds) return NULL;
    return bundle_plugin_child(request, bundle);
}

keel_status_t keel_bundle_environment(const keel_bundle_request_t *request, keel_bundle_t *out) {
    KEEL_TRY(bundle_flags(out));
    KEEL_TRY(bundle_variables(out));
    return bundle_interpreter(request, out);
}

// Packages come last: if there is too little room, they are the ones left out.
keel_status_t keel_bundle_collect(const keel_bundle_request_t *request, keel_bundle_t *out) {
    if (!out->known[KEEL_BUNDLE_ENVIRONMENT]) KEEL_TRY(keel_bundle_environment(request, out));
    KEEL_TRY(add_keel(out));
    KEEL_TRY(add_plugin(request, out));
    KEEL_TRY(bundle_cpu(out));
    KEEL_TRY(bundle_system(out));
    KEEL_TRY(bundle_packages(request, out));
    bundle_sort(out);
    return NULL;
}

keel_status_t keel_bundle_versions(const char *interpreter, const char *plugin, unsigned seconds,
                                   keel_bundle_t *out) {
    const keel_bundle_request_t request = {
        .interpreter = interpreter, .plugin = plugin, .load_seconds = seconds, .no_client = true};
    KEEL_TRY(bundle_add(out, KEEL_BUNDLE_PLUGIN, KEEL_STR("path"), keel_str(plugin)));
    KEEL_TRY(bundle_plugin_child(&request, out));
    if (interpreter) {
        KEEL_TRY(bundle_interpreter(&request, out));
        KEEL_TRY(bundle_packages(&request, out));
    }
    bundle_sort(out);
    return NULL;
}
