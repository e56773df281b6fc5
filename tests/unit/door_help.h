// What the tests of the plugin door share. PJRT knows one plugin a process, so every case runs in
// processes of its own: a fork of the test that asks for Keel's table like any client, with the
// plugin of tests/plugin below it. What the children did shows in the plugin's record of calls, the
// journal, the cache folder, stderr and their exit status.
#ifndef KEEL_TESTS_DOOR_HELP_H_
#define KEEL_TESTS_DOOR_HELP_H_

#include "store_help.h"

#include <signal.h>
#include <sys/wait.h>

#include "pjrt/error.h"
#include "pjrt_help.h"
#include "plugin/test_plugin.h"
#include "shim/shim.h"

typedef struct door_t {
    place_t place;
    char calls[300], errors[300], runs[300];
} door_t;

UNUSED static int door_setup(void **state) {
    door_t *door = calloc(1, sizeof *door);
    place_make(&door->place);
    snprintf(door->calls, sizeof door->calls, "%s/calls", door->place.root);
    snprintf(door->errors, sizeof door->errors, "%s/stderr", door->place.root);
    snprintf(door->runs, sizeof door->runs, "%s/runs", door->place.root);
    *state = door;
    return 0;
}

UNUSED static int door_teardown(void **state) {
    door_t *door = *state;
    place_remove(&door->place);
    free(door);
    return 0;
}

// `settings`: "NAME=VALUE" lines over the ordinary environment.
static inline void door_environment(const door_t *door, const char *settings) {
    static const char *const names[] = {
        "KEEL_MODE",        "KEEL_CACHE_LIMIT", "KEEL_CUSTOM_CALLS", "KEEL_MEMORY_LIMIT",
        "KEEL_RUN_ID",      "KEEL_QUIET",       "KEEL_PREFETCH",     "KEEL_SHARED_CACHE",
        "KEEL_CPU_DEVICES", "TEST_PLUGIN",      "XLA_FLAGS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        unsetenv(names[i]);
    setenv("HOME", door->place.root, 1);
    setenv("KEEL_CONFIG", "/dev/null", 1);
    setenv("KEEL_PLUGIN", KEEL_TEST_PLUGIN, 1);
    setenv("KEEL_CACHE_DIR", door->place.cache, 1);
    setenv("KEEL_RUN_DIR", door->runs, 1);
    setenv("TEST_PLUGIN_CALLS", door->calls, 1);
    while (settings && *settings) {
        char line[1024], *equals;
        size_t size = strcspn(settings, "\n");
        snprintf(line, sizeof line, "%.*s", (int)size, settings);
        equals = strchr(line, '=');
        CHECK(equals);
        *equals = 0;
        setenv(line, equals + 1, 1);
        settings += size + (settings[size] == '\n');
    }
}

typedef void door_body_t(const door_t *door);

static inline pid_t door_start(const door_t *door, const char *settings, door_body_t *body) {
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    int descriptor = open(door->errors, O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(descriptor >= 0 && dup2(descriptor, STDERR_FILENO) >= 0);
    close(descriptor);
    door_environment(door, settings);
    body(door);
    exit(0); // with all clean-up: what Keel does at the end is part of the case
}

// The exit code, or 128 and the signal.
static inline int door_wait(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void door_show(const char *path) {
    char line[1024];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        print_message("  %s", line);
    if (file) fclose(file);
}

#define door_run_expecting(door, settings, body, expected)                                         \
    do {                                                                                           \
        const door_t *door_ = (door);                                                              \
        int door_status_ = door_wait(door_start(door_, settings, body));                           \
        if (door_status_ != (expected)) door_show(door_->errors);                                  \
        assert_int_equal(door_status_, expected);                                                  \
    } while (0)
#define door_run(door, settings, body) door_run_expecting(door, settings, body, 0)

// Lines of `path` that hold `text`.
static inline unsigned count_lines(const char *path, const char *text) {
    unsigned count = 0;
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &capacity, file) >= 0)
        if (strstr(line, text)) ++count;
    free(line);
    if (file) fclose(file);
    return count;
}

// Loads that a line stands for, if it is one of several.
static inline unsigned count_times(const char *line) {
    const char *times = strstr(line, "\"times\":");
    return times ? (unsigned)strtoul(times + strlen("\"times\":"), NULL, 10) : 1;
}

// Lines of all journals that hold both texts; with `all`, what they stand for.
static inline unsigned count_told(const door_t *door, const char *text, const char *other,
                                  bool all) {
    DIR *directory = opendir(door->runs);
    unsigned count = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        char path[700], *line = NULL;
        size_t capacity = 0;
        snprintf(path, sizeof path, "%s/%s/journal.ndjson", door->runs, e->d_name);
        FILE *file = fopen(path, "r");
        while (file && getline(&line, &capacity, file) >= 0)
            if (strstr(line, text) && strstr(line, other)) count += all ? count_times(line) : 1;
        free(line);
        if (file) fclose(file);
    }
    if (directory) closedir(directory);
    return count;
}

static inline unsigned count_events(const door_t *door, const char *text, const char *other) {
    return count_told(door, text, other, false);
}

// Loads that Keel did, not the client by itself.
static inline unsigned count_own_loads(const door_t *door) {
    return count_told(door, "\"event\":\"load\"", "", true) -
           count_told(door, "\"event\":\"load\"", "\"by\":", true);
}

static inline unsigned count_entries(const door_t *door) {
    return count_files(&door->place, "entries", ".keel");
}

// ---- in a child: the test plugin's programs
// --------------------------------------------------------

// The plugin names an executable by its program's first line.
static inline bool door_is(const PJRT_Api *api, PJRT_LoadedExecutable *loaded, keel_bytes_t code) {
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Executable_Name_Args args = {.struct_size = PJRT_Executable_Name_Args_STRUCT_SIZE,
                                      .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_Name(&args));
    bool same = args.executable_name_size <= code.size &&
                memcmp(args.executable_name, code.data, args.executable_name_size) == 0;
    door_destroy_executable(api, executable);
    return same;
}

// Compiles a program in no format that Keel reads: it is keyed by its bytes.
static inline PJRT_LoadedExecutable *door_compile(const PJRT_Api *api, PJRT_Client *client,
                                                  const char *text) {
    PJRT_LoadedExecutable *loaded;
    keel_bytes_t code = keel_str_bytes(keel_str(text));
    NO_ERROR(api, door_compile_bytes(api, client, "text", code, &loaded));
    CHECK(door_is(api, loaded, code));
    return loaded;
}

// The whole life of one program in one client.
UNUSED static void door_live(const char *text) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, text);
    door_execute(api, loaded);
    door_destroy(api, loaded);
    door_close(api, client);
}

#endif // KEEL_TESTS_DOOR_HELP_H_
