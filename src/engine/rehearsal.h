// rehearsal: the way of a program whose device is not there (rehearse/rehearse.h). The client goes
// on while the target's compiler works; what that makes is stored when it is done.
#ifndef KEEL_ENGINE_REHEARSAL_H_
#define KEEL_ENGINE_REHEARSAL_H_

#include "engine/core.h"

// A program that the client has and that its compiler still has, too.
typedef struct rehearsed_t {
    const keel_key_t *key;
    const keel_digest_t *program;
    const char *name;
    const keel_place_t *place;
    bool is_kept; // goes to the store
} rehearsed_t;

// What the compile of an executable amounts to: "now", "later", or "never" if it is not compiled.
const char *rehearsal_word(PJRT_LoadedExecutable *loaded);
// Stores and journals what the compiler makes of it, whenever that is.
void rehearsal_follow(keel_engine_t *engine, PJRT_LoadedExecutable *loaded,
                      const rehearsed_t *rehearsed);
// Waits until the compiler has no program left, with a line on a terminal.
void rehearsal_end(keel_engine_t *engine);

#endif // KEEL_ENGINE_REHEARSAL_H_
