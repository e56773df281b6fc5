#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pjrt/pjrt.h"

// Name, and where its wheel puts it below site-packages; in order of preference.
#define KNOWN_PLUGINS(X)                                                                           \
    X("cpu", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")                                           \
    X("cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so")                                              \
    X("cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")                                       \
    X("cuda", "jax_plugins/xla_cuda13/xla_cuda_plugin.so")                                         \
    X("cuda", "jax_plugins/xla_cuda12/xla_cuda_plugin.so")                                         \
    X("tpu", "libtpu/libtpu.so")

static const struct {
    const char *name, *path;
} known[] = {
#define ROW(name, path) {name, path},
    KNOWN_PLUGINS(ROW)
#undef ROW
};
enum { KNOWN = sizeof known / sizeof *known };

typedef struct plugin_search_t {
    const char *name;   // of the plugin
    const char *folder; // lib, while its python3.x are walked
    char *found;        // what was found, NULL so far
    keel_buffer_t seen; // the folders searched
} plugin_search_t;

// Two Pythons may share one package folder.
static bool has_seen(const plugin_search_t *search, const char *folder) {
    size_t length = strlen(folder);
    const char *list = keel_buffer_cstr(&search->seen);
    for (const char *at = list; length && (at = strstr(at, folder)); at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ',')) return true;
    return false;
}

static keel_status_t look_in(plugin_search_t *search, const char *site_packages) {
    if (search->found || has_seen(search, site_packages)) return NULL;
    keel_buffer_format(&search->seen, "%s%s", search->seen.size ? ", " : "", site_packages);
    for (size_t i = 0; i < KNOWN && !search->found; ++i) {
        if (strcmp(known[i].name, search->name) != 0) continue;
        char *path;
        KEEL_TRY(keel_path(&path, "%s/%s", site_packages, known[i].path));
        if (keel_is_file(path))
            search->found = path;
        else
            keel_free(path);
    }
    return NULL;
}

static keel_status_t visit_python(void *context, const char *name) {
    plugin_search_t *search = context;
    if (strncmp(name, "python3", 7) != 0) return NULL;
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/%s/site-packages", search->folder, name));
    keel_status_t status = NULL;
    if (access(folder, F_OK) == 0) status = look_in(search, folder);
    keel_free(folder);
    return status;
}

// <prefix>/lib and lib64 hold python3.x/site-packages.
static keel_status_t look_below(plugin_search_t *search, const char *prefix) {
    static const char *const folders[] = {"lib", "lib64"};
    for (size_t i = 0; i < 2 && !search->found; ++i) {
        char *folder;
        KEEL_TRY(keel_path(&folder, "%s/%s", prefix, folders[i]));
        search->folder = folder;
        keel_status_t status = keel_directory_walk(folder, visit_python, search);
        keel_free(folder);
        KEEL_TRY(status);
    }
    return NULL;
}

// The prefix of <prefix>/bin/python. A virtual environment's interpreter is a link, so try the path
// as it is first, then resolved.
static keel_status_t look_beside(plugin_search_t *search, const char *interpreter) {
    char path[PATH_MAX];
    for (int resolve = 0; resolve < 2 && !search->found; ++resolve) {
        if (!resolve)
            snprintf(path, sizeof path, "%s", interpreter);
        else if (!realpath(interpreter, path))
            return NULL;
        for (int up = 0; up < 2; ++up) {
            char *slash = strrchr(path, '/');
            if (!slash) break;
            *slash = 0;
        }
        if (path[0]) KEEL_TRY(look_below(search, path));
    }
    return NULL;
}

static bool on_path(const char *program, char out[PATH_MAX]) {
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        if (length &&
            snprintf(out, PATH_MAX, "%.*s/%s", (int)length, folders, program) < PATH_MAX &&
            access(out, X_OK) == 0 && keel_is_file(out))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

// A Python knows the prefix under which it was started. /proc/self/exe loses that if the
// interpreter is a link, so try argv[0] first.
static bool own_interpreter(char out[PATH_MAX]) {
    uint8_t *line = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/cmdline", 1 << 22, &line, &size);
    keel_status_ignore(status);
    bool found = false;
    if (line && size && memchr(line, 0, size)) {
        const char *argv0 = (const char *)line;
        const char *slash = strrchr(argv0, '/');
        if (strncmp(slash ? slash + 1 : argv0, "python", 6) == 0)
            found = slash ? snprintf(out, PATH_MAX, "%s", argv0) < PATH_MAX : on_path(argv0, out);
    }
    keel_free(line);
    if (found) return true;
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (length <= 0) return false;
    out[length] = 0;
    const char *slash = strrchr(out, '/');
    return slash && strncmp(slash + 1, "python", 6) == 0;
}

static keel_status_t look_everywhere(plugin_search_t *search, const char *interpreter) {
    const char *paths = getenv("PYTHONPATH");
    while (paths && *paths && !search->found) {
        size_t length = strcspn(paths, ":");
        char *folder;
        KEEL_TRY(keel_path(&folder, "%.*s", (int)length, paths));
        keel_status_t status = length ? look_in(search, folder) : NULL;
        keel_free(folder);
        KEEL_TRY(status);
        paths += length + (paths[length] == ':');
    }
    char python[PATH_MAX];
    if (interpreter) {
        if (strchr(interpreter, '/')) return look_beside(search, interpreter);
        return on_path(interpreter, python) ? look_beside(search, python) : NULL;
    }
    if (!search->found && own_interpreter(python)) KEEL_TRY(look_beside(search, python));
    const char *environment = getenv("VIRTUAL_ENV");
    if (!search->found && environment && *environment) KEEL_TRY(look_below(search, environment));
    if (!search->found && (on_path("python3", python) || on_path("python", python)))
        KEEL_TRY(look_beside(search, python));
    return NULL;
}

// Keep the order of look_everywhere.
keel_status_t keel_python_find(const char *interpreter, char **out) {
    char path[PATH_MAX];
    const char *environment = getenv("VIRTUAL_ENV");
    *out = NULL;
    if (interpreter && strchr(interpreter, '/')) return keel_strdup(keel_str(interpreter), out);
    if (interpreter) return on_path(interpreter, path) ? keel_strdup(keel_str(path), out) : NULL;
    if (own_interpreter(path)) return keel_strdup(keel_str(path), out);
    if (environment && *environment &&
        snprintf(path, sizeof path, "%s/bin/python3", environment) < (int)sizeof path &&
        keel_is_file(path))
        return keel_strdup(keel_str(path), out);
    if (on_path("python3", path) || on_path("python", path))
        return keel_strdup(keel_str(path), out);
    return NULL;
}

// What to install for a plugin; NULL for a name that is unknown.
static const char *package_of(const char *name) {
    if (strcmp(name, "cpu") == 0) return "xla-cpu-pjrt";
    if (strcmp(name, "cuda") == 0) return "jax-cuda12-plugin";
    return strcmp(name, "tpu") == 0 ? "libtpu" : NULL;
}

// `how` says how else a plugin can be named.
static keel_status_t find_plugin(const char *name, const char *interpreter, const char *how,
                                 char **out) {
    if (strchr(name, '/')) {
        char resolved[PATH_MAX];
        return keel_path(out, "%s", realpath(name, resolved) ? resolved : name);
    }
    const char *package = package_of(name);
    if (!package)
        return keel_status_make(
            KEEL_INVALID,
            "plugin %s is neither a name that Keel knows (cpu, cuda, tpu) nor a path; "
            "set KEEL_PLUGIN to one of them",
            name);
    plugin_search_t search = {.name = name};
    keel_buffer_initialize(&search.seen, 1 << 16);
    keel_status_t status = look_everywhere(&search, interpreter);
    if (!status && !search.found)
        status = keel_status_make(
            KEEL_NOT_FOUND,
            "plugin %s is in none of the Python environments that Keel searched (%s); "
            "install %s there or %s",
            name, search.seen.size ? keel_buffer_cstr(&search.seen) : "none was found", package,
            how);
    keel_buffer_deinitialize(&search.seen);
    if (status) {
        keel_free(search.found);
        return status;
    }
    *out = search.found;
    return NULL;
}

keel_status_t keel_plugin_find(const char *name, const char *interpreter, char **out) {
    return find_plugin(name, interpreter, "set KEEL_PLUGIN to its path", out);
}

keel_status_t keel_plugin_find_compiler(const char *platform, const char *interpreter, char **out) {
    return find_plugin(platform, interpreter, "name its path with --plugin", out);
}

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool keel_plugin_is_jaxs_own(const char *path) {
    return strstr(path, "/jaxlib/");
}

bool keel_plugin_is_xla_cpu(const char *path) {
    for (size_t i = 0; i < KNOWN; ++i)
        if (strcmp(known[i].name, "cpu") == 0 && strcmp(file_of(path), file_of(known[i].path)) == 0)
            return true;
    return false;
}
