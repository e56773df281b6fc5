#include <errno.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"
#include "journal/journal.h"

keel_status_t cli_read_file(const char *path, uint8_t **out, size_t *out_size) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        return keel_status_make(KEEL_NOT_FOUND, "%s: no such file; check the path", path);
    }
    KEEL_TRY(status);
    if (facts.is_directory)
        return keel_status_make(KEEL_INVALID, "%s: is a folder; name a file", path);
    // The readers' own limit: slices are 31 bits.
    return keel_file_read(path, INT32_MAX, out, out_size);
}

static keel_status_t folder_of(const char *path, char **out) {
    const char *slash = strrchr(path, '/');
    if (!slash) return keel_path(out, ".");
    return slash == path ? keel_path(out, "/") : keel_path(out, "%.*s", (int)(slash - path), path);
}

static keel_status_t check_folder_of(const char *path) {
    char *folder;
    KEEL_TRY(folder_of(path, &folder));
    keel_status_t status = NULL;
    if (!keel_is_folder(folder))
        status = keel_status_make(KEEL_NOT_FOUND, "%s: its folder does not exist; create it first",
                                  path);
    else if (access(folder, W_OK))
        status = keel_status_make(KEEL_IO, "%s: its folder cannot be written: %s", path,
                                  strerror(errno));
    keel_free(folder);
    return status;
}

// A regular file is replaced, which its folder must allow. /dev/stdout is fine.
keel_status_t cli_check_output(const char *path) {
    keel_file_facts_t there = {.is_file = true};
    if (keel_is_folder(path))
        return keel_status_make(KEEL_INVALID, "%s: is a folder; name a file", path);
    keel_status_ignore(keel_file_facts(path, &there)); // nothing is there yet
    if (there.is_file && !keel_is_link(path)) return check_folder_of(path);
    if (access(path, W_OK))
        return keel_status_make(KEEL_IO, "%s: cannot be written: %s", path, strerror(errno));
    return NULL;
}

keel_status_t cli_write_output(const char *path, keel_buffer_t *text) {
    keel_status_t status = keel_buffer_status(text);
    if (!status) status = keel_file_replace_public(path, keel_buffer_bytes(text));
    keel_buffer_deinitialize(text);
    return status;
}

keel_status_t cli_digests_folder(const keel_settings_t *settings, char **out) {
    const char *folder = keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
    *out = NULL;
    return *folder ? keel_path(out, "%s/plugins", folder) : NULL;
}

keel_status_t cli_check_folder(const keel_settings_t *settings, keel_setting_t which) {
    keel_file_facts_t facts;
    const char *path = keel_settings_text(settings, which);
    KEEL_TRY(keel_settings_need_folder(settings, which));
    keel_status_t status = keel_file_facts(path, &facts);
    if (status && keel_status_code(status) != KEEL_NOT_FOUND) return status;
    bool good = status || facts.is_directory;
    keel_status_ignore(status);
    if (good) return NULL;
    const keel_setting_facts_t *setting = keel_setting_facts(which);
    return keel_status_make(KEEL_INVALID, "%s: not a folder; set %s or %s to one", path,
                            setting->environment, setting->flag);
}

static keel_status_t split_options(keel_bytes_t options, unsigned backends, const char *path,
                                   keel_buffer_t text[3], keel_key_t *key) {
    bool understood = false;
    KEEL_TRY(keel_key_options(options, backends, &text[0], &text[1], &text[2], &understood));
    if (!understood)
        return keel_status_make(
            KEEL_INVALID, "%s: not compile options; give a serialized CompileOptionsProto", path);
    KEEL_TRY(keel_key_set(key, KEEL_COMPONENT_OPTIONS, keel_buffer_bytes(&text[0]),
                          keel_bytes_str(keel_buffer_bytes(&text[2]))));
    return keel_key_set(key, KEEL_COMPONENT_DEVICE_ASSIGNMENT, keel_buffer_bytes(&text[1]),
                        KEEL_STR(""));
}

keel_status_t cli_key_options(keel_bytes_t options, unsigned backends, const char *path,
                              keel_key_t *key) {
    keel_buffer_t text[3]; // canonical, device assignment, readable
    for (int i = 0; i < 3; ++i)
        keel_buffer_initialize(&text[i], 0);
    keel_status_t status = split_options(options, backends, path, text, key);
    for (int i = 0; i < 3; ++i)
        keel_buffer_deinitialize(&text[i]);
    return status;
}

keel_status_t cli_key_component(const json_t *event, keel_component_t component, keel_key_t *key) {
    const char *name = keel_component_name(component);
    const json_t *values = json_object_get(event, "values");
    keel_digest_t digest;
    if (!keel_event_digest(json_object_get(event, "components"), name, &digest)) return NULL;
    KEEL_TRY(
        keel_key_set(key, component, keel_bytes(NULL, 0), keel_str(keel_event_text(values, name))));
    key->components[component] = digest;
    return NULL;
}
