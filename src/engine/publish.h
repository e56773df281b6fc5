// publish: compiled executables go to the store, and each program to the journal.
#ifndef KEEL_ENGINE_PUBLISH_H_
#define KEEL_ENGINE_PUBLISH_H_

#include "engine/tiers.h"

typedef struct publication_t {
    PJRT_Client *client;
    uint8_t *payload; // serialized; handed over, from keel_alloc
    size_t payload_size;
    keel_bytes_t options; // borrowed; to load it with, see keel_payload_t
    const keel_key_t *key;
    const keel_digest_t *program;
    const char *name;
    double compile_seconds;
    bool is_proved; // by loading it back, see proofs.h
    bool has_memory;
    keel_program_memory_t memory; // if it is not proved
    claims_t claims;              // handed over
} publication_t;

// Queues an executable that was just compiled. Always releases the claims.
void publish_executable(keel_engine_t *engine, const publication_t *publication);
// Stores what the compiler of a rehearsal made.
void publish_compiled(keel_engine_t *engine, const keel_key_t *key, const keel_digest_t *program,
                      const char *name, const keel_compiled_t *compiled);
// If loading a large entry took longer than its compile had taken, puts a record of that in its
// place: it is compiled from then on. The entry may lose its payload. False if it is worth keeping.
bool publish_slow(keel_engine_t *engine, const keel_tier_t *tier, double seconds,
                  keel_entry_t *entry);
// Reports that a program is not stored, and why. Takes the status.
void publish_failed(keel_engine_t *engine, const char *step, const keel_key_t *key,
                    const char *name, keel_status_t status);
// Queues a program's bytes (copied) for the journal.
void publish_program(keel_engine_t *engine, const keel_digest_t *program, const char *format,
                     keel_bytes_t bytes);
// The same for a program that was asked for with constants beside it; takes over its bytes.
keel_status_t publish_whole_program(keel_engine_t *engine, const keel_digest_t *program,
                                    const char *format, keel_buffer_t *bytes) KEEL_MUST_CHECK;

// The same for the compile options that a client sent, once per process.
void publish_options(keel_engine_t *engine, const keel_digest_t *options, keel_bytes_t bytes);

#endif // KEEL_ENGINE_PUBLISH_H_
