// executables: loaded executables by pointer: what counts their executions, the gang they are
// executed in, and the bytes they were loaded from.
#ifndef KEEL_ENGINE_EXECUTABLES_H_
#define KEEL_ENGINE_EXECUTABLES_H_

#include "engine/gang.h"

typedef struct executables_t executables_t;

keel_status_t executables_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// While nothing is in it. NULL is allowed.
void executables_destroy(executables_t *table);
// Takes over `data` (from keel_alloc; NULL where it was compiled), also on failure.
keel_status_t executables_add(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                              const keel_digest_t *program, uint8_t *data,
                              size_t size) KEEL_MUST_CHECK;
// Makes an executable that was added one of its key's gang.
keel_status_t executables_join(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                               const gang_program_t *program) KEEL_MUST_CHECK;
// Says once that devices wait for others which do not come.
void executables_watch_gangs(keel_engine_t *engine);
// Around a fork: a child must not find the lock held by a thread that it does not have.
void executables_lock(executables_t *table);
void executables_unlock(executables_t *table);

#endif // KEEL_ENGINE_EXECUTABLES_H_
