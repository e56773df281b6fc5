// Linked into every program and library of the build that counts lines (reach.py): the counts are
// written also if a process ends with _exit or kills itself, as forked children in tests do, or if
// another of these kills it.
//
// Each program and library counts for itself, so each has this file. The program's `_exit`, `raise`
// and `keel_reach_register` stand before those of the libraries that it loads.
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

enum { DUMPS = 64, PATIENCE = 100000 /* microseconds that a process has to write its counts */ };

void __gcov_dump(void);
void __gcov_reset(void);

VISIBLE void keel_reach_register(void (*dump)(void));

static void (*dumps[DUMPS])(void);
static atomic_uint count;

VISIBLE void keel_reach_register(void (*dump)(void)) {
    unsigned at = atomic_fetch_add(&count, 1);
    if (at < DUMPS) dumps[at] = dump;
}

static void dump_all(void) {
    for (unsigned i = 0; i < atomic_load(&count) && i < DUMPS; ++i)
        if (dumps[i]) dumps[i]();
}

static void dump_own(void) {
    __gcov_dump();
    __gcov_reset();
}

// What it interrupts may count at this moment; then a count is lost, or the process waits for
// itself until it is killed.
static void dump_at_signal(int signal) {
    (void)signal;
    dump_all();
}

__attribute__((constructor)) static void begin(void) {
    const struct sigaction action = {.sa_handler = dump_at_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    keel_reach_register(dump_own);
    sigaction(SIGRTMAX, NULL, &before);
    if (before.sa_handler == SIG_DFL)
        sigaction(SIGRTMAX, &action, NULL); // the program's comes first
}

VISIBLE void _exit(int code) {
    dump_all();
    for (;;)
        syscall(SYS_exit_group, code);
}

VISIBLE int kill(pid_t pid, int signal) {
    if (signal == SIGKILL && syscall(SYS_kill, pid, SIGRTMAX) == 0) usleep(PATIENCE);
    return (int)syscall(SYS_kill, pid, signal);
}

VISIBLE int raise(int signal) {
    if (signal == SIGKILL) dump_all();
    return (int)syscall(SYS_tgkill, getpid(), gettid(), signal);
}
