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
    char path[PATH_MAX];   // of the interpreter, under the name it was given
    char prefix[PATH_MAX]; // above its bin
    char home[PATH_MAX];   // of a virtual environment: the prefix of the Python it was made from
    char version[32];      // "3.13.0", or "3.13" if no more is known; or ""
    bool is_environment;   // a virtual one
    bool sees_home;        // and it sees the packages there
    const char *folder;    // being walked
    keel_buffer_t sites;   // a:b:c
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

// The first numbers of "3.13.0.final.0" or "3.13.0+ (main, ...)", at most three.
static void set_version(python_t *python, const char *text) {
    size_t length = 0;
    for (int dots = 0; isdigit((unsigned char)text[length]) || text[length] == '.'; ++length)
        if (text[length] == '.' && ++dots == 3) break;
    snprintf(python->version, sizeof python->version, "%.*s", (int)length, text);
}

// ---- the environment ---------------------------------------------------------------------------

static void take_line(python_t *python, keel_str_t name, keel_str_t value) {
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(value));
    if (keel_str_is(name, "home"))
        memcpy(python->home, text, sizeof text);
    else if (keel_str_is(name, "version") || keel_str_is(name, "version_info"))
        set_version(python, text);
    else if (keel_str_is(name, "include-system-site-packages"))
        python->sees_home = strcasecmp(text, "true") == 0;
}

// False if the prefix is not that of a virtual environment.
static bool read_config(python_t *python) {
    bundle_head_t head;
    keel_str_t line, name, value;
    keel_status_ignore(bundle_read_head(&head, "%s/pyvenv.cfg", python->prefix));
    while (keel_str_line(&head.rest, &line))
        if (bundle_field(line, '=', &name, &value)) take_line(python, name, value);
    // "home" is the folder of the interpreter.
    if (!drop_levels(python->home, 1)) python->home[0] = 0;
    return head.is_there;
}

// The prefix from the interpreter's name, if that is a virtual environment; otherwise where its
// link leads.
static bool find_prefix(python_t *python, const char *interpreter) {
    char folder[PATH_MAX] = "", resolved[PATH_MAX];
    bool is_whole = interpreter[0] == '/';
    if (!is_whole && !getcwd(folder, sizeof folder)) return false;
    int size = snprintf(python->path, sizeof python->path, "%s%s%s", folder, is_whole ? "" : "/",
                        interpreter);
    if (size < 0 || (size_t)size >= sizeof python->path) return false;
    memcpy(python->prefix, python->path, sizeof python->path);
    // /bin/python3 is not below a prefix, and usually a link.
    bool below = drop_levels(python->prefix, 2);
    python->is_environment = below && read_config(python);
    if (python->is_environment) return true;
    if (!realpath(interpreter, resolved)) return below;
    // If nothing else gives the version, the name at the end of the links does: "python3.11".
    const char *name = strrchr(resolved, '/');
    if (strncmp(name, "/python3.", 9) == 0) set_version(python, name + 7);
    if (!drop_levels(resolved, 2)) return below;
    memcpy(python->prefix, resolved, sizeof resolved);
    return true;
}

// ---- folders -----------------------------------------------------------------------------------

static void add_site(python_t *python, const char *folder) {
    char resolved[PATH_MAX];
    bundle_looking(python->request, folder);
    if (!realpath(folder, resolved) || strchr(resolved, ':') || !keel_is_folder(resolved)) return;
    if (!bundle_lists(keel_buffer_cstr(&python->sites), keel_str(resolved)))
        keel_buffer_format(&python->sites, "%s%s", python->sites.size ? ":" : "", resolved);
}

// If folders python3.11 and python3.13 exist side by side, only the interpreter's own counts.
static keel_status_t visit_folder(void *context, const char *name) {
    static const char *const kinds[] = {"site-packages", "dist-packages"};
    python_t *python = context;
    if (strncmp(name, "python3", 7) != 0) return NULL;
    if (name[7] == '.') {
        if (!python->version[0]) set_version(python, name + 6);
        size_t length = strlen(name + 6);
        if (strncmp(python->version, name + 6, length) != 0 ||
            !strchr(".", python->version[length]))
            return NULL;
    }
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

// A virtual environment does not see pip's "user" packages, unless it sees those outside.
static keel_status_t find_sites(python_t *python) {
    const char *paths = getenv("PYTHONPATH"), *home = getenv("HOME");
    char folder[BUNDLE_PATH];
    while (paths && bundle_folder(&paths, folder))
        add_site(python, folder);
    if (python->is_environment) KEEL_TRY(look_below(python, python->prefix));
    if (python->is_environment && !python->sees_home) return NULL;
    if (home && *home && !getenv("PYTHONNOUSERSITE") &&
        snprintf(folder, sizeof folder, "%s/.local", home) < (int)sizeof folder)
        KEEL_TRY(look_below(python, folder));
    const char *outside = python->is_environment ? python->home : python->prefix;
    return *outside ? look_below(python, outside) : NULL;
}

// ---- all of it ---------------------------------------------------------------------------------

// Inside a client: false if the process is not a Python.
static bool ask_process(python_t *python) {
    const char *(*get)(void);
    *(void **)&get = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    const char *text = get ? get() : NULL;
    if (text) set_version(python, text);
    return text;
}

static keel_status_t add_interpreter(const python_t *python, keel_bundle_t *bundle) {
    const char *const facts[][2] = {{"path", python->path},
                                    {"prefix", python->prefix},
                                    {"version", python->version},
                                    {BUNDLE_SITES, keel_buffer_cstr(&python->sites)}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i)
        if (*facts[i][1])
            KEEL_TRY(keel_bundle_add(bundle, KEEL_BUNDLE_INTERPRETER, keel_str(facts[i][0]),
                                     keel_str(facts[i][1])));
    return NULL;
}

static keel_status_t describe_python(python_t *python, const char *interpreter, bool is_client,
                                     keel_bundle_t *bundle) {
    bundle_looking(python->request, interpreter);
    if (!find_prefix(python, interpreter)) return NULL;
    // The process knows better than files written when its environment was made.
    if (is_client) ask_process(python);
    KEEL_TRY(find_sites(python));
    KEEL_TRY(bundle_forgive(keel_buffer_status(&python->sites)));
    return add_interpreter(python, bundle);
}

keel_status_t bundle_interpreter(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    void *memory;
    char *interpreter = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(python_t), &memory));
    python_t *python = memory;
    python->request = request;
    keel_buffer_initialize(&python->sites, KEEL_BUNDLE_VALUE_LIMIT);
    keel_status_t status = NULL;
    if (!request->is_client || ask_process(python))
        status = keel_python_find(request->is_client ? NULL : request->interpreter, &interpreter);
    if (!status && interpreter)
        status = describe_python(python, interpreter, request->is_client, bundle);
    bundle_looking(request, NULL);
    keel_free(interpreter);
    keel_buffer_deinitialize(&python->sites);
    keel_free(python);
    return bundle_forgive(status);
}
