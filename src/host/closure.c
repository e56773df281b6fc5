// Functions that one factory made: make_update(actor_loss) and make_update(critic_loss) give
// functions of one name, file and line. What they closed over distinguishes them: the same call
// runs different functions of the user's. The same holds for a library's function that is given one
// to run, diffeqsolve(ODETerm(field), ...).
#define _GNU_SOURCE // memmem
#include <string.h>

#include "host/site.h"

// A call of a user's function in the function's own body, and what it ran.
typedef struct call_t {
    uint32_t line, column;
    keel_str_t file, callee;
    uint32_t at; // of a lambda: its line
} call_t;

enum { CALLS = 128, OPS = 4096 };

typedef struct calls_t {
    call_t list[CALLS];
    size_t count;
} calls_t;

static bool is_same_call(const call_t *a, const call_t *b) {
    return a->line == b->line && a->column == b->column;
}

static bool is_same_callee(const call_t *a, const call_t *b) {
    return a->at == b->at && keel_str_equal(a->file, b->file) &&
           keel_str_equal(a->callee, b->callee);
}

static void add_call(calls_t *calls, const call_t *call) {
    for (size_t i = 0; i < calls->count; ++i)
        if (is_same_call(&calls->list[i], call) && is_same_callee(&calls->list[i], call)) return;
    if (calls->count < CALLS) calls->list[calls->count++] = *call;
}

// The user's function nearest to the frame `own` within it; false if there is none.
static bool callee_of(const keel_frame_t *frames, uint32_t own, call_t *out) {
    uint32_t at = own;
    while (at > 0 && keel_is_library_file(frames[at - 1].file))
        --at;
    if (!at) return false;
    const keel_frame_t *callee = &frames[at - 1];
    *out = (call_t){.line = frames[own].line,
                    .column = frames[own].column,
                    .file = callee->file,
                    .callee = callee->function,
                    .at = site_is_lambda(callee->function) ? callee->line : 0};
    return true;
}

static void collect_calls(const keel_program_t *program, keel_str_t function, keel_str_t file,
                          calls_t *out) {
    uint32_t count = keel_program_op_count(program);
    keel_frame_t frames[SITE_FRAMES];
    out->count = 0;
    for (keel_op_id_t op = 0; op < count && op < OPS; ++op) {
        uint32_t depth = keel_program_frames(program, program->operations.data[op].location, frames,
                                             SITE_FRAMES, NULL);
        if (depth > SITE_FRAMES) depth = SITE_FRAMES;
        uint32_t own = depth;
        while (own > 0 && !(keel_str_equal(frames[own - 1].function, function) &&
                            keel_str_equal(frames[own - 1].file, file)))
            --own;
        call_t call;
        // Without columns, two calls on one line would be the same.
        if (own-- && frames[own].column && callee_of(frames, own, &call)) add_call(out, &call);
    }
}

// True if both make the call, and it runs no function that is the same in both.
static bool runs_others(const calls_t *a, const calls_t *b, const call_t *call) {
    bool is_made = false;
    for (size_t i = 0; i < b->count; ++i) {
        if (!is_same_call(&b->list[i], call)) continue;
        is_made = true;
        for (size_t k = 0; k < a->count; ++k)
            if (is_same_call(&a->list[k], call) && is_same_callee(&a->list[k], &b->list[i]))
                return false;
    }
    return is_made;
}

bool keel_is_other_closure(const keel_program_t *before, const keel_program_t *after,
                           keel_str_t origin) {
    static const char at[] = " at ", made[] = "<locals>";
    origin = keel_origin_function(origin);
    const char *end = memmem(origin.data, origin.size, at, sizeof at - 1);
    if (!end) return false;
    keel_str_t function = {origin.data, (size_t)(end - origin.data)};
    const char *path = end + sizeof at - 1;
    keel_str_t file = {path, origin.size - (size_t)(path - origin.data)};
    bool is_made = memmem(function.data, function.size, made, sizeof made - 1);
    if (!is_made && !keel_is_library_file(file)) return false;
    calls_t a, b;
    collect_calls(before, function, file, &a);
    collect_calls(after, function, file, &b);
    for (size_t i = 0; i < a.count; ++i)
        if (runs_others(&a, &b, &a.list[i])) return true;
    return false;
}
