// Functions that one origin stands for, but that are two. One factory made them:
// make_update(actor_loss) and make_update(critic_loss) give functions of one name, file and line,
// and so does a method of two objects. What they closed over distinguishes them: the same call runs
// different functions of the user's. The same holds for a library's function that is given one to
// run, diffeqsolve(ODETerm(field), ...). And two lambdas may be on one line.
#define _GNU_SOURCE // memmem
#include <string.h>

#include "host/site.h"

// A call of a user's function in the function's own body, and what it ran.
typedef struct call_t {
    uint32_t line, column;
    keel_str_t file, callee;
    uint32_t at; // of a lambda: its number in the text, or its line
} call_t;

enum { CALLS = 128, OPS = 4096, NUMBERED = 1 << 31 };

// The function that an origin names.
typedef struct function_t {
    keel_str_t name, file;
    lambdas_t lambdas; // of the file
    bool takes_others; // keel_one_origin_t
    const char *application;
} function_t;

// What a program shows of it.
typedef struct shown_t {
    call_t calls[CALLS];
    size_t call_count;
    uint64_t lambdas[SITE_LAMBDAS / 64 + 1]; // by number: that its body is in
    bool is_in_lambda, is_elsewhere;         // operations of its body are in one, are in none
} shown_t;

static bool is_same_call(const call_t *a, const call_t *b) {
    return a->line == b->line && a->column == b->column;
}

static bool is_same_callee(const call_t *a, const call_t *b) {
    return a->at == b->at && keel_str_equal(a->file, b->file) &&
           keel_str_equal(a->callee, b->callee);
}

static void add_call(shown_t *shown, const call_t *call) {
    for (size_t i = 0; i < shown->call_count; ++i)
        if (is_same_call(&shown->calls[i], call) && is_same_callee(&shown->calls[i], call)) return;
    if (shown->call_count < CALLS) shown->calls[shown->call_count++] = *call;
}

// Without columns, all on a line would be the same.
static uint32_t lambda_of(const function_t *function, const keel_frame_t *frame) {
    if (!frame->column || !keel_str_equal(frame->file, function->file)) return 0;
    return site_lambda_at(&function->lambdas, frame->line, frame->column);
}

static uint32_t lambda_token(const function_t *function, const keel_frame_t *frame) {
    if (!site_is_lambda(frame->function)) return 0;
    uint32_t number = lambda_of(function, frame);
    return number ? NUMBERED | number : frame->line;
}

// True for a function whose def is in the other's body.
static bool is_within(const keel_frame_t *frame, const keel_frame_t *other) {
    static const char inside[] = ".<locals>.";
    keel_str_t name = other->function, whole = frame->function;
    return whole.size > name.size + sizeof inside - 1 && keel_str_starts(whole, name) &&
           memcmp(whole.data + name.size, inside, sizeof inside - 1) == 0 &&
           keel_str_equal(frame->file, other->file);
}

// The user's function nearest to the frame `own` within it; false if there is none. A function that
// is defined in its body may be a branch, and what that runs another choice: only where the
// arguments are another model's is it looked through.
static bool callee_of(const function_t *function, const keel_frame_t *frames, uint32_t own,
                      call_t *out) {
    uint32_t at = own;
    for (;;) {
        while (at > 0 && keel_is_foreign_file(frames[at - 1].file, function->application))
            --at;
        if (!at) return false;
        if (!function->takes_others || !is_within(&frames[at - 1], &frames[own])) break;
        own = --at;
    }
    const keel_frame_t *callee = &frames[at - 1];
    *out = (call_t){.line = frames[own].line,
                    .column = frames[own].column,
                    .file = callee->file,
                    .callee = callee->function,
                    .at = lambda_token(function, callee)};
    return frames[own].column;
}

static void note_lambda(const function_t *function, const keel_frame_t *own, shown_t *out) {
    uint32_t number = lambda_of(function, own);
    if (number) out->lambdas[number / 64] |= (uint64_t)1 << number % 64;
    out->is_in_lambda |= number != 0;
    out->is_elsewhere |= number == 0;
}

static void look_at_ops(const keel_program_t *program, const function_t *function,
                        keel_op_id_t first, keel_op_id_t end, shown_t *out) {
    keel_frame_t frames[SITE_FRAMES];
    for (keel_op_id_t op = first; op < end && op - first < OPS; ++op) {
        uint32_t depth = keel_program_frames(program, program->operations.data[op].location, frames,
                                             SITE_FRAMES, NULL);
        if (depth > SITE_FRAMES) depth = SITE_FRAMES;
        uint32_t own = depth;
        while (own > 0 && !(keel_str_equal(frames[own - 1].function, function->name) &&
                            keel_str_equal(frames[own - 1].file, function->file)))
            --own;
        call_t call;
        if (!own--) continue;
        note_lambda(function, &frames[own], out);
        if (callee_of(function, frames, own, &call)) add_call(out, &call);
    }
}

// The operations of the function itself; if they show no call, all. JAX traces an inner jit once,
// and its operations keep the stack of that first use, which may be in another function.
static void look_at(const keel_program_t *program, const function_t *function, shown_t *out) {
    memset(out, 0, sizeof *out);
    if (program->entry != KEEL_NONE) {
        const keel_region_t *region =
            &program->regions.data[program->functions.data[program->entry].region];
        keel_op_id_t first =
            region->block_count ? program->blocks.data[region->first_block].first_op : region->end;
        look_at_ops(program, function, first, region->end, out);
    }
    if (out->call_count) return;
    memset(out, 0, sizeof *out);
    look_at_ops(program, function, 0, keel_program_op_count(program), out);
}

// True if both make the call, and it runs no function that is the same in both.
static bool runs_others(const shown_t *a, const shown_t *b, const call_t *call) {
    bool is_made = false;
    for (size_t i = 0; i < b->call_count; ++i) {
        if (!is_same_call(&b->calls[i], call)) continue;
        is_made = true;
        for (size_t k = 0; k < a->call_count; ++k)
            if (is_same_call(&a->calls[k], call) && is_same_callee(&a->calls[k], &b->calls[i]))
                return false;
    }
    return is_made;
}

static bool are_two_lambdas(const shown_t *a, const shown_t *b) {
    if (!a->is_in_lambda || !b->is_in_lambda || a->is_elsewhere || b->is_elsewhere) return false;
    for (size_t i = 0; i < sizeof a->lambdas / sizeof *a->lambdas; ++i)
        if (a->lambdas[i] & b->lambdas[i]) return false;
    return true;
}

// "init of Net at /v/lib/net.py:389 for /home/u/train.py:22"
static bool read_origin(keel_str_t origin, keel_str_t *out_name, keel_str_t *out_file) {
    static const char at[] = " at ", of[] = " of ", asker[] = " for ";
    const char *end = memmem(origin.data, origin.size, at, sizeof at - 1);
    if (!end) return false;
    keel_str_t name = {origin.data, (size_t)(end - origin.data)};
    const char *within = memmem(name.data, name.size, of, sizeof of - 1);
    if (within) name.size = (size_t)(within - name.data);
    const char *path = end + sizeof at - 1;
    keel_str_t rest = {path, origin.size - (size_t)(path - origin.data)};
    const char *stop = memmem(rest.data, rest.size, asker, sizeof asker - 1);
    if (stop) rest.size = (size_t)(stop - rest.data);
    const char *colon = memrchr(rest.data, ':', rest.size);
    if (colon) rest.size = (size_t)(colon - rest.data);
    *out_name = name;
    *out_file = rest;
    return true;
}

keel_str_t keel_origin_file(keel_str_t origin) {
    keel_str_t name, file;
    return read_origin(origin, &name, &file) ? file : KEEL_STR("");
}

bool keel_is_other_closure(const keel_one_origin_t *pair) {
    static const char made[] = "<locals>";
    function_t function = {.takes_others = pair->takes_others, .application = pair->application};
    shown_t a, b;
    if (!read_origin(keel_str(pair->origin), &function.name, &function.file)) return false;
    bool is_lambda = site_is_lambda(function.name);
    bool is_made = memmem(function.name.data, function.name.size, made, sizeof made - 1) ||
                   keel_is_foreign_file(function.file, pair->application);
    bool is_method = !is_made && memchr(function.name.data, '.', function.name.size);
    bool runs_any = is_made || (is_method && pair->takes_others);
    if (!runs_any && !is_lambda) return false;
    site_lambdas_of(pair->text, &function.lambdas);
    look_at(pair->before, &function, &a);
    look_at(pair->after, &function, &b);
    if (is_lambda && are_two_lambdas(&a, &b)) return true;
    for (size_t i = 0; runs_any && i < a.call_count; ++i)
        if (runs_others(&a, &b, &a.calls[i])) return true;
    return false;
}

// Random generators have constants of their own, unsigned words.
static bool is_data(const keel_program_t *program, keel_attr_id_t value) {
    const keel_attr_t *attr = keel_program_attr(program, value);
    if (attr->kind != KEEL_ATTR_TENSOR) return false;
    const keel_type_t *type = keel_program_type(program, attr->a);
    const keel_type_t *element = keel_program_type(program, type->a);
    if (element->kind == KEEL_TYPE_INTEGER && element->aux == KEEL_UNSIGNED && element->a == 32)
        return false;
    keel_tensor_view_t tensor;
    keel_status_t status =
        keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &tensor);
    bool is_array = !status && tensor.count > 1 && !tensor.is_splat;
    keel_status_ignore(status);
    return is_array;
}

bool keel_closes_over_data(const keel_program_t *program) {
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count; ++op) {
        if (!keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                         "constant"))
            continue;
        keel_attr_id_t dict = program->operations.data[op].attributes;
        if (is_data(program, keel_program_dict_find(program, dict, "value"))) return true;
    }
    return false;
}
