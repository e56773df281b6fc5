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
    char folder[PATH_MAX]; // being walked
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
    bool is_there = bundle_read_head(&head, "%s/pyvenv.cfg", python->prefix);
    while (keel_str_line(&head.rest, &line))
        if (bundle_field(line, '=', &name, &value)) take_line(python, name, value);
    // "home" is the folder of the interpreter.
    if (!drop_levels(python->home, 1)) python->home[0] = 0;
    return is_there;
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
    if (realpath(folder, resolved) && !strchr(resolved, ':') && keel_is_folder(resolved))
        bundle_list_folder(&python->sites, keel_str(resolved));
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
        char folder[PATH_MAX];
        if (snprintf(folder, PATH_MAX, "%s/%s/%s", python->folder, name, kinds[i]) < PATH_MAX)
            add_site(python, folder);
    }
    return NULL;
}

static void look_below(python_t *python, const char *prefix, keel_bundle_t *bundle) {
    static const char *const folders[] = {"lib", "lib64", "local/lib"};
    for (int i = 0; i < 3; ++i) {
        if (snprintf(python->folder, PATH_MAX, "%s/%s", prefix, folders[i]) >= PATH_MAX) continue;
        bundle_looking(python->request, python->folder);
        keel_bundle_forgive(bundle, keel_directory_walk(python->folder, visit_folder, python));
    }
}

// A virtual environment does not see pip's "user" packages, unless it sees those outside.
static void find_sites(python_t *python, keel_bundle_t *bundle) {
    const char *paths = getenv("PYTHONPATH"), *home = getenv("HOME");
    char folder[BUNDLE_PATH];
    while (paths && bundle_folder(&paths, folder))
        add_site(python, folder);
    if (python->is_environment) look_below(python, python->prefix, bundle);
    if (python->is_environment && !python->sees_home) return;
    if (home && *home && !getenv("PYTHONNOUSERSITE") &&
        snprintf(folder, sizeof folder, "%s/.local", home) < (int)sizeof folder)
        look_below(python, folder, bundle);
    const char *outside = python->is_environment ? python->home : python->prefix;
    if (*outside) look_below(python, outside, bundle);
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

static void describe_python(python_t *python, keel_bundle_t *bundle) {
    // The process knows better than files written when its environment was made.
    if (python->request->is_client) ask_process(python);
    find_sites(python, bundle);
    keel_bundle_forgive(bundle, keel_buffer_status(&python->sites));
    const char *const facts[][2] = {{"path", python->path},
                                    {"prefix", python->prefix},
                                    {"version", python->version},
                                    {BUNDLE_SITES, keel_buffer_cstr(&python->sites)}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i)
        if (*facts[i][1])
            keel_bundle_add(bundle, KEEL_BUNDLE_INTERPRETER, keel_str(facts[i][0]),
                            keel_str(facts[i][1]));
}

void bundle_interpreter(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    python_t python = {.request = request};
    char *interpreter = NULL;
    const char *named = request->is_client ? NULL : request->interpreter;
    if (request->is_client && !ask_process(&python)) return;
    keel_buffer_initialize(&python.sites, KEEL_BUNDLE_VALUE_LIMIT);
    keel_bundle_forgive(bundle, keel_python_find(named, &interpreter));
    if (interpreter) bundle_looking(request, interpreter);
    if (interpreter && find_prefix(&python, interpreter)) describe_python(&python, bundle);
    bundle_looking(request, NULL);
    keel_free(interpreter);
    keel_buffer_deinitialize(&python.sites);
}
