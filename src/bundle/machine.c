// The machine: processor, memory, kernel, C library.
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bundle/internal.h"
#include "key/key.h"

// The value of the first line "name : value" or "name=value" of a file, without quotes.
static keel_status_t read_field(const char *path, const char *name, char separator,
                                keel_bundle_t *bundle, keel_bundle_section_t section,
                                const char *as) {
    bundle_head_t head;
    keel_str_t line, field, value;
    KEEL_TRY(bundle_read_head(&head, "%s", path));
    while (keel_str_line(&head.rest, &line)) {
        if (!bundle_field(line, separator, &field, &value) || !keel_str_is(field, name)) continue;
        if (value.size > 1 && value.data[0] == '"')
            value = (keel_str_t){value.data + 1, value.size - 2};
        return bundle_add(bundle, section, keel_str(as), value);
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
        status = bundle_format(bundle, KEEL_BUNDLE_CPU, "features", "%.16s", hex);
        if (!status)
            status = bundle_add(bundle, KEEL_BUNDLE_CPU, KEEL_STR("cores"),
                                (keel_str_t){line.data + 5, line.size - 5});
    }
    keel_buffer_deinitialize(&canonical);
    return bundle_forgive(status);
}

keel_status_t bundle_cpu(keel_bundle_t *bundle) {
    KEEL_TRY(read_field("/proc/cpuinfo", "model name", ':', bundle, KEEL_BUNDLE_CPU, "model"));
    return add_features(bundle);
}

keel_status_t bundle_system(keel_bundle_t *bundle) {
    struct utsname names;
    if (uname(&names) == 0) {
        KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_SYSTEM, "kernel", "%s %s", names.sysname,
                               names.release));
        KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_SYSTEM, "machine", "%s", names.machine));
    }
    KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_SYSTEM, "libc", "glibc %s", gnu_get_libc_version()));
    KEEL_TRY(read_field("/etc/os-release", "PRETTY_NAME", '=', bundle, KEEL_BUNDLE_SYSTEM,
                        "distribution"));
    return read_field("/proc/meminfo", "MemTotal", ':', bundle, KEEL_BUNDLE_SYSTEM, "memory");
}
