#define _GNU_SOURCE
#include "base/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

pid_t keel_answer_start(char *const argv[], int descriptor) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions)) return 0;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return 0;
    }
    bool failed =
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF) ||
        posix_spawnattr_setsigmask(&attributes, &none) ||
        posix_spawnattr_setsigdefault(&attributes, &all) ||
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? 0 : pid;
}

// Milliseconds until then, rounded up; 0 when it is past.
static int time_until(uint64_t end) {
    uint64_t now = keel_clock_monotonic();
    uint64_t left = now < end ? (end - now + 999999) / 1000000 : 0;
    return left < 1 << 30 ? (int)left : 1 << 30;
}

bool keel_answer_read(int descriptor, char last, uint64_t until, keel_buffer_t *out) {
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    char part[4096];
    for (;;) {
        int got = poll(&ready, 1, time_until(until));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        ssize_t size = read(descriptor, part, sizeof part);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return size == 0;
        keel_buffer_append(out, part, (size_t)size);
        if (out->failed) return true;
        if (last && memchr(part, last, (size_t)size)) return true;
    }
}

// Ends it if it still runs at that time. If somebody else waited for it, how it ended is not known,
// and what it said counts.
static int wait_for(pid_t pid, uint64_t until) {
    const struct timespec pause = {.tv_nsec = 1000000};
    int state;
    pid_t ended;
    while (!(ended = waitpid(pid, &state, WNOHANG)) && keel_clock_monotonic() < until)
        nanosleep(&pause, NULL);
    if (ended < 0) return errno == ECHILD ? 0 : -1;
    if (ended) return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return -1;
}

int keel_answer(char *const argv[], uint64_t until, keel_buffer_t *out) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return -1;
    pid_t pid = keel_answer_start(argv, ends[1]);
    close(ends[1]);
    bool in_time = pid && keel_answer_read(ends[0], 0, until, out);
    close(ends[0]);
    int code = pid ? wait_for(pid, in_time ? until : 0) : -1;
    return in_time ? code : -1;
}
