// large: what makes a program large: lines that it has many times over, because a loop of the
// host's was unrolled, and arrays that it carries as constants.
//
// Ownership: text is the program's, or in the caller's arena. Threads: no shared state.
#ifndef KEEL_EXPLAIN_LARGE_H_
#define KEEL_EXPLAIN_LARGE_H_

#include "host/host.h"
#include "program/program.h"

enum { KEEL_LARGE_ARRAYS = 8 };

// Operations that come from one line's call, again and again from the same places in it.
typedef struct keel_large_repeat_t {
    keel_frame_t line;   // the call that is repeated
    uint32_t times;      // 24 layers
    uint32_t operations; // of all of them
} keel_large_repeat_t;

typedef struct keel_large_array_t {
    const char *type; // "f32[1024,2048]"
    uint64_t bytes;
    keel_frame_t line; // of the user's that uses it; file "": unknown
} keel_large_array_t;

typedef struct keel_large_t {
    uint32_t operations; // of the program
    bool has_repeat;
    keel_large_repeat_t repeat;                   // the one that makes the most of the program
    keel_large_array_t arrays[KEEL_LARGE_ARRAYS]; // the largest first
    uint32_t array_count;
    uint32_t array_total; // all that are as large as those are listed
    uint64_t array_bytes; // of them
} keel_large_t;

// `application`: packages that count as the user's (keel_is_foreign_file); NULL: none.
keel_status_t keel_explain_large(const keel_program_t *program, const char *application,
                                 keel_arena_t *arena, keel_large_t *out) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_LARGE_H_
