// call: what differs between calls of one function that have the same program.
#ifndef KEEL_EXPLAIN_CALL_H_
#define KEEL_EXPLAIN_CALL_H_

#include "explain/cause.h"

typedef struct keel_call_change_t {
    keel_note_t note;   // KEEL_NOTE_COUNT: the function was made anew, or may have been
    keel_str_t subject; // an argument, a setting; empty if there is none
    keel_str_t before, after;
    keel_str_t class; // of the object that differs; empty if there is none
} keel_call_change_t;

// A line of it: keel_call_read lists the kinds.
typedef struct keel_call_line_t {
    char kind;
    keel_str_t name, value;
} keel_call_line_t;

// Takes the next line off; false at the end.
bool keel_call_next(keel_str_t *inout, keel_call_line_t *out);

// Compares a call (keel_call_read) with earlier ones, the oldest first. False if it or all of them
// are unknown. Text is that of the calls. Threads: any.
bool keel_call_compare(const char *const *earlier, uint32_t count, const char *call,
                       keel_call_change_t *out);

#endif // KEEL_EXPLAIN_CALL_H_
