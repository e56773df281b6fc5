// memory: what programs need, and what devices have in use.
#ifndef KEEL_ENGINE_MEMORY_H_
#define KEEL_ENGINE_MEMORY_H_

#include "engine/core.h"

typedef struct memory_t memory_t;

keel_status_t memory_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// While nothing is watched. NULL is allowed.
void memory_destroy(memory_t *memory);
// Fills in what an execution needs, where the plugin tells.
void memory_ask(keel_engine_t *engine, PJRT_LoadedExecutable *loaded, keel_payload_t *out);
// To the journal: at once, or in the background.
void memory_write(keel_engine_t *engine, const keel_journal_subject_t *subject,
                  const keel_program_memory_t *memory);
void memory_write_later(keel_engine_t *engine, const keel_journal_subject_t *subject,
                        const keel_program_memory_t *memory);

// From now on the memory of the client's devices is looked at.
void memory_watch(keel_engine_t *engine, PJRT_Client *client, const char *platform);
// Looks, and writes to the journal what moved.
void memory_sample(keel_engine_t *engine);
// Looks for the last time at the devices of a client that is about to be destroyed (NULL: of all).
void memory_forget(keel_engine_t *engine, PJRT_Client *client);

#endif // KEEL_ENGINE_MEMORY_H_
