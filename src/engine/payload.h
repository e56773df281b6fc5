// payload: what an entry keeps of an executable: the plugin's serialized form, the optimized
// program, and its memory needs, as the plugin reported them when it proved the serialized form. An
// executable that was compiled with dumps also has compile options without them (dumps.h).
//
// The optimized program is kept because clients ask for it as soon as they have an executable (JAX
// for the shardings and layouts of results and parameters, outline.c), and a plugin serializes its
// whole module each time: on a warm start that took as long as the load itself. The memory needs
// take a plugin up to 30 ms to report.
#ifndef KEEL_ENGINE_PAYLOAD_H_
#define KEEL_ENGINE_PAYLOAD_H_

#include "base/base.h"
#include "pjrt/memory.h"

typedef struct keel_payload_t {
    keel_bytes_t executable;
    keel_str_t format;    // of the program: "hlo_with_config"
    keel_bytes_t program; // empty if the plugin does not return it
    size_t packed_from;   // not 0: `program` is packed against `executable`, from so many bytes
    keel_bytes_t options; // to load it with; empty: those that it was compiled with
    bool has_memory;
    keel_program_memory_t memory;
} keel_payload_t;

// The caller frees *out with keel_free.
keel_status_t keel_payload_pack(const keel_payload_t *payload, uint8_t **out,
                                size_t *out_size) KEEL_MUST_CHECK;
// Whether keel_payload_pack_large should pack it: then its entry needs version 2 of the format
// (store.h).
bool keel_payload_is_large(const keel_payload_t *payload);
// Makes *executable, which are the payload's bytes of that (from keel_alloc), the packed payload.
// They stay where they are, and what the program shares with them, such as large constants, is not
// there twice. On failure *executable is what it was.
keel_status_t keel_payload_pack_large(const keel_payload_t *payload, uint8_t **executable,
                                      size_t *out_size) KEEL_MUST_CHECK;
// The size of the program, and the program in so many bytes.
size_t keel_payload_program_size(const keel_payload_t *payload);
keel_status_t keel_payload_program(const keel_payload_t *payload, void *out) KEEL_MUST_CHECK;
// Unpacks the program in place; *owned, freed with keel_free, holds it then.
keel_status_t keel_payload_expand(keel_payload_t *payload, uint8_t **owned) KEEL_MUST_CHECK;
// Borrows `bytes`. KEEL_CORRUPT if they are not a payload.
keel_status_t keel_payload_unpack(keel_bytes_t bytes, keel_payload_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_PAYLOAD_H_
