// Collects all parts of an installation; here those of Keel and of the machine.
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include "bundle/internal.h"
#include "key/key.h"

// ---- the machine -------------------------------------------------------------------------------

// The value of the first line "name : value" or "name=value" of a file.
static void read_field(keel_bundle_t *bundle, keel_bundle_section_t section, const char *as,
                       const char *path, const char *name, char separator) {
    bundle_head_t head;
    keel_str_t line, field, value;
    bundle_read_head(&head, "%s", path);
    while (keel_str_line(&head.rest, &line)) {
        if (!bundle_field(line, separator, &field, &value) || !keel_str_is(field, name)) continue;
        bundle_unquote(&value);
        keel_bundle_add(bundle, section, keel_str(as), value);
        return;
    }
}

// The readable line in keel_key_cpu's text is the number of usable cores.
static void add_features(keel_bundle_t *bundle) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_bundle_forgive(bundle, keel_key_cpu(1, &canonical));
    keel_str_t text = keel_bytes_str(keel_buffer_bytes(&canonical)), rest = text, line;
    while (keel_str_line(&rest, &line)) {
        if (!keel_str_starts(line, KEEL_STR("cpus="))) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_t digest = keel_digest(keel_bytes(text.data, (size_t)(line.data - text.data)));
        keel_digest_hex(&digest, hex);
        keel_bundle_format(bundle, KEEL_BUNDLE_CPU, "features", "%.16s", hex);
        keel_bundle_add(bundle, KEEL_BUNDLE_CPU, KEEL_STR("cores"),
                        (keel_str_t){line.data + 5, line.size - 5});
    }
    keel_buffer_deinitialize(&canonical);
}

static void add_machine(keel_bundle_t *bundle) {
    const keel_bundle_section_t system = KEEL_BUNDLE_SYSTEM;
    struct utsname names;
    read_field(bundle, KEEL_BUNDLE_CPU, "model", "/proc/cpuinfo", "model name", ':');
    add_features(bundle);
    if (uname(&names) == 0) {
        keel_bundle_format(bundle, system, "kernel", "%s %s", names.sysname, names.release);
        keel_bundle_format(bundle, system, "machine", "%s", names.machine);
    }
    keel_bundle_format(bundle, system, "libc", "glibc %s", gnu_get_libc_version());
    read_field(bundle, system, "distribution", "/etc/os-release", "PRETTY_NAME", '=');
    read_field(bundle, system, "memory", "/proc/meminfo", "MemTotal", ':');
}

// ---- all of it ---------------------------------------------------------------------------------

static void add_keel(keel_bundle_t *bundle) {
    keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "version", "%s", KEEL_VERSION);
    keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "key_version", "%d", KEEL_KEY_VERSION);
    keel_bundle_format(bundle, KEEL_BUNDLE_KEEL, "pjrt_header", "%d.%d", PJRT_API_MAJOR,
                       PJRT_API_MINOR);
}

void keel_bundle_environment(const keel_bundle_request_t *request, keel_bundle_t *out) {
    bundle_variables(out);
    bundle_interpreter(request, out);
}

// Packages come last: if there is too little room, they are the ones left out.
void keel_bundle_collect(const keel_bundle_request_t *request, keel_bundle_t *out) {
    if (!out->known[KEEL_BUNDLE_ENVIRONMENT]) keel_bundle_environment(request, out);
    add_keel(out);
    if (request->plugin) keel_bundle_plugin_file(request->plugin, request->build, NULL, out);
    if (request->api) keel_bundle_plugin(request->api, request->device_client, out);
    add_machine(out);
    bundle_packages(request, out);
}
