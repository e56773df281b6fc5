// sent: the lines that send data to the device, by the type of what they send. A client that
// compiles recorded operations (PyTorch/XLA) forgets them at its next sync.
//
// The stack is read a few times for each type between two programs that are asked for, within the
// budget of sites.h.
#ifndef KEEL_ENGINE_SENT_H_
#define KEEL_ENGINE_SENT_H_

#include "engine/sites.h"

enum {
    SENT_TYPES = 64, // between two programs that are asked for; others have no line
    SENT_SITES = 4,  // of one type
    SENT_LOOKS = 8,  // at the stack, for one type
    SENT_RANK = 8,
};

typedef struct sent_t sent_t;

keel_status_t sent_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void sent_destroy(sent_t *sent);
// See fork.c.
void sent_before_fork(keel_engine_t *engine);
void sent_after_fork(keel_engine_t *engine);
// From now on lines are noted.
void sent_begin(keel_engine_t *engine);
// The line that now sends data of that type, on the client's thread, which holds no lock. Single
// numbers are left out: they come with the line of the operation that takes them.
void sent_note(keel_engine_t *engine, PJRT_Buffer_Type element, const int64_t *dims, size_t rank);
// What was noted since the last call, with its text in `arena`.
const keel_made_t *sent_take(keel_engine_t *engine, keel_arena_t *arena, uint32_t *out_count);

#endif // KEEL_ENGINE_SENT_H_
