// Faults on demand. A test counts the operations of one kind, makes one fail, or kills the process
// at it; a release build compiles every check to nothing.
//
// In a build with KEEL_FAULTS, KEEL_FAULT=<kind>:<n>[:kill|:hang] in the environment arms the n-th
// operation (from 1) of a kind, "alloc" or "file". That operation fails (an allocation as if memory
// ran out, a file operation with EIO). With ":kill" the process kills itself before it, as kill -9
// would; with ":hang" it never returns, as on a disk whose server is gone.
#ifndef KEEL_BASE_FAULT_H_
#define KEEL_BASE_FAULT_H_

#include <stdbool.h>
#include <stdint.h>

typedef enum keel_fault_kind {
    KEEL_FAULT_ALLOC,
    KEEL_FAULT_FILE,
    KEEL_FAULT_KINDS,
} keel_fault_kind_t;

#ifdef KEEL_FAULTS
// True if this operation is the one to fail.
bool keel_fault_hit(keel_fault_kind_t kind);
// Arms the n-th operation from now (0 disarms) and restarts the count.
void keel_fault_arm(keel_fault_kind_t kind, uint64_t nth);
// Whether the armed operation kills the process instead of failing.
void keel_fault_kill(bool kill);
// Operations seen since the last keel_fault_arm.
uint64_t keel_fault_count(keel_fault_kind_t kind);
#else
static inline bool keel_fault_hit(keel_fault_kind_t kind) {
    (void)kind;
    return false;
}
#endif

#endif // KEEL_BASE_FAULT_H_
