// A client of the embedded plugin: compiles programs, runs them on one device.
#ifndef KEEL_TESTS_NEEDS_DEVICE_H_
#define KEEL_TESTS_NEEDS_DEVICE_H_

#include "pjrt/pjrt.h"
#include "program/program.h"

typedef struct device_t {
    keel_plugin_t plugin;
    PJRT_Client *client;
    PJRT_Device *first;
} device_t;

typedef struct array_t {
    uint8_t *data;
    size_t size;
} array_t;

keel_status_t device_open(const char *path, device_t *out) KEEL_MUST_CHECK;

// For `partitions` devices; more than one are partitioned by XLA.
keel_status_t device_compile(const device_t *device, const char *format, keel_bytes_t code,
                             unsigned partitions, PJRT_LoadedExecutable **out) KEEL_MUST_CHECK;
// The optimized program as text, without what the names and places in the source decide.
keel_status_t device_optimized(const device_t *device, PJRT_LoadedExecutable *loaded,
                               keel_buffer_t *out) KEEL_MUST_CHECK;

// PJRT's type of an array's elements; PJRT_Buffer_Type_INVALID if this client cannot send them.
PJRT_Buffer_Type device_type(const keel_program_t *program, keel_type_id_t array);
size_t device_size(const keel_program_t *program, keel_type_id_t array);

// Sends the arguments, which are of these types, runs, and reads the results, as many as there are.
// The caller frees their data with keel_free, also on failure.
keel_status_t device_run(const device_t *device, PJRT_LoadedExecutable *loaded,
                         const keel_program_t *program, const keel_type_id_t *types,
                         const array_t *arguments, uint32_t argument_count, array_t *results,
                         uint32_t result_count) KEEL_MUST_CHECK;

#endif // KEEL_TESTS_NEEDS_DEVICE_H_
