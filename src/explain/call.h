// call: what differs between calls of one function that have the same program.
#ifndef KEEL_EXPLAIN_CALL_H_
#define KEEL_EXPLAIN_CALL_H_

#include "explain/cause.h"
#include "explain/columns.h"

typedef struct keel_call_change_t {
    keel_note_t note;   // KEEL_NOTE_COUNT: the function was made anew, or may have been
    keel_str_t subject; // an argument, a setting; empty if there is none
    keel_str_t before, after;
    bool is_part;     // of what a library that calls jax.jit was passed
    keel_str_t class; // of the object that differs; empty if there is none
} keel_call_change_t;

// Compares a call (keel_call_read) with earlier ones, the oldest first. *out_is_known is false, and
// *out is not set, if it or all of them are unknown. Text is that of the calls. Threads: any.
keel_status_t keel_call_compare(const char *const *earlier, uint32_t count, const char *call,
                                keel_arena_t *arena, keel_call_change_t *out,
                                bool *out_is_known) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_CALL_H_
