// makers: which program made what an execution takes, and results that nobody takes any more.
// makers.c explains how that is known.
//
// Threads: any; it has a lock of its own.
#ifndef KEEL_ENGINE_MAKERS_H_
#define KEEL_ENGINE_MAKERS_H_

#include "engine/counters.h"

typedef struct makers_t makers_t;

keel_status_t makers_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void makers_destroy(makers_t *makers);
// See fork.c.
void makers_before_fork(keel_engine_t *engine);
void makers_after_fork(keel_engine_t *engine);

// The plugin has taken an execution, and its `results` buffers are there.
void makers_executed(keel_engine_t *engine, counter_t *program, size_t results,
                     const PJRT_LoadedExecutable_Execute_Args *args);
// The client is about to destroy a buffer.
void makers_destroyed(keel_engine_t *engine, const PJRT_Buffer *buffer);
// Writes what is known and was not written yet. `is_last`: no more executions follow.
void makers_journal(keel_engine_t *engine, bool is_last);

#endif // KEEL_ENGINE_MAKERS_H_
