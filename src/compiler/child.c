#define _GNU_SOURCE
#include "compiler/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// ---- starting ----------------------------------------------------------------------------------

// A descriptor that is none of those that the child gets: duplicated onto itself, one would stay
// closed on exec.
static int above(int descriptor) {
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, CHILD_DESCRIPTOR + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return other;
}

// All signals as usual, and a group of its own, so that what the terminal sends to this process's
// group does not reach it.
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
    return error ? error
                 : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF |
                                                            POSIX_SPAWN_SETSIGMASK |
                                                            POSIX_SPAWN_SETPGROUP);
}

static int set_files(posix_spawn_file_actions_t *files, int socket, int said) {
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(files, said, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(files, said, STDERR_FILENO);
    return error ? error : posix_spawn_file_actions_adddup2(files, socket, CHILD_DESCRIPTOR);
}

// Not fork: this process has threads, and a fork would call its handlers, which take locks.
static int spawn(const char *const *command, int socket, int said, pid_t *out) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_attributes(&attributes);
        if (!error) error = set_files(&files, socket, said);
        if (!error)
            error = posix_spawn(out, command[0], &files, &attributes,
                                (char *const *)(uintptr_t)command, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static int open_both(int sockets[2], int said[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) return errno;
    if (pipe2(said, O_CLOEXEC)) {
        int error = errno;
        close(sockets[0]);
        close(sockets[1]);
        return error;
    }
    sockets[1] = above(sockets[1]);
    said[1] = above(said[1]);
    int error = sockets[1] < 0 || said[1] < 0 ? errno : 0;
    fcntl(sockets[0], F_SETFL, O_NONBLOCK);
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    return error;
}

static void close_both(const int pair[2]) {
    for (int i = 0; i < 2; ++i)
        if (pair[i] >= 0) close(pair[i]);
}

keel_status_t child_start(child_t *child, const char *const *command) {
    int sockets[2] = {-1, -1}, said[2] = {-1, -1};
    pid_t pid = 0;
    int error = open_both(sockets, said);
    if (!error) error = spawn(command, sockets[1], said[1], &pid);
    if (error) {
        close_both(sockets);
        close_both(said);
        return keel_status_make(KEEL_IO, "cannot start the compiler process %s: %s", command[0],
                                strerror(error));
    }
    close(sockets[1]);
    close(said[1]);
    *child = (child_t){.pid = pid, .socket = sockets[0], .said = said[0]};
    keel_buffer_initialize(&child->out, 0);
    keel_buffer_initialize(&child->in, WIRE_LIMIT);
    return NULL;
}

// ---- messages ----------------------------------------------------------------------------------

bool child_send(child_t *child) {
    while (child->sent < child->out.size) {
        ssize_t sent = send(child->socket, child->out.data + child->sent,
                            child->out.size - child->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno == EAGAIN;
        child->sent += (size_t)sent;
    }
    keel_buffer_deinitialize(&child->out);
    keel_buffer_initialize(&child->out, 0);
    child->sent = 0;
    return true;
}

// Bytes received, 0: none now, -1: there is no child any more.
static ssize_t receive(child_t *child, void *data, size_t size) {
    for (;;) {
        ssize_t got = recv(child->socket, data, size, 0);
        if (got > 0) return got;
        if (got < 0 && errno == EINTR) continue;
        return got < 0 && errno == EAGAIN ? 0 : -1;
    }
}

static keel_status_t take_head(child_t *child) {
    wire_kind_t kind;
    KEEL_TRY(wire_read_head(child->head, &kind, &child->expected));
    if (kind != WIRE_ANSWER) return keel_status_make(KEEL_CORRUPT, "a compiler asks for something");
    return NULL;
}

// Memory grows with what comes, whatever size the child says that it sends.
static keel_status_t receive_body(child_t *child, ssize_t *out) {
    enum { STEP = 1 << 20 };
    KEEL_ASSERT(child->in.size < child->expected);
    size_t left = (size_t)(child->expected - child->in.size);
    size_t step = left < STEP ? left : STEP;
    uint8_t *room = keel_buffer_reserve(&child->in, step);
    if (!room) return keel_buffer_status(&child->in);
    *out = receive(child, room, step);
    if (*out > 0) child->in.size += (size_t)*out;
    return NULL;
}

keel_status_t child_receive(child_t *child, bool *out_done) {
    *out_done = false;
    for (;;) {
        ssize_t got = 0;
        if (child->head_size < WIRE_HEAD) {
            got = receive(child, child->head + child->head_size, WIRE_HEAD - child->head_size);
            if (got > 0) child->head_size += (size_t)got;
            if (got > 0 && child->head_size == WIRE_HEAD) KEEL_TRY(take_head(child));
        } else if (child->in.size < child->expected) {
            KEEL_TRY(receive_body(child, &got));
        } else {
            *out_done = true;
            return NULL;
        }
        if (got < 0) return keel_status_make(KEEL_NOT_FOUND, "the compiler process is gone");
        if (got == 0) return NULL;
    }
}

void child_next(child_t *child) {
    keel_buffer_deinitialize(&child->in);
    keel_buffer_initialize(&child->in, WIRE_LIMIT);
    child->head_size = 0;
    child->end_size = 0;
    child->looks_stopped = child->looks_idle = 0;
}

// ---- whether it still works --------------------------------------------------------------------

// Of the child alone: an assembler that it starts and waits for (ptxas) does not count, which is
// why KEEL_LIMIT_COMPILER_IDLE is so long.
static uint64_t processor_time(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used)) return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

const char *child_look(child_t *child) {
    uint64_t used = processor_time(child->pid);
    bool is_stopped = keel_process_is_stopped(child->pid);
    child->looks_stopped = is_stopped ? child->looks_stopped + 1 : 0;
    child->looks_idle = used == child->used ? child->looks_idle + 1 : 0;
    child->used = used;
    if ((uint64_t)child->looks_stopped * CHILD_LOOK >= keel_limit(KEEL_LIMIT_CHILD_STOPPED))
        return "was stopped by a signal, and nothing continued it";
    if ((uint64_t)child->looks_idle * CHILD_LOOK >= keel_limit(KEEL_LIMIT_COMPILER_IDLE))
        return "hangs: it has used no processor time for too long";
    return NULL;
}

// ---- what it prints ----------------------------------------------------------------------------

void child_listen(child_t *child) {
    char text[CHILD_SAID / 2];
    while (child->said >= 0) {
        ssize_t got = read(child->said, text, sizeof text);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) {
            close(child->said);
            child->said = -1;
            return;
        }
        size_t size = (size_t)got, kept = sizeof child->end - size;
        if (child->end_size < kept) kept = child->end_size;
        memmove(child->end, child->end + child->end_size - kept, kept);
        memcpy(child->end + kept, text, size);
        child->end_size = kept + size;
    }
}

// A line of Google's logs: "F1126 18:59:14.723382   29934 file.cc:796] Check failed: ...". What is
// before the file is of no use later.
static bool split_log_line(keel_str_t line, char *out_level, keel_str_t *out_rest) {
    size_t blanks = 0, at = 0;
    if (line.size < 20 || !strchr("DIWEF", *line.data)) return false;
    for (int i = 1; i <= 4; ++i)
        if (!keel_is_digit(line.data[i])) return false;
    for (; at < line.size && blanks < 2; ++blanks) {
        while (at < line.size && line.data[at] != ' ')
            ++at;
        while (at < line.size && line.data[at] == ' ')
            ++at;
    }
    while (at < line.size && keel_is_digit(line.data[at])) // the thread
        ++at;
    while (at < line.size && line.data[at] == ' ')
        ++at;
    *out_level = *line.data;
    *out_rest = (keel_str_t){line.data + at, line.size - at};
    return true;
}

// Lines of a stack trace begin with a blank or a star; the others are of the handlers of crashes.
static bool is_noise(keel_str_t line) {
    return !line.size || (unsigned char)*line.data <= ' ' || *line.data == '*' ||
           keel_str_starts(line, KEEL_STR("PC: @")) ||
           keel_str_starts(line, KEEL_STR("https://")) || keel_str_contains(line, "] RAW: ");
}

keel_str_t child_last_line(const child_t *child) {
    enum { SHOWN = 1000 };
    keel_str_t rest = {child->end, child->end_size}, line, said = {0};
    bool is_fatal = false;
    while (keel_str_line(&rest, &line)) {
        char level = 0;
        if (is_noise(line) || (split_log_line(line, &level, &line) && level == 'I')) continue;
        if (is_fatal && level != 'F') continue;
        is_fatal = level == 'F';
        said = line;
    }
    if (said.size > SHOWN) said.size = SHOWN;
    return said;
}

// ---- its end -----------------------------------------------------------------------------------

// Whether it ended by itself within a moment; it is not waited for yet.
static bool has_ended(pid_t pid) {
    enum { TRIES = 2000 };
    for (int i = 0; i < TRIES; ++i) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

static const char *name_of(int signal) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
                 {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"},
                 {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (names[i].number == signal) return names[i].name;
    return NULL;
}

static void describe(int state, char out[64]) {
    const char *name = WIFSIGNALED(state) ? name_of(WTERMSIG(state)) : NULL;
    if (name)
        snprintf(out, 64, "%s", name);
    else if (WIFSIGNALED(state))
        snprintf(out, 64, "signal %d", WTERMSIG(state));
    else
        snprintf(out, 64, "exit code %d", WEXITSTATUS(state));
}

void child_end(child_t *child, bool is_gone, char out_end[64]) {
    int state = 0;
    if (!child->pid) return;
    bool by_itself = is_gone && has_ended(child->pid);
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    pid_t waited;
    do
        waited = waitpid(child->pid, &state, 0);
    while (waited < 0 && errno == EINTR);
    snprintf(out_end, 64, "no reason known");
    if (by_itself && waited > 0) describe(state, out_end);
    child_listen(child);
    if (child->said >= 0) close(child->said);
    close(child->socket);
    keel_buffer_deinitialize(&child->in);
    keel_buffer_deinitialize(&child->out);
    child->pid = 0;
}
