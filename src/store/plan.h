// plan: the programs that a script asked for, in order, so that its next run can load them before
// it asks.
//
//   plans/<script>.plan      "keel plan 2\n", then a line a program: the digests, in hex, of its
//                            key's components program, compile options and device assignment;
//                            then, in hex too, what compiling it cost: a hash of the module's name,
//                            operations, microseconds
//
// A key's other components are the same for all programs of a client and come from the client,
// except for the kernels that a program calls: such a program is not planned. So
// code that follows a plan computes the keys again, and never finds an entry that was compiled for
// another backend.
//
// Ownership: a plan owns nothing. Threads: no shared state; processes replace a plan as a whole.
#ifndef KEEL_STORE_PLAN_H_
#define KEEL_STORE_PLAN_H_

#include "base/base.h"

enum { KEEL_PLAN_LIMIT = 256 }; // programs; later ones are not planned

// What a program's last compile cost.
typedef struct keel_cost_t {
    uint64_t name; // keel_plan_name
    uint32_t operations;
    double seconds; // to the microsecond; 0: unknown
} keel_cost_t;

typedef struct keel_planned_t {
    keel_digest_t program, options, assignment; // components of a key
    keel_cost_t cost;
} keel_planned_t;

typedef struct keel_plan_t {
    size_t count;
    keel_planned_t programs[KEEL_PLAN_LIMIT];
} keel_plan_t;

// False if the plan already has it, or is full.
bool keel_plan_add(keel_plan_t *plan, const keel_planned_t *planned);
bool keel_plan_equal(const keel_plan_t *a, const keel_plan_t *b);

// A hash of a module's name.
uint64_t keel_plan_name(const char *name);
// The compile time of the program of that name that is nearest in operations; 0: unknown.
double keel_plan_seconds(const keel_plan_t *plan, const char *name, uint64_t operations);

// KEEL_CORRUPT if the bytes are not a plan; *out is empty then.
keel_status_t keel_plan_parse(keel_bytes_t bytes, keel_plan_t *out) KEEL_MUST_CHECK;

// `script` is a file name without a folder (keel_host_script). A script without a plan has an empty
// one.
keel_status_t keel_plan_read(const char *folder, const char *script,
                             keel_plan_t *out) KEEL_MUST_CHECK;
// Makes the folder if it is missing.
keel_status_t keel_plan_write(const char *folder, const char *script,
                              const keel_plan_t *plan) KEEL_MUST_CHECK;

// The script asked for the same plan again: renews its time, and writes it again if it is gone.
keel_status_t keel_plan_keep(const char *folder, const char *script,
                             const keel_plan_t *plan) KEEL_MUST_CHECK;
// A missing plan is not an error.
keel_status_t keel_plan_remove(const char *folder, const char *script) KEEL_MUST_CHECK;

// Removes plans that were last written more than `age` nanoseconds ago, and temporary files whose
// writers are gone.
keel_status_t keel_plans_remove(const char *folder, uint64_t age) KEEL_MUST_CHECK;

#endif // KEEL_STORE_PLAN_H_
