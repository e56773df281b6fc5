#define _GNU_SOURCE
#include "settings/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "settings/settings.h"
#include "settings/shown.h"

// The home folder, or NULL. `room` holds it if it comes from the user database.
static const char *home(char room[PATH_MAX]) {
    const char *named = getenv("HOME");
    if (named && named[0] == '/') return named;
    struct passwd entry, *found;
    char texts[4096];
    if (getpwuid_r(getuid(), &entry, texts, sizeof texts, &found) || !found) return NULL;
    if (!found->pw_dir || found->pw_dir[0] != '/') return NULL;
    snprintf(room, PATH_MAX, "%s", found->pw_dir);
    return room;
}

// $variable/tail, else ~/fallback/tail; *out is NULL if there is no home folder.
static keel_status_t based_on(const char *variable, const char *fallback, const char *tail,
                              char **out) {
    const char *base = getenv(variable);
    if (base && base[0] == '/') return keel_path(out, "%s/%s", base, tail);
    char room[PATH_MAX];
    const char *folder = home(room);
    *out = NULL;
    return folder ? keel_path(out, "%s/%s/%s", folder, fallback, tail) : NULL;
}

keel_status_t keel_place_config(char **out) {
    return based_on("XDG_CONFIG_HOME", ".config", "keel/config", out);
}

keel_status_t keel_place_cache(char **out) {
    return based_on("XDG_CACHE_HOME", ".cache", "keel", out);
}

keel_status_t keel_place_keys(char **out) {
    return based_on("XDG_CONFIG_HOME", ".config", "keel/keys", out);
}

keel_status_t keel_place_runs(char **out) {
    return based_on("XDG_STATE_HOME", ".local/state", "keel/runs", out);
}

keel_status_t keel_place_absolute(const char *path, char **out) {
    if (path[0] == '~' && (path[1] == '/' || !path[1])) {
        char room[PATH_MAX];
        const char *folder = home(room);
        if (!folder)
            return keel_status_make(KEEL_INVALID,
                                    "%s: there is no home folder; use an absolute path", path);
        return keel_path(out, "%s%s", folder, path + 1);
    }
    if (path[0] == '/') return keel_path(out, "%s", path);
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return keel_status_make(
            KEEL_INVALID, "%s: the current folder no longer exists; use a path that begins with /",
            path);
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return keel_path(out, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
}

keel_status_t keel_settings_check_folder(const char *folder, const char *setting) {
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char later[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    size_t scheme = strspn(folder, first) ? strspn(folder, later) : 0;
    if (!scheme || strncmp(folder + scheme, "://", 3) != 0) return NULL;
    keel_shown_t shown;
    const char *text = keel_setting_show(keel_str(folder), &shown);
    if (scheme == 4 && strncasecmp(folder, "file", 4) == 0)
        return keel_status_make(KEEL_INVALID, "%s: %s is a URI; use the plain path: %s", setting,
                                text, text + 7);
    return keel_status_make(KEEL_INVALID,
                            "%s: %s is a remote address; set %s to a folder on this machine, and "
                            "share it with others by the setting remotes",
                            setting, text, setting);
}

// The folder of the file that this code was loaded from: bin/keel or lib/libkeel_pjrt.so.
static bool own_folder(char out[PATH_MAX]) {
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr((const void *)(uintptr_t)&keel_settings_embedded_plugin, &info)) return false;
    // For the main program, the name is how it was invoked, which may not be a path.
    const char *name = info.dli_fname && strchr(info.dli_fname, '/') ? info.dli_fname : NULL;
    if (!realpath(name ? name : "/proc/self/exe", path)) return false;
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
    memcpy(out, path, strlen(path) + 1);
    return true;
}

// The plugin at `path`, relative to the folder of this code; NULL if there is none.
static keel_status_t beside(const char *folder, const char *path, char **out) {
    char *whole, resolved[PATH_MAX];
    KEEL_TRY(keel_path(&whole, "%s/%s", folder, path));
    bool found = keel_is_file(whole) && realpath(whole, resolved);
    keel_free(whole);
    return found ? keel_path(out, "%s", resolved) : NULL;
}

keel_status_t keel_settings_embedded_plugin(char **out) {
    static const char *const places[] = {
        "../lib/keel/" KEEL_EMBEDDED_PLUGIN, // installed; a link in a build tree
        // In a wheel: site-packages/keel/native/lib, with the package xla-cpu-pjrt beside it.
        "../../../xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
    };
    char folder[PATH_MAX];
    *out = NULL;
    bool known = own_folder(folder);
    for (size_t i = 0; known && i < sizeof places / sizeof *places && !*out; ++i)
        KEEL_TRY(beside(folder, places[i], out));
    return *out ? NULL : keel_path(out, "%s", "");
}

keel_status_t keel_settings_helper(char **out) {
    char folder[PATH_MAX];
    *out = NULL;
    if (own_folder(folder)) KEEL_TRY(beside(folder, "../bin/keel-remote", out));
    return *out ? NULL : keel_path(out, "%s", "");
}
