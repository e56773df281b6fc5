// memory: what programs need, and what devices have in use.
#ifndef KEEL_ENGINE_MEMORY_H_
#define KEEL_ENGINE_MEMORY_H_

#include "engine/core.h"

typedef struct memory_t memory_t;

keel_status_t memory_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nothing is watched. NULL is allowed.
void memory_destroy(memory_t *memory);
// Fills in what an execution needs, if the plugin reports it.
void memory_ask(keel_engine_t *engine, PJRT_LoadedExecutable *loaded, keel_payload_t *out);
// To the journal: at once, or from the background thread.
void memory_write(keel_engine_t *engine, const keel_journal_subject_t *subject,
                  const keel_program_memory_t *memory);
void memory_write_later(keel_engine_t *engine, const keel_journal_subject_t *subject,
                        const keel_program_memory_t *memory);

// Starts watching the memory of the client's devices.
void memory_watch(keel_engine_t *engine, PJRT_Client *client, const char *platform);
// Reads it, and writes changes to the journal.
void memory_sample(keel_engine_t *engine);
// Reads it for the last time for a client that is about to be destroyed (NULL: for all).
void memory_forget(keel_engine_t *engine, PJRT_Client *client);

#endif // KEEL_ENGINE_MEMORY_H_
