// host_ops: the operations that PyTorch/XLA computed on the host, as it counts them itself: its
// counters that begin with "aten::".
#ifndef KEEL_HOST_HOST_OPS_H_
#define KEEL_HOST_HOST_OPS_H_

#include "base/base.h"

typedef struct keel_host_op_t {
    const char *name; // "aten::nonzero", in the arena
    uint64_t times;   // in this process so far
} keel_host_op_t;

enum { KEEL_HOST_OPS = 256 };

typedef struct keel_host_ops_t {
    keel_host_op_t list[KEEL_HOST_OPS]; // further ones are left out
    size_t count;
    bool has_torch_xla;
} keel_host_ops_t;

// Reads them from the interpreter in this process. Nothing if there is no interpreter, or no
// PyTorch/XLA in it. The thread must hold no lock that Python code may wait for.
void keel_host_ops_read(keel_arena_t *arena, keel_host_ops_t *out);

// Registers `call`, which takes nothing, to run when the interpreter ends, with its lock held.
// False if that is not possible. Once per process.
bool keel_host_ops_at_exit(void (*call)(void));

#endif // KEEL_HOST_HOST_OPS_H_
