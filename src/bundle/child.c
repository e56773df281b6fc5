// A plugin in a child process: its constructors run, its client is made, and it may hang, abort or
// print anything. What the child reported before that counts.
//
// The child writes a bundle as a line of JSON after each step; each line contains the earlier ones.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bundle/guard.h"
#include "bundle/internal.h"
#include "pjrt/bridge.h"

// ---- the child ---------------------------------------------------------------------------------

static void report(int to, const keel_bundle_t *bundle) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    keel_bundle_json(bundle, &line);
    keel_buffer_byte(&line, '\n');
    keel_bytes_t left = keel_buffer_bytes(&line);
    while (left.size && !line.failed) {
        ssize_t written = write(to, left.data, left.size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        left = keel_bytes(left.data + written, left.size - (size_t)written);
    }
    keel_buffer_deinitialize(&line);
}

static keel_status_t make_client(const PJRT_Api *api, PJRT_Client **out) {
    PJRT_Plugin_Initialize_Args initialize = {.struct_size =
                                                  PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    if (keel_pjrt_has(api, PJRT_Plugin_Initialize))
        KEEL_TRY(keel_pjrt_status(api, api->PJRT_Plugin_Initialize(&initialize),
                                  "PJRT_Plugin_Initialize"));
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_Create(&create), "PJRT_Client_Create"));
    *out = create.client;
    return NULL;
}

static keel_status_t collect_steps(const keel_bundle_request_t *request, int to,
                                   keel_bundle_t *bundle) {
    keel_plugin_t plugin;
    PJRT_Api *api;
    PJRT_Client *client;
    KEEL_TRY(keel_plugin_load(request->plugin, &plugin));
    KEEL_TRY(keel_bridge_create(plugin.api, &api));
    KEEL_TRY(bundle_plugin_table(api, bundle));
    if (request->no_client) return NULL;
    report(to, bundle);
    KEEL_TRY(make_client(api, &client));
    return bundle_plugin_client(api, client, bundle);
}

// The exit code of a child that finished; a plugin's own exit() has another.
enum { DONE = 77 };

// Discards what the plugin prints, without using memory for it.
static int make_sink(void) {
    int sink = memfd_create("keel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (sink >= 0) fcntl(sink, F_ADD_SEALS, F_SEAL_GROW);
    return sink;
}

static void be_child(const keel_bundle_request_t *request, int to) {
    keel_bundle_t bundle;
    keel_bundle_initialize(&bundle);
    keel_guard_child();
    int sink = make_sink();
    for (int i = 0; i < 3; ++i)
        if (dup2(sink, i) < 0) _exit(1);
    keel_status_t status = collect_steps(request, to, &bundle);
    if (status) {
        bool refused = keel_status_code(status) == KEEL_UNSUPPORTED;
        keel_status_ignore(bundle_format(&bundle, KEEL_BUNDLE_PLUGIN,
                                         refused ? BUNDLE_REFUSED : "trouble", "%s",
                                         keel_status_message(status)));
        keel_status_ignore(status);
    }
    report(to, &bundle);
    // Skips the plugin's exit handlers: they may hang too.
    _exit(DONE);
}

// ---- the parent --------------------------------------------------------------------------------

static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

// False at the end.
static bool read_part(int from, keel_buffer_t *out) {
    char part[4096];
    ssize_t got = read(from, part, sizeof part);
    if (got > 0) keel_buffer_append(out, part, (size_t)got);
    return got > 0 || (got < 0 && errno == EINTR);
}

// Reads until the child has ended, or returns false when the time is up. A process that the plugin
// started may keep the pipe open longer, and a plugin may close it and run on.
static bool read_all(pid_t pid, int from, uint64_t end, keel_buffer_t *out) {
    enum { TICK_MS = 100, CLOSED_TICK_MS = 2 };
    struct pollfd wait = {.fd = from, .events = POLLIN};
    bool ended = false;
    for (;;) {
        int ready = poll(&wait, 1, ended ? 0 : wait.fd < 0 ? CLOSED_TICK_MS : TICK_MS);
        if (ready > 0 && !read_part(from, out)) wait.fd = -1;
        if (ended && (ready == 0 || wait.fd < 0)) return true;
        if (keel_clock_monotonic() >= end) return ended;
        if (ready <= 0 || wait.fd < 0) ended = ended || has_ended(pid);
    }
}

// The last complete line.
static keel_str_t last_line(keel_str_t text) {
    keel_str_t line, last = {"", 0};
    while (memchr(text.data ? text.data : "", '\n', text.size) && bundle_line(&text, &line))
        last = line;
    return last;
}

static keel_status_t take_bundle(keel_str_t line, keel_bundle_t *bundle) {
    keel_bundle_t told;
    if (!line.size) return NULL;
    keel_bundle_initialize(&told);
    keel_status_t status = keel_bundle_parse(keel_str_bytes(line), &told);
    for (size_t i = 0; i < told.count && !status; ++i)
        status = bundle_add(bundle, told.facts[i].section, keel_str(told.facts[i].name),
                            keel_str(told.facts[i].value));
    keel_bundle_deinitialize(&told);
    return bundle_forgive(status);
}

static keel_status_t judge(int state, bool in_time, bool told, unsigned seconds,
                           keel_bundle_t *bundle) {
    if (!in_time)
        return bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "trouble", "no answer in %u s", seconds);
    if (WIFSIGNALED(state))
        return bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "trouble", "it ended the process: %s",
                             strsignal(WTERMSIG(state)));
    if (WEXITSTATUS(state) != DONE)
        return bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "trouble",
                             "it ended the process: exit code %d", WEXITSTATUS(state));
    if (told) return NULL;
    return bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "trouble",
                         "it closed files that are not its own, so it could not report anything");
}

static keel_status_t listen_to(pid_t pid, int from, unsigned seconds, keel_bundle_t *bundle) {
    int state = 0;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 4 * KEEL_BUNDLE_JSON_LIMIT);
    uint64_t end = keel_clock_monotonic() + (uint64_t)seconds * 1000000000u;
    bool in_time = read_all(pid, from, end, &text);
    keel_guard_kill(pid);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR) {
    }
    keel_str_t line = last_line(keel_bytes_str(keel_buffer_bytes(&text)));
    keel_status_t status = take_bundle(line, bundle);
    keel_buffer_deinitialize(&text);
    return status ? status : judge(state, in_time, line.size, seconds, bundle);
}

keel_status_t bundle_plugin_child(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    int ends[2];
    keel_guard_t guard;
    keel_status_t status = NULL;
    if (pipe2(ends, O_CLOEXEC)) return NULL;
    fflush(NULL);
    keel_guard_begin(&guard);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(request, ends[1]);
    }
    keel_guard_watch(pid);
    close(ends[1]);
    if (pid > 0) status = listen_to(pid, ends[0], request->load_seconds, bundle);
    close(ends[0]);
    keel_guard_end(&guard);
    return status;
}
