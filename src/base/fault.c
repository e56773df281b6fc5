#include "base/fault.h"

#ifdef KEEL_FAULTS

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[KEEL_FAULT_KINDS] = {"alloc", "file"};

static _Atomic uint64_t seen[KEEL_FAULT_KINDS];
static _Atomic uint64_t armed[KEEL_FAULT_KINDS];
static atomic_bool kills, hangs;

__attribute__((constructor)) static void arm_from_environment(void) {
    const char *setting = getenv("KEEL_FAULT");
    if (!setting) return;
    for (int kind = 0; kind < KEEL_FAULT_KINDS; ++kind) {
        size_t length = strlen(kind_names[kind]);
        if (strncmp(setting, kind_names[kind], length) || setting[length] != ':') continue;
        char *end;
        armed[kind] = strtoull(setting + length + 1, &end, 10);
        kills = strcmp(end, ":kill") == 0;
        hangs = strcmp(end, ":hang") == 0;
    }
}

bool keel_fault_hit(keel_fault_kind_t kind) {
    uint64_t now = atomic_fetch_add(&seen[kind], 1) + 1;
    if (now != atomic_load(&armed[kind])) return false;
    if (atomic_load(&kills)) raise(SIGKILL);
    while (atomic_load(&hangs))
        pause();
    return true;
}

void keel_fault_arm(keel_fault_kind_t kind, uint64_t nth) {
    atomic_store(&seen[kind], 0);
    atomic_store(&armed[kind], nth);
}

void keel_fault_kill(bool kill) {
    atomic_store(&kills, kill);
}

uint64_t keel_fault_count(keel_fault_kind_t kind) {
    return atomic_load(&seen[kind]);
}

#else
// C needs a declaration in every translation unit.
typedef int keel_fault_unused_t;
#endif
