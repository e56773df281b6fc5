// The plugin's file, and the wheel that it came from.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "probe/internal.h"

enum { FOLDERS_UP = 4, RECORD_LIMIT = 1 << 24 };

typedef struct wheel_search_t {
    keel_probe_t *probe;
    json_t *plugin;       // the facts about it
    const char *folder;   // that may contain site-packages' dist-info folders
    const char *relative; // the plugin's path from there
    bool found;
} wheel_search_t;

// A line of RECORD is path,digest,size. A path with a comma or a quote is quoted, and not searched
// for.
static bool find_line(keel_str_t record, const char *path, keel_str_t *out) {
    size_t length = strlen(path);
    while (keel_str_line(&record, out))
        if (out->size > length && out->data[length] == ',' && memcmp(out->data, path, length) == 0)
            return true;
    return false;
}

// Sets the size at the end of the line, if there is one.
static void take_size(wheel_search_t *search, keel_str_t line) {
    const char *comma = memrchr(line.data, ',', line.size);
    char digits[24], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)(line.data + line.size - comma - 1), comma + 1);
    long long size = strtoll(digits, &end, 10);
    if (end != digits && size >= 0 && strspn(end, "\r") == strlen(end))
        probe_set(search->probe, search->plugin, "recorded_size", json_integer(size));
}

// "xla_cpu_pjrt-0.0.1.dist-info" -> "xla_cpu_pjrt 0.0.1"
static void take_name(wheel_search_t *search, const char *dist_info) {
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", dist_info);
    *strstr(name, ".dist-info") = 0;
    char *dash = strchr(name, '-');
    if (dash) *dash = ' ';
    probe_set_text(search->probe, search->plugin, "wheel", name);
}

static keel_status_t visit_wheel(void *context, const char *name) {
    wheel_search_t *search = context;
    const char *suffix = strstr(name, ".dist-info");
    char *path;
    uint8_t *data;
    size_t size;
    keel_str_t line;
    if (search->found || !suffix || strcmp(suffix, ".dist-info") != 0) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s/RECORD", search->folder, name));
    keel_status_t status = keel_file_read(path, RECORD_LIMIT, &data, &size);
    keel_free(path);
    if (status) {
        keel_status_ignore(status); // a wheel without a record
        return NULL;
    }
    if (find_line(keel_bytes_str(keel_bytes(data, size)), search->relative, &line)) {
        search->found = true;
        take_name(search, name);
        take_size(search, line);
    }
    keel_free(data);
    return NULL;
}

static keel_status_t find_wheel(keel_probe_t *probe, const char *plugin) {
    char folder[PATH_MAX];
    wheel_search_t search = {.probe = probe, .plugin = probe_plugin(probe), .folder = folder};
    snprintf(folder, sizeof folder, "%s", plugin);
    for (int up = 0; up < FOLDERS_UP && !search.found; ++up) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = 0;
        search.relative = plugin + (slash - folder) + 1;
        keel_status_t status = keel_directory_walk(folder, visit_wheel, &search);
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        keel_status_ignore(status);
    }
    return NULL;
}

keel_status_t probe_look_at_file(const keel_probe_request_t *request, keel_probe_t *out) {
    keel_file_facts_t facts;
    char resolved[PATH_MAX], hex[KEEL_DIGEST_HEX];
    json_t *plugin = probe_plugin(out);
    const char *path = realpath(request->plugin, resolved) ? resolved : request->plugin;
    probe_set_text(out, plugin, "path", path);
    keel_status_t status = keel_file_facts(path, &facts);
    out->is_there = !status && facts.is_file;
    keel_status_ignore(status);
    if (!out->is_there) return NULL;
    if (request->wraps) probe_set_text(out, plugin, "wraps", request->wraps);
    probe_set(out, plugin, "size", json_integer((json_int_t)facts.size));
    status = keel_key_plugin_build(request->wraps ? request->wraps : path, request->digests,
                                   &out->build);
    out->build_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    keel_digest_hex(&out->build, hex);
    if (out->build_known) probe_set_text(out, plugin, "build", hex);
    return find_wheel(out, path);
}
