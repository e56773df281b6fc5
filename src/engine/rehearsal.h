// rehearsal: the way of a program whose device is not there (rehearse/rehearse.h). The client goes
// on while the target's compiler works; what that makes is stored when it is done.
#ifndef KEEL_ENGINE_REHEARSAL_H_
#define KEEL_ENGINE_REHEARSAL_H_

#include "engine/counters.h"
#include "engine/sites.h"
#include "engine/tiers.h"

typedef struct rehearsal_t rehearsal_t;

// Only while nobody uses it. NULL is allowed.
void rehearsal_destroy(rehearsal_t *rehearsal);

// What the journal says about the target; no name if the devices are there.
keel_journal_target_t rehearsal_target(const keel_engine_t *engine, const PJRT_Client *client);

// A program that the client has and that its compiler still has, too.
typedef struct rehearsed_t {
    const keel_key_t *key;
    const keel_digest_t *program;
    const char *name;
    const keel_place_t *place;
    bool is_kept;    // goes to the store
    claims_t claims; // handed over; released once it is there
} rehearsed_t;

// Whether what the command writes is not the user's, and goes when it ends.
bool rehearsal_discards(const keel_engine_t *engine);
// Whether nothing is compiled, so that the compiler is asked only how it shards results.
bool rehearsal_partitions(const keel_engine_t *engine);
// What the compile of an executable amounts to: "now", "later", or "never" if it is not compiled.
const char *rehearsal_word(PJRT_LoadedExecutable *loaded);
// Stores and journals what the compiler makes of it, whenever that is.
void rehearsal_follow(keel_engine_t *engine, PJRT_LoadedExecutable *loaded,
                      const rehearsed_t *rehearsed);
// The client executes the program (NULL: unknown).
void rehearsal_executed(keel_engine_t *engine, const counter_t *counter,
                        const PJRT_LoadedExecutable *loaded);
// The client's line (NULL: unknown) reads so many bytes of the buffer. KEEL_REFUSED if it must not.
keel_status_t rehearsal_read(keel_engine_t *engine, const site_t *site, PJRT_Buffer *buffer,
                             uint64_t bytes) KEEL_MUST_CHECK;
// A program of the calling thread was read: a constant like a value that this thread read, and that
// no device computed, is one that a jitted function closed over.
void rehearsal_look(keel_engine_t *engine, const keel_program_t *program, const char *name);
// Writes what is new of both to the journal.
void rehearsal_journal(keel_engine_t *engine);
// Waits until the compiler has no program left, with a line on a terminal.
void rehearsal_end(keel_engine_t *engine);

#endif // KEEL_ENGINE_REHEARSAL_H_
