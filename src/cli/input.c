#include "cli/cli.h"

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
