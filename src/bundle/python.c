// The interpreter and its package folders, from the file system: starts no Python.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bundle/internal.h"

typedef struct python_t {
    const keel_bundle_request_t *request;
    keel_bundle_t *bundle;
    char path[PATH_MAX];   // of the interpreter, under the name it was given
    char prefix[PATH_MAX]; // above its bin
    char home[PATH_MAX];   // of a virtual environment: the prefix of the Python it was made from
    char version[32];      // "3.13.0", or "3.13" if no more is known; or ""
    char implementation[32];
    bool is_environment; // a virtual one
    bool sees_home;      // and it sees the packages there
    const char *folder;  // being walked
    keel_buffer_t sites; // a:b:c
} python_t;

// <prefix> of <prefix>/bin/python; false if there is no folder above it.
static bool drop_levels(char *path, int levels) {
    while (levels--) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return *path;
}

// ---- pyvenv.cfg --------------------------------------------------------------------------------

static void copy_value(keel_str_t value, char *out, size_t room) {
    if (value.size < room) snprintf(out, room, "%.*s", KEEL_STR_ARGS(value));
}

static void take_line(python_t *python, keel_str_t name, keel_str_t value) {
    if (keel_str_is(name, "home"))
        copy_value(value, python->home, sizeof python->home);
    else if (keel_str_is(name, "version") || keel_str_is(name, "version_info"))
        copy_value(value, python->version, sizeof python->version);
    else if (keel_str_is(name, "implementation"))
        copy_value(value, python->implementation, sizeof python->implementation);
    else if (keel_str_is(name, "include-system-site-packages"))
        python->sees_home = value.size == 4 && strncasecmp(value.data, "true", 4) == 0;
}

// virtualenv writes "3.13.0.final.0" for 3.13.0.
static void shorten(char *version) {
    size_t at = 0;
    for (int dots = 0; version[at]; ++at) {
        if (version[at] == '.' && ++dots == 3) break;
        if (version[at] != '.' && !isdigit((unsigned char)version[at]) && dots == 2) break;
    }
    version[at] = 0;
}

static bool read_settings(python_t *python) {
    bundle_head_t head;
    keel_str_t line, name, value;
    keel_status_ignore(bundle_read_head(&head, "%s/pyvenv.cfg", python->prefix));
    while (keel_str_line(&head.rest, &line))
        if (bundle_field(line, '=', &name, &value)) take_line(python, name, value);
    shorten(python->version);
    // "home" is the folder of the interpreter.
    if (!drop_levels(python->home, 1)) python->home[0] = 0;
    return head.is_there;
}

// The prefix from the interpreter's name, if that is a virtual environment; otherwise where its
// link leads.
static bool find_prefix(python_t *python, const char *interpreter) {
    char folder[PATH_MAX] = "";
    bool is_whole = interpreter[0] == '/';
    if (!is_whole && !getcwd(folder, sizeof folder)) return false;
    int size = snprintf(python->path, sizeof python->path, "%s%s%s", folder, is_whole ? "" : "/",
                        interpreter);
    if (size < 0 || (size_t)size >= sizeof python->path) return false;
    memcpy(python->prefix, python->path, sizeof python->path);
    bool below =
        drop_levels(python->prefix, 2); // /bin/python3 is not below one, and usually a link
    python->is_environment = below && read_settings(python);
    if (python->is_environment) return true;
    char resolved[PATH_MAX];
    if (!realpath(interpreter, resolved) || !drop_levels(resolved, 2)) return below;
    memcpy(python->prefix, resolved, sizeof resolved);
    return true;
}

// ---- folders -----------------------------------------------------------------------------------

static void add_site(python_t *python, const char *folder) {
    char resolved[PATH_MAX];
    bundle_looking(python->request, folder);
    if (!realpath(folder, resolved) || strchr(resolved, ':') || !keel_is_folder(resolved)) return;
    size_t length = strlen(resolved);
    const char *list = keel_buffer_cstr(&python->sites);
    for (const char *at = list; (at = strstr(at, resolved)); at += length)
        if ((at == list || at[-1] == ':') && (!at[length] || at[length] == ':')) return;
    keel_buffer_format(&python->sites, "%s%s", python->sites.size ? ":" : "", resolved);
}

// If folders python3.11 and python3.13 exist side by side, only the interpreter's own counts.
static bool is_own(const python_t *python, const char *name) {
    if (strcmp(name, "python3") == 0 || !python->version[0]) return true;
    size_t length = strlen(name);
    return strncmp(python->version, name + 6, length - 6) == 0 &&
           strchr(".", python->version[length - 6]);
}

static keel_status_t visit_folder(void *context, const char *name) {
    static const char *const kinds[] = {"site-packages", "dist-packages"};
    python_t *python = context;
    bool is_pypy = strncmp(name, "pypy3", 5) == 0;
    if (!is_pypy && (strncmp(name, "python3", 7) != 0 || !is_own(python, name))) return NULL;
    if (!python->version[0] && !is_pypy && name[7] == '.')
        snprintf(python->version, sizeof python->version, "%.16s", name + 6);
    if (!python->implementation[0])
        snprintf(python->implementation, sizeof python->implementation,
                 is_pypy ? "PyPy" : "CPython");
    for (int i = 0; i < 2; ++i) {
        char *folder;
        KEEL_TRY(keel_path(&folder, "%s/%s/%s", python->folder, name, kinds[i]));
        add_site(python, folder);
        keel_free(folder);
    }
    return NULL;
}

static keel_status_t look_below(python_t *python, const char *prefix) {
    static const char *const folders[] = {"lib", "lib64", "local/lib"};
    for (int i = 0; i < 3; ++i) {
        char *folder;
        KEEL_TRY(keel_path(&folder, "%s/%s", prefix, folders[i]));
        bundle_looking(python->request, folder);
        python->folder = folder;
        keel_status_t status = keel_directory_walk(folder, visit_folder, python);
        keel_free(folder);
        KEEL_TRY(bundle_forgive(status));
    }
    return NULL;
}

static void add_python_path(python_t *python) {
    const char *paths = getenv("PYTHONPATH");
    char folder[BUNDLE_PATH];
    while (paths && bundle_folder(&paths, folder))
        add_site(python, folder);
}

// From "python3.11": if nothing else gives the version, the name at the end of the links does.
static void take_version(python_t *python) {
    char resolved[PATH_MAX];
    if (python->version[0] || !realpath(python->path, resolved)) return;
    const char *name = strrchr(resolved, '/');
    if (name && strncmp(name + 1, "python3.", 8) == 0 && isdigit((unsigned char)name[9]))
        snprintf(python->version, sizeof python->version, "%.16s", name + 7);
}

// pip's "user" packages; a virtual environment does not see them.
static keel_status_t look_at_user(python_t *python) {
    const char *home = getenv("HOME");
    if (!home || !*home || getenv("PYTHONNOUSERSITE")) return NULL;
    char *prefix;
    KEEL_TRY(keel_path(&prefix, "%s/.local", home));
    keel_status_t status = look_below(python, prefix);
    keel_free(prefix);
    return status;
}

static keel_status_t find_sites(python_t *python) {
    add_python_path(python);
    take_version(python);
    if (python->is_environment) KEEL_TRY(look_below(python, python->prefix));
    if (!python->is_environment || python->sees_home) KEEL_TRY(look_at_user(python));
    if (python->is_environment && python->sees_home && python->home[0])
        return look_below(python, python->home);
    return python->is_environment ? NULL : look_below(python, python->prefix);
}

// Python's headers next to a bare "3.11" give the full version.
static void complete_version(python_t *python) {
    bundle_head_t head;
    keel_str_t line, start = KEEL_STR("#define PY_VERSION");
    const char *dot = strchr(python->version, '.');
    if (!dot || strchr(dot + 1, '.')) return;
    keel_status_ignore(bundle_read_head(&head, "%s/include/python%s/patchlevel.h",
                                        python->home[0] ? python->home : python->prefix,
                                        python->version));
    while (keel_str_line(&head.rest, &line)) {
        if (!keel_str_starts(line, start)) continue;
        keel_str_t value =
            bundle_trim((keel_str_t){line.data + start.size, line.size - start.size});
        if (value.size > 2 && value.data[0] == '"')
            copy_value((keel_str_t){value.data + 1, value.size - 2}, python->version,
                       sizeof python->version);
    }
}

// ---- inside a client ---------------------------------------------------------------------------

// "3.13.0 (main, ...) [GCC 12.2.0]"; false if the process is not a Python.
static bool ask_process(python_t *python) {
    const char *(*get)(void);
    *(void **)&get = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    const char *text = get ? get() : NULL;
    if (!text) return false;
    size_t length = strcspn(text, " ");
    if (length < sizeof python->version)
        snprintf(python->version, sizeof python->version, "%.*s", (int)length, text);
    snprintf(python->implementation, sizeof python->implementation,
             strstr(text, "PyPy") ? "PyPy" : "CPython");
    return true;
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t add_text(python_t *python, const char *name, const char *value) {
    if (!*value) return NULL;
    return bundle_add(python->bundle, KEEL_BUNDLE_INTERPRETER, keel_str(name), keel_str(value));
}

static keel_status_t add_interpreter(python_t *python) {
    KEEL_TRY(add_text(python, "path", python->path));
    KEEL_TRY(add_text(python, "prefix", python->prefix));
    KEEL_TRY(add_text(python, "version", python->version));
    KEEL_TRY(add_text(python, "implementation", python->implementation));
    return add_text(python, BUNDLE_SITES, keel_buffer_cstr(&python->sites));
}

static keel_status_t describe_python(python_t *python, const char *interpreter, bool is_client) {
    bundle_looking(python->request, interpreter);
    if (!find_prefix(python, interpreter)) return NULL;
    // The process knows better than files written when its environment was made.
    if (is_client) ask_process(python);
    KEEL_TRY(find_sites(python));
    KEEL_TRY(bundle_forgive(keel_buffer_status(&python->sites)));
    complete_version(python);
    return add_interpreter(python);
}

keel_status_t bundle_interpreter(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    python_t *python;
    void *memory;
    char *interpreter = NULL;
    KEEL_TRY(keel_calloc(1, sizeof *python, &memory));
    python = memory;
    python->request = request;
    python->bundle = bundle;
    keel_buffer_initialize(&python->sites, KEEL_BUNDLE_VALUE_LIMIT);
    keel_status_t status = NULL;
    if (!request->is_client || ask_process(python))
        status = keel_python_find(request->is_client ? NULL : request->interpreter, &interpreter);
    if (!status && interpreter) status = describe_python(python, interpreter, request->is_client);
    bundle_looking(request, NULL);
    keel_free(interpreter);
    keel_buffer_deinitialize(&python->sites);
    keel_free(python);
    return bundle_forgive(status);
}
