// Whether a target's compiler takes the target, before a command is started for it. The plugin is
// loaded in a child process: it may crash or wait, and nobody else needs it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MESSAGE = 2048, PATIENCE = 120 }; // bytes, seconds

static keel_status_t make_topology(const keel_target_t *target, const char *path) {
    keel_plugin_t plugin;
    PJRT_TopologyDescription *topology;
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(keel_target_set_environment(target));
    KEEL_TRY(keel_plugin_load(path, &plugin));
    KEEL_TRY(KEEL_PJRT_CALL(plugin.api, PJRT_Plugin_Initialize, initialize));
    KEEL_TRY(keel_target_topology(target, plugin.api, &topology));
    keel_target_destroy_topology(plugin.api, topology);
    return NULL;
}

// Writes what is wrong, and ends.
static void check_in_child(const keel_target_t *target, const char *path, int to) {
    int nowhere = memfd_create("output", MFD_CLOEXEC); // plugins greet
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(CLI_FAILURE);
    alarm(PATIENCE);
    keel_status_t status = make_topology(target, path);
    const char *message = keel_status_message(status);
    size_t size = strlen(message);
    ssize_t written = size ? write(to, message, size < MESSAGE ? size : MESSAGE) : 0;
    _exit(status || written < 0 ? CLI_FAILURE : CLI_OK);
}

static size_t read_message(int from, char *out) {
    size_t used = 0;
    while (used < MESSAGE) {
        ssize_t got = read(from, out + used, MESSAGE - used);
        if (got <= 0) break;
        used += (size_t)got;
    }
    out[used] = 0;
    for (char *at = out; *at; ++at)
        if (*at == '\n') *at = ' ';
    return used;
}

static keel_status_t judge(const keel_target_t *target, const char *plugin, int state,
                           const char *message) {
    const char *platform = keel_target_platform_names[target->platform];
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
        return keel_status_make(KEEL_PLUGIN,
                                "target %s: its compiler, %s, says nothing for %d s; name the "
                                "plugin for %s with --plugin",
                                target->name, plugin, PATIENCE, platform);
    if (WIFSIGNALED(state))
        return keel_status_make(KEEL_PLUGIN,
                                "target %s: its compiler, %s, crashed (%s) over it; name the "
                                "plugin for %s with --plugin, or another target",
                                target->name, plugin, strsignal(WTERMSIG(state)), platform);
    if (WIFEXITED(state) && WEXITSTATUS(state) == CLI_OK) return NULL;
    keel_buffer_t known;
    keel_buffer_initialize(&known, 1 << 12);
    keel_target_list(&known);
    keel_status_t status = keel_status_make(KEEL_INVALID, "%s; targets that are known: %s", message,
                                            keel_buffer_cstr(&known));
    keel_buffer_deinitialize(&known);
    return status;
}

keel_status_t cli_check_target(const keel_target_t *target, const char *plugin) {
    int ends[2], state = 0;
    char message[MESSAGE + 1];
    if (target->platform == KEEL_TARGET_CPU) return NULL;
    if (pipe2(ends, O_CLOEXEC))
        return keel_status_make(KEEL_IO, "no pipe for a child: %s", strerror(errno));
    pid_t child = fork();
    if (!child) check_in_child(target, plugin, ends[1]);
    close(ends[1]);
    if (child > 0) read_message(ends[0], message);
    close(ends[0]);
    if (child < 0) return keel_status_make(KEEL_IO, "no child: %s", strerror(errno));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    return judge(target, plugin, state, message);
}
