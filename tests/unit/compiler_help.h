// Compilers in tests: small programs, and the children of this process.
#ifndef KEEL_TESTS_COMPILER_HELP_H_
#define KEEL_TESTS_COMPILER_HELP_H_

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "place.h"

#include "compiler/compiler.h"

// executable_build_options {num_replicas: 1 num_partitions: 1}
static const char one_device[] = "\x1a\x04\x20\x01\x28\x01";

static inline keel_compiler_t *help_start(const char *name, const char *plugin, unsigned workers) {
    keel_target_t target;
    keel_compiler_t *compiler;
    assert_ok(keel_target_read(name, &target));
    assert_ok(keel_compiler_start(&(keel_compiler_settings_t){.target = &target,
                                                              .plugin = plugin,
                                                              .workers = workers,
                                                              .interpreter = KEEL_TEST_PYTHON,
                                                              .library = KEEL_TEST_LIBRARY},
                                  &compiler));
    keel_target_deinitialize(&target);
    return compiler;
}

static inline keel_job_t help_job(const char *code) {
    return (keel_job_t){.code = keel_str_bytes(keel_str(code)),
                        .format = "mlir",
                        .options = keel_bytes(one_device, sizeof one_device - 1)};
}

static inline uint64_t help_submit(keel_compiler_t *compiler, const char *code) {
    uint64_t id;
    keel_job_t job = help_job(code);
    assert_ok(keel_compiler_submit(compiler, &job, &id));
    return id;
}

static inline keel_compiled_t help_wait(keel_compiler_t *compiler, uint64_t id) {
    keel_compiled_t compiled;
    assert_ok(keel_compiler_wait(compiler, id, &compiled));
    assert_int_equal(compiled.id, id);
    return compiled;
}

static inline keel_compiled_t help_compile(keel_compiler_t *compiler, const char *code) {
    return help_wait(compiler, help_submit(compiler, code));
}

// Its error says all of that.
static inline void help_fails(keel_compiled_t *compiled, const char *first, const char *second) {
    assert_null(compiled->executable);
    if (!compiled->error || !strstr(compiled->error, first) || !strstr(compiled->error, second))
        fail_msg("'%s' does not say '%s' and '%s'", compiled->error ? compiled->error : "no error",
                 first, second);
    keel_compiled_deinitialize(compiled);
}

// ---- children of a process ---------------------------------------------------------------------

// The fields of /proc/PID/stat after the name: state, parent, group.
static inline bool help_stat(pid_t pid, char *out_state, pid_t *out_parent, pid_t *out_group) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[size] = 0;
    const char *after = strrchr(line, ')');
    int parent, group;
    if (!after || sscanf(after + 1, " %c %d %d", out_state, &parent, &group) != 3) return false;
    *out_parent = parent;
    *out_group = group;
    return true;
}

// A living child of the process; 0 if it has none.
static inline pid_t help_child_of(pid_t parent) {
    DIR *folder = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), its_parent, group;
        char state;
        if (pid > 0 && help_stat(pid, &state, &its_parent, &group) && its_parent == parent &&
            state != 'Z')
            found = pid;
    }
    if (folder) closedir(folder);
    return found;
}

static inline void help_pause(void) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

// Waits for one.
static inline pid_t help_await_child_of(pid_t parent) {
    for (;;) {
        pid_t child = help_child_of(parent);
        if (child) return child;
        help_pause();
    }
}

static inline bool help_is_alive(pid_t pid) {
    pid_t parent, group;
    char state;
    return help_stat(pid, &state, &parent, &group) && state != 'Z';
}

static inline void help_await_end(pid_t pid) {
    while (help_is_alive(pid))
        help_pause();
}

// Until it has loaded its plugin: a file with that name is mapped.
static inline void help_await_plugin(pid_t pid, const char *name) {
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    for (bool is_there = false; !is_there; help_pause()) {
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (strstr(line, name)) is_there = true;
        if (file) fclose(file);
    }
}

#endif // KEEL_TESTS_COMPILER_HELP_H_
