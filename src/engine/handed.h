// handed: which program the bytes are of that clients get for executables (Serialize), in this
// process and, through the cache folder (store/handed.h), in others.
//
// Threads: any.
#ifndef KEEL_ENGINE_HANDED_H_
#define KEEL_ENGINE_HANDED_H_

#include "engine/core.h"

typedef struct handed_t handed_t;

keel_status_t handed_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void handed_destroy(handed_t *handed);

// A program that the client once asked for, and its compile options.
typedef struct handed_program_t {
    char format[16];         // as the client named it: "mlir", "hlo"
    uint8_t *code, *options; // owned
    size_t code_size, options_size;
} handed_program_t;

// Whether an executable with these serialized bytes was handed out, and what it was made of.
bool handed_find(keel_engine_t *engine, const keel_digest_t *bytes, handed_program_t *out);
void handed_program_release(handed_program_t *program);

#endif // KEEL_ENGINE_HANDED_H_
