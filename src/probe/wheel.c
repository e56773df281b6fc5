// The wheel that the plugin's file came from.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/internal.h"

enum { RECORD_LIMIT = 1 << 24 };

typedef struct wheel_search_t {
    keel_bundle_t *bundle;
    const char *folder;   // that may be site-packages
    const char *relative; // the plugin's path from there
} wheel_search_t;

// A line of RECORD is path,digest,size. A path with a comma or a quote is quoted, and not searched
// for.
static bool find_size(keel_str_t record, const char *path, keel_str_t *out) {
    size_t length = strlen(path);
    keel_str_t line;
    while (keel_str_line(&record, &line)) {
        if (line.size <= length || line.data[length] != ',' || memcmp(line.data, path, length))
            continue;
        const char *size = (const char *)memrchr(line.data, ',', line.size) + 1;
        size_t left = (size_t)(line.data + line.size - size);
        *out = (keel_str_t){size, left && size[left - 1] == '\r' ? left - 1 : left};
        return true;
    }
    return false;
}

// "xla_cpu_pjrt-0.0.1.dist-info" -> "xla_cpu_pjrt 0.0.1"
static keel_status_t add_wheel(keel_bundle_t *bundle, const char *dist_info, keel_str_t size) {
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(dist_info, '.') - dist_info), dist_info);
    char *dash = strchr(name, '-');
    if (dash) *dash = ' ';
    if (size.size) KEEL_TRY(keel_bundle_add(bundle, KEEL_BUNDLE_WHEEL, KEEL_STR("size"), size));
    return keel_bundle_add(bundle, KEEL_BUNDLE_WHEEL, KEEL_STR("name"), keel_str(name));
}

static keel_status_t visit_wheel(void *context, const char *name) {
    const wheel_search_t *search = context;
    const char *suffix = strrchr(name, '.');
    char *path;
    uint8_t *data;
    size_t size;
    keel_str_t recorded;
    if (search->bundle->known[KEEL_BUNDLE_WHEEL] || !suffix || strcmp(suffix, ".dist-info") != 0)
        return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s/RECORD", search->folder, name));
    keel_status_t status = keel_file_read(path, RECORD_LIMIT, &data, &size);
    keel_free(path);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    if (status) return NULL; // a wheel without a record
    if (find_size(keel_bytes_str(keel_bytes(data, size)), search->relative, &recorded))
        status = add_wheel(search->bundle, name, recorded);
    keel_free(data);
    return status;
}

keel_status_t keel_probe_find_wheel(const char *plugin, keel_bundle_t *out) {
    enum { FOLDERS_UP = 4 };
    char path[PATH_MAX], folder[PATH_MAX];
    if (!realpath(plugin, path)) return NULL;
    memcpy(folder, path, sizeof folder);
    for (int up = 0; up < FOLDERS_UP && !out->known[KEEL_BUNDLE_WHEEL]; ++up) {
        char *slash = strrchr(folder, '/');
        if (slash == folder) break;
        *slash = 0;
        wheel_search_t search = {
            .bundle = out, .folder = folder, .relative = path + (slash - folder) + 1};
        keel_status_t status = keel_directory_walk(folder, visit_wheel, &search);
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        keel_status_ignore(status);
    }
    return NULL;
}
