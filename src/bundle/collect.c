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
    return request->api ? keel_bundle_plugin(request->api, request->device_client, bundle) : NULL;
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

keel_status_t keel_bundle_clients(const char *interpreter, keel_bundle_t *out) {
    const keel_bundle_request_t request = {.interpreter = interpreter};
    KEEL_TRY(bundle_interpreter(&request, out));
    KEEL_TRY(bundle_packages(&request, out));
    bundle_sort(out);
    return NULL;
}
