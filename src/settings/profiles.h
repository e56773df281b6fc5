// profiles: named sets of XLA flags in the config file: `profile.fast = --xla_a=1 --xla_b=2`.
#ifndef KEEL_SETTINGS_PROFILES_H_
#define KEEL_SETTINGS_PROFILES_H_

#include "settings/settings.h"

// What their keys begin with, and the profile without flags.
#define KEEL_PROFILE_KEY "profile."
#define KEEL_PROFILE_NONE "none"

// A line of the config file; the later of two with one name counts. KEEL_INVALID if it is no
// profile; `where` is for the message.
keel_status_t keel_profile_add(keel_settings_t *settings, keel_str_t key, keel_str_t flags,
                               const char *where) KEEL_MUST_CHECK;
// KEEL_INVALID if the setting names a profile that the config file does not have; `where` is where
// the setting was written.
keel_status_t keel_profile_check(const keel_settings_t *settings,
                                 const char *where) KEEL_MUST_CHECK;
void keel_profiles_free(keel_settings_t *settings);

#endif // KEEL_SETTINGS_PROFILES_H_
