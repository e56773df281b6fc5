// Collects all parts of an installation; here those of Keel and of the machine.
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include "bundle/internal.h"
#include "key/key.h"

// ---- the machine -------------------------------------------------------------------------------

// The value of the first line "name : value" or "name=value" of a file.
static keel_status_t read_field(const char *path, const char *name, char separator,
                                keel_bundle_t *bundle, keel_bundle_section_t section,
                                const char *as) {
    bundle_head_t head;
    keel_str_t line, field, value;
    KEEL_TRY(bundle_read_head(&head, "%s", path));
    while (keel_str_line(&head.rest, &line)) {
        if (!bundle_field(line, separator, &field, &value) || !keel_str_is(field, name)) continue;
        bundle_unquote(&value);
        return keel_bundle_add(bundle, section, keel_str(as), value);
    }
    return NULL;
}

// The readable line in keel_key_cpu's text is the number of usable cores.
static keel_status_t add_features(keel_bundle_t *bundle) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_status_t status = keel_key_cpu(&canonical);
    keel_str_t text = keel_bytes_str(keel_buffer_bytes(&canonical)), rest = text, line;
    while (!status && keel_str_line(&rest, &line)) {
        if (!keel_str_starts(line, KEEL_STR("cpus="))) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_t digest = keel_digest(keel_bytes(text.data, (size_t)(line.data - text.data)));
        keel_digest_hex(&digest, hex);
        status = keel_bundle_format(bundle, KEEL_BUNDLE_CPU, "features", "%.16s", hex);
        if (!status)
            status = keel_bundle_add(bundle, KEEL_BUNDLE_CPU, KEEL_STR("cores"),
                                     (keel_str_t){line.data + 5, line.size - 5});
    }
    keel_buffer_deinitialize(&canonical);
    return bundle_forgive(status);
}

static keel_status_t add_machine(keel_bundle_t *bundle) {
    const keel_bundle_section_t system = KEEL_BUNDLE_SYSTEM;
    struct utsname names;
    KEEL_TRY(read_field("/proc/cpuinfo", "model name", ':', bundle, KEEL_BUNDLE_CPU, "model"));
    KEEL_TRY(add_features(bundle));
    if (uname(&names) == 0) {
        KEEL_TRY(
            keel_bundle_format(bundle, system, "kernel", "%s %s", names.sysname, names.release));
        KEEL_TRY(keel_bundle_format(bundle, system, "machine", "%s", names.machine));
    }
    KEEL_TRY(keel_bundle_format(bundle, system, "libc", "glibc %s", gnu_get_libc_version()));
    KEEL_TRY(read_field("/etc/os-release", "PRETTY_NAME", '=', bundle, system, "distribution"));
    return read_field("/proc/meminfo", "MemTotal", ':', bundle, system, "memory");
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t add_keel(keel_bundle_t *bundle) {
    KEEL_TRY(keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "version", "%s", KEEL_VERSION));
    KEEL_TRY(keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "key_version", "%d", KEEL_KEY_VERSION));
    return keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "pjrt_header", "%d.%d", PJRT_API_MAJOR,
                              PJRT_API_MINOR);
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
    if (request->plugin)
        KEEL_TRY(keel_bundle_plugin_file(request->plugin, request->build, NULL, out));
    if (request->api) KEEL_TRY(keel_bundle_plugin(request->api, request->device_client, out));
    KEEL_TRY(add_machine(out));
    return bundle_packages(request, out);
}

keel_status_t keel_bundle_clients(const char *interpreter, keel_bundle_t *out) {
    const keel_bundle_request_t request = {.interpreter = interpreter};
    KEEL_TRY(bundle_interpreter(&request, out));
    return bundle_packages(&request, out);
}
