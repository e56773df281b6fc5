#include "settings/profiles.h"

#include <stdio.h>

#include "settings/shown.h"

static bool is_name(keel_str_t name) {
    for (size_t i = 0; i < name.size; ++i)
        if (!keel_is_of_name(name.data[i]) && name.data[i] != '-' && name.data[i] != '.')
            return false;
    return name.size && !keel_str_is(name, KEEL_PROFILE_NONE);
}

static keel_flag_profile_t *find_profile(const keel_settings_t *settings, keel_str_t name) {
    for (size_t i = 0; i < settings->profile_count; ++i)
        if (keel_str_is(name, settings->profiles[i].name)) return &settings->profiles[i];
    return NULL;
}

static keel_status_t set_flags(keel_flag_profile_t *profile, keel_str_t flags) {
    char *copy;
    KEEL_TRY(keel_strdup(flags, &copy));
    keel_free(profile->flags);
    profile->flags = copy;
    return NULL;
}

keel_status_t keel_profile_add(keel_settings_t *settings, keel_str_t key, keel_str_t flags,
                               const char *where) {
    keel_shown_t shown;
    size_t skipped = sizeof KEEL_PROFILE_KEY - 1;
    keel_str_t name = {key.data + skipped, key.size - skipped};
    if (!is_name(name))
        return keel_status_make(KEEL_INVALID,
                                "%s: '%s' names no profile; use letters, digits, - and _, and not "
                                "none",
                                where, keel_setting_show(key, &shown));
    if (!keel_str_starts(flags, KEEL_STR("--")))
        return keel_status_make(KEEL_INVALID,
                                "%s: '%s' is not a list of flags; write --xla_a=1 --xla_b=2", where,
                                keel_setting_show(flags, &shown));
    keel_flag_profile_t *known = find_profile(settings, name);
    if (known) return set_flags(known, flags);
    void *grown = settings->profiles;
    KEEL_TRY(keel_grow_array(settings->profile_count, sizeof *settings->profiles,
                             &settings->profile_capacity, &grown));
    settings->profiles = grown;
    keel_flag_profile_t *profile = &settings->profiles[settings->profile_count];
    *profile = (keel_flag_profile_t){.name = NULL};
    KEEL_TRY(keel_strdup(name, &profile->name));
    ++settings->profile_count;
    return set_flags(profile, flags);
}

const char *keel_settings_profile_flags(const keel_settings_t *settings) {
    const keel_flag_profile_t *profile =
        find_profile(settings, keel_str(keel_settings_text(settings, KEEL_SETTING_PROFILE)));
    return profile ? profile->flags : "";
}

keel_status_t keel_profile_check(const keel_settings_t *settings, const char *where) {
    const char *name = keel_settings_text(settings, KEEL_SETTING_PROFILE);
    char known[256] = KEEL_PROFILE_NONE;
    keel_shown_t shown;
    if (strcmp(name, KEEL_PROFILE_NONE) == 0 || find_profile(settings, keel_str(name))) return NULL;
    for (size_t i = 0; i < settings->profile_count; ++i) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", settings->profiles[i].name);
    }
    return keel_status_make(KEEL_INVALID,
                            "%s: '%s' is not a flag profile; the config file has %s; add one with "
                            "profile.NAME = --xla_a=1",
                            where, keel_setting_show(keel_str(name), &shown), known);
}

void keel_profiles_free(keel_settings_t *settings) {
    for (size_t i = 0; i < settings->profile_count; ++i) {
        keel_free(settings->profiles[i].name);
        keel_free(settings->profiles[i].flags);
    }
    keel_free(settings->profiles);
}
