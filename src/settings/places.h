// Default locations: the XDG base directories, and paths beside Keel's own files. Each gives a path
// that the caller frees. Source: XDG Base Directory Specification 0.8, which says to ignore a
// variable that is not absolute.
#ifndef KEEL_SETTINGS_PLACES_H_
#define KEEL_SETTINGS_PLACES_H_

#include "base/base.h"

// *out is NULL if there is no home folder either.
keel_status_t keel_place_config(char **out) KEEL_MUST_CHECK;
keel_status_t keel_place_cache(char **out) KEEL_MUST_CHECK;
keel_status_t keel_place_keys(char **out) KEEL_MUST_CHECK;
keel_status_t keel_place_runs(char **out) KEEL_MUST_CHECK;

// Expands "~" and "~/...", and makes a relative path absolute. The path need not exist.
keel_status_t keel_place_absolute(const char *path, char **out) KEEL_MUST_CHECK;

#endif // KEEL_SETTINGS_PLACES_H_
