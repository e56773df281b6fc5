// memory: what programs need and what devices have, as far as the plugin reports it. All sizes are
// in bytes.
//
// Threads: as in pjrt.h.
#ifndef KEEL_PJRT_MEMORY_H_
#define KEEL_PJRT_MEMORY_H_

#include "pjrt/pjrt.h"

// What one execution of a program takes on each of its devices.
typedef struct keel_program_memory_t {
    uint64_t arguments, outputs;
    uint64_t aliased; // outputs that reuse arguments' memory
    uint64_t temporaries, code;
    uint64_t host; // on the host, the sum of all of these
    uint64_t peak; // 0: unknown
} keel_program_memory_t;

// Arguments, outputs, temporaries and code, less what is aliased.
uint64_t keel_program_memory_total(const keel_program_memory_t *memory);

// KEEL_UNSUPPORTED if the plugin has no such function.
keel_status_t keel_pjrt_program_memory(const PJRT_Api *api, PJRT_Executable *executable,
                                       keel_program_memory_t *out) KEEL_MUST_CHECK;

typedef struct keel_device_memory_t {
    uint64_t in_use;
    uint64_t peak, limit; // 0: unknown
} keel_device_memory_t;

// KEEL_UNSUPPORTED if the plugin has no such function.
keel_status_t keel_pjrt_device_memory(const PJRT_Api *api, PJRT_Device *device,
                                      keel_device_memory_t *out) KEEL_MUST_CHECK;

// The number that a compile's device assignment knows the device by.
keel_status_t keel_pjrt_device_id(const PJRT_Api *api, PJRT_Device *device,
                                  int *out) KEEL_MUST_CHECK;

// A physical device by platform and number, as users know it: "TPU:18", "cpu:0"; and its kind, "TPU
// v6 lite". The caller frees both.
keel_status_t keel_pjrt_device_name(const PJRT_Api *api, const char *platform, PJRT_Device *device,
                                    char **out_name, char **out_kind) KEEL_MUST_CHECK;

// The devices that the client can reach; they live as long as the client.
keel_status_t keel_pjrt_addressable_devices(const PJRT_Api *api, PJRT_Client *client,
                                            PJRT_Device *const **out,
                                            size_t *out_count) KEEL_MUST_CHECK;

// An error's code; UNKNOWN if there is none.
PJRT_Error_Code keel_pjrt_code_of(const PJRT_Api *api, const PJRT_Error *error);
// Its name, such as "RESOURCE_EXHAUSTED".
const char *keel_pjrt_error_code(const PJRT_Api *api, const PJRT_Error *error);
const char *keel_pjrt_code_name(PJRT_Error_Code code);

#endif // KEEL_PJRT_MEMORY_H_
