// Faults on demand. A test counts or fails the operations of one kind, or kills the process at one
// of them; a release build compiles every check to nothing.
//
// KEEL_FAULT=<kind>:<n>[:kill|:hang] in the environment of a build with KEEL_FAULTS arms the n-th
// operation (from 1) of that kind: "alloc", "file". It fails (allocation: none; file: EIO), or with
// ":kill" the process kills itself before the operation, as kill -9 would, or with ":hang" the
// operation never ends, as on a disk whose server is gone.
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
// True when this operation is the one to fail.
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
