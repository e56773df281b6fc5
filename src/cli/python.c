#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"

static bool is_package(const char *folder) {
    char *table;
    keel_status_t status = keel_path(&table, "%s/fixes/fixes.json", folder);
    bool yes = !status && access(table, R_OK) == 0;
    if (!status) keel_free(table);
    keel_status_ignore(status);
    return yes;
}

// If keel is in <prefix>/bin: <prefix>/lib/keel/python/keel or, in a wheel, which keeps its
// programs in keel/native, the folder above the prefix.
keel_status_t cli_find_package(char **out) {
    static const char *const places[] = {"lib/keel/python/keel", ".."};
    char own[PATH_MAX], prefix[PATH_MAX], resolved[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return keel_status_make(KEEL_INTERNAL, "/proc/self/exe: cannot be read; is /proc mounted?");
    own[length] = 0;
    for (int up = 0; up < 2; ++up) {
        char *slash = strrchr(own, '/');
        if (slash) *slash = 0;
    }
    memcpy(prefix, own, sizeof prefix);
    *out = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !*out; ++i) {
        char *folder;
        KEEL_TRY(keel_path(&folder, "%s/%s", prefix, places[i]));
        keel_status_t status = NULL;
        // Does not resolve the link of a build tree: the library is found relative to it.
        if (is_package(folder))
            status =
                keel_strdup(keel_str(i && realpath(folder, resolved) ? resolved : folder), out);
        keel_free(folder);
        KEEL_TRY(status);
    }
    if (*out) return NULL;
    return keel_status_make(KEEL_NOT_FOUND,
                            "%s/%s: Keel's Python package is missing; build or install all of Keel",
                            prefix, places[0]);
}

// ---- fixes.json --------------------------------------------------------------------------------

static keel_status_t take_text(const json_t *object, const char *name, keel_arena_t *texts,
                               const char **out) {
    const char *text = json_string_value(json_object_get(object, name));
    if (!text) return keel_status_make(KEEL_CORRUPT, "a fix without %s; reinstall Keel", name);
    size_t size = strlen(text) + 1;
    void *copy;
    KEEL_TRY(keel_arena_alloc(texts, size, &copy));
    memcpy(copy, text, size);
    *out = copy;
    return NULL;
}

static keel_status_t take_fix(const json_t *object, keel_arena_t *texts, cli_fix_t *out) {
    KEEL_TRY(take_text(object, "name", texts, &out->name));
    KEEL_TRY(take_text(object, "label", texts, &out->label));
    KEEL_TRY(take_text(object, "reference", texts, &out->reference));
    KEEL_TRY(take_text(object, "url", texts, &out->url));
    KEEL_TRY(take_text(object, "client", texts, &out->client));
    KEEL_TRY(take_text(object, "first", texts, &out->first));
    KEEL_TRY(take_text(object, "last", texts, &out->last));
    return take_text(object, "sentence", texts, &out->sentence);
}

static keel_status_t take_fixes(const json_t *list, cli_fixes_t *out) {
    if (!json_is_array(list))
        return keel_status_make(KEEL_CORRUPT, "no list of fixes; reinstall Keel");
    void *memory;
    KEEL_TRY(keel_calloc(json_array_size(list), sizeof *out->list, &memory));
    out->list = memory;
    out->count = json_array_size(list);
    for (size_t i = 0; i < out->count; ++i)
        KEEL_TRY(take_fix(json_array_get(list, i), &out->texts, &out->list[i]));
    return NULL;
}

static keel_status_t read_fixes(const char *path, cli_fixes_t *out) {
    enum { LIMIT = 1 << 20 };
    uint8_t *data;
    size_t size;
    KEEL_TRY(keel_file_read(path, LIMIT, &data, &size));
    json_t *list = json_loadb((const char *)data, size, 0, NULL);
    keel_free(data);
    keel_status_t status = take_fixes(list, out);
    json_decref(list);
    return keel_status_annotate(status, "%s", path);
}

keel_status_t cli_fixes_read(const char *package, cli_fixes_t *out) {
    *out = (cli_fixes_t){0};
    keel_arena_initialize(&out->texts, 0);
    char *path;
    KEEL_TRY(keel_path(&path, "%s/fixes/fixes.json", package));
    keel_status_t status = read_fixes(path, out);
    keel_free(path);
    if (status) cli_fixes_release(out);
    return status;
}

void cli_fixes_release(cli_fixes_t *fixes) {
    keel_arena_deinitialize(&fixes->texts);
    keel_free(fixes->list);
    *fixes = (cli_fixes_t){0};
}

static bool is_fix(const cli_fixes_t *fixes, keel_str_t name) {
    for (size_t i = 0; i < fixes->count; ++i)
        if (keel_str_equal(name, keel_str(fixes->list[i].name))) return true;
    return keel_str_equal(name, KEEL_STR("all"));
}

static keel_status_t unknown_fix(const cli_fixes_t *fixes, keel_str_t name) {
    keel_buffer_t known;
    if (!name.size) name = KEEL_STR("an empty name");
    keel_buffer_initialize(&known, 1 << 16);
    for (size_t i = 0; i < fixes->count; ++i)
        keel_buffer_format(&known, "%s, ", fixes->list[i].name);
    keel_buffer_text(&known, "all");
    keel_status_t status = keel_buffer_status(&known);
    if (!status)
        status = keel_status_make(KEEL_INVALID,
                                  "--fix: %.*s is not a fix; known are %s (see `keel fixes`)",
                                  (int)name.size, name.data, keel_buffer_cstr(&known));
    keel_buffer_deinitialize(&known);
    return status;
}

keel_status_t cli_fixes_check(const char *package, const char *names) {
    cli_fixes_t fixes;
    KEEL_TRY(cli_fixes_read(package, &fixes));
    keel_status_t status = NULL;
    do {
        keel_str_t name = {names, strcspn(names, ",")};
        if (!is_fix(&fixes, name)) status = unknown_fix(&fixes, name);
        names += name.size;
    } while (!status && *names++);
    cli_fixes_release(&fixes);
    return status;
}
