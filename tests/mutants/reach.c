// Linked into every program and library of the build that counts lines (reach.py): the counts are
// written also if a process ends with _exit or kills itself, as forked children in tests do.
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

enum { DUMPS = 64 };

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

__attribute__((constructor)) static void begin(void) {
    keel_reach_register(dump_own);
}

VISIBLE void _exit(int code) {
    dump_all();
    for (;;)
        syscall(SYS_exit_group, code);
}

VISIBLE int raise(int signal) {
    if (signal == SIGKILL) dump_all();
    return (int)syscall(SYS_tgkill, getpid(), gettid(), signal);
}
