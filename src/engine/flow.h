// flow: which reads of the host cut a step. flow.c explains how that is known.
#ifndef KEEL_ENGINE_FLOW_H_
#define KEEL_ENGINE_FLOW_H_

#include "engine/pieces.h"

enum { FLOW_SAMPLES = 8 }; // executions of a program whose arguments are followed

typedef struct flow_t flow_t;

keel_status_t flow_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void flow_destroy(flow_t *flow);
// See fork.c.
void flow_before_fork(keel_engine_t *engine);
void flow_after_fork(keel_engine_t *engine);

// A client that compiles recorded operations when a result is wanted asked for the program at this
// place. Without a stack, the place is the program's own: a thread of autograd asked, which runs no
// Python.
void flow_asked(keel_engine_t *engine, const keel_digest_t *program, const keel_place_t *place,
                bool has_stack);
// The client executes a program (NULL: an unknown one) after `before` earlier executions of it.
void flow_executed(keel_engine_t *engine, counter_t *program, uint64_t before,
                   const PJRT_LoadedExecutable_Execute_Args *args);
// The client made a buffer of that rank from data of the host.
void flow_made(keel_engine_t *engine, const PJRT_Buffer *buffer, size_t rank);
// How many buffers, other than numbers, the host made since the last execution but one: what was
// sent for the next execution may precede the last one.
uint64_t flow_sent(const keel_engine_t *engine);
// The line that now reads this many bytes, on the client's thread, which holds no lock. NULL:
// unknown.
site_t *flow_read(keel_engine_t *engine, uint64_t bytes);
// That line (NULL: unknown) reads the buffer.
void flow_note(keel_engine_t *engine, const site_t *site, const PJRT_Buffer *buffer);
// Executions of all programs so far; too low if several threads execute at once.
uint64_t flow_executions(const keel_engine_t *engine);
// No more executions follow.
void flow_end(keel_engine_t *engine);
// See pieces.h.
keel_status_t flow_report(keel_engine_t *engine, pieces_report_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_FLOW_H_
