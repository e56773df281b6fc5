// payload: what an entry holds of an executable: the plugin's serialized form, and the optimized
// program and what it needs of a device's memory, as the plugin told them when the serialized form
// was proved.
//
// The optimized program is there because clients ask for it as soon as they have an executable
// (JAX, for the shardings and layouts of results and parameters: four times for each), and a plugin
// serializes its whole module anew each time: on a warm start that took as long as the load itself.
// What it needs takes them up to 30 ms to tell.
//
//   "KEELPAY2"  u64 size of the executable  u64 of the format's name  u64 of the program
//   u64: 1 where the memory is known, else 0, and seven u64 that are 0 then: arguments, outputs,
//   aliased, temporaries, code, host, peak
//   the executable, the format's name, the program           (little-endian, nothing in between)
//
// "KEELPAY1" has none of the eight.
#ifndef KEEL_ENGINE_PAYLOAD_H_
#define KEEL_ENGINE_PAYLOAD_H_

#include "base/base.h"
#include "pjrt/memory.h"

typedef struct keel_payload_t {
    keel_bytes_t executable;
    keel_str_t format;    // of the program: "hlo_with_config"
    keel_bytes_t program; // empty where the plugin does not tell it
    bool has_memory;
    keel_program_memory_t memory;
} keel_payload_t;

// The caller frees *out with keel_free.
keel_status_t keel_payload_pack(const keel_payload_t *payload, uint8_t **out,
                                size_t *out_size) KEEL_MUST_CHECK;
// Borrows `bytes`. KEEL_CORRUPT where they are no payload.
keel_status_t keel_payload_unpack(keel_bytes_t bytes, keel_payload_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_PAYLOAD_H_
