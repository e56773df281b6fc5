// executables: finds for an executable, by pointer, what it was made of, the counter of its
// executions, its gang, and the bytes it was loaded from.
#ifndef KEEL_ENGINE_EXECUTABLES_H_
#define KEEL_ENGINE_EXECUTABLES_H_

#include "engine/gang.h"

typedef struct executables_t executables_t;

keel_status_t executables_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while it is empty. NULL is allowed.
void executables_destroy(executables_t *table);
// See fork.c.
void executables_before_fork(keel_engine_t *engine);
void executables_after_fork(keel_engine_t *engine);

// What an executable was made of.
typedef struct made_of_t {
    keel_digest_t program, options; // of the bytes that the client sent
    char format[16];                // as the client named it; "": it loaded it from elsewhere
} made_of_t;

// `payload`: what it was loaded from, held by `shared` (taken over, also on failure; NULL if Keel
// does not have the bytes).
keel_status_t executables_add(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                              const made_of_t *made_of, keel_shared_t *shared,
                              keel_bytes_t payload) KEEL_MUST_CHECK;
// One of a topology, which no device has.
keel_status_t executables_add_unloaded(keel_engine_t *engine, const PJRT_Executable *executable,
                                       const made_of_t *made_of) KEEL_MUST_CHECK;
// False if that is not known.
bool executables_made_of(keel_engine_t *engine, const PJRT_Executable *executable, made_of_t *out);
// The outline of an executable that the client took: KEEL_OK with the answer to PJRT's question in
// *program, whose format is not set; KEEL_NOT_FOUND if nobody has kept one yet, KEEL_UNSUPPORTED if
// it has none, or too little room. These carry no text.
keel_code_t executables_outline(keel_engine_t *engine, const PJRT_Executable *executable,
                                PJRT_Program *program);
// Keeps one (taken over; NULL: it has none), unless there is one already.
void executables_keep_outline(keel_engine_t *engine, const PJRT_Executable *executable,
                              uint8_t *outline, size_t size);
// Adds an executable that is in the table to the gang of its key.
keel_status_t executables_join(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                               const gang_program_t *program) KEEL_MUST_CHECK;
// Warns once if devices wait for others that do not come.
void executables_watch_gangs(keel_engine_t *engine);

#endif // KEEL_ENGINE_EXECUTABLES_H_
