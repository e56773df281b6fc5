// Room-internal: how targets are put together.
#ifndef KEEL_TARGET_INTERNAL_H_
#define KEEL_TARGET_INTERNAL_H_

#include "target/target.h"

enum {
    TARGET_VALUES = 64,           // options or variables of one kind
    TARGET_DEVICES = 1 << 20,     //
    TARGET_JSON_LIMIT = 16 << 20, // bytes of a file
    TARGET_FORMAT = 1,            // the version of the JSON
};

// What a name says after its colon: "2x4/2".
typedef struct target_shape_t {
    uint32_t dims[3];
    uint32_t dim_count;
    uint32_t processes; // 0: not given
} target_shape_t;

// One row of the table of models.
typedef struct target_gpu_t {
    const char *name, *kind;
    uint32_t capability, cores, units;
    uint64_t core_memory, block_memory, l2, memory, bandwidth, clock, pcie;
    uint32_t links;
} target_gpu_t;

typedef struct target_tpu_t {
    const char *name, *kind, *accelerator;
    uint32_t type_scale, dims, devices, gigabytes;
    const char *chip_config;
    uint32_t host_chips;
} target_tpu_t;

// ---- building ----------------------------------------------------------------------------------

keel_status_t target_keep(keel_target_t *target, keel_str_t text, const char **out) KEEL_MUST_CHECK;
// Adds an option, whose name and contents are copied. KEEL_INVALID if there are too many.
keel_status_t target_add_value(keel_target_t *target, keel_target_values_t *values,
                               const PJRT_NamedValue *value) KEEL_MUST_CHECK;
keel_status_t target_add_text(keel_target_t *target, keel_target_values_t *values, const char *name,
                              keel_str_t text) KEEL_MUST_CHECK;
keel_status_t target_add_variable(keel_target_t *target, const char *name,
                                  const char *value) KEEL_MUST_CHECK;

// For the processor: the option that gives a client that many devices. KEEL_INVALID if it has one
// that gives another number.
keel_status_t target_count_processors(keel_target_t *target) KEEL_MUST_CHECK;
// For TPUs: the variables that libtpu needs where there is none. `type` may be NULL.
keel_status_t target_compiler_environment(const char *type, keel_target_t *target) KEEL_MUST_CHECK;

// ---- models ------------------------------------------------------------------------------------

keel_status_t target_make_gpu(const target_gpu_t *gpu, const target_shape_t *shape,
                              keel_target_t *out) KEEL_MUST_CHECK;
keel_status_t target_make_tpu(const target_tpu_t *tpu, const target_shape_t *shape,
                              keel_target_t *out) KEEL_MUST_CHECK;

#endif // KEEL_TARGET_INTERNAL_H_
