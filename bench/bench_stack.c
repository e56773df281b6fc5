// Called by bench/make_programs.py at the point where JAX compiles: the seconds that reading the
// calling thread's Python stack takes, and how many frames were kept (UINT_MAX: it was skipped).
#include <limits.h>

#include "host/host.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED double bench_stack(unsigned *out_kept);

double bench_stack(unsigned *out_kept) {
    keel_arena_t arena;
    keel_stack_t stack;
    uint64_t start = keel_clock_monotonic();
    keel_arena_initialize(&arena, 0);
    keel_stack_read(&arena, "", &stack);
    double seconds = keel_seconds(keel_clock_monotonic() - start);
    *out_kept = stack.skipped ? UINT_MAX : stack.count;
    keel_arena_deinitialize(&arena);
    return seconds;
}
