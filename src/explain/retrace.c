// The client asked again for a program that it had: JAX remembers by more than what a program
// shows. What can be seen is whether the function was made anew, and under which names its
// arguments and results go.
#include <string.h>

#include "explain/diff.h"

static bool is_made_in_a_call(keel_str_t function) {
    static const char *const marks[] = {"<locals>", "<lambda>"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; ++i)
        for (size_t at = 0, size = strlen(marks[i]); at + size <= function.size; ++at)
            if (memcmp(function.data + at, marks[i], size) == 0) return true;
    return false;
}

// "f" of "make.<locals>.f", and of the module "jit_f".
static bool is_of_module(keel_str_t function, keel_str_t module) {
    size_t from = function.size;
    while (from > 0 && function.data[from - 1] != '.')
        --from;
    keel_str_t last = {function.data + from, function.size - from};
    if (keel_str_is(last, "<lambda>")) return keel_str_is(module, "jit__lambda");
    return keel_str_starts(module, KEEL_STR("jit_")) &&
           keel_str_equal((keel_str_t){module.data + 4, module.size - 4}, last);
}

// A function of the module's own level is one object, however often it is called.
static bool is_one_object(const keel_program_t *program) {
    enum { FRAMES = 128, OPS_TRIED = 64 };
    keel_str_t module = keel_program_str(program, program->name);
    const keel_block_t *block = keel_program_body(program, program->entry);
    if (!block) return false;
    bool is_known = false;
    for (keel_op_id_t op = block->first_op; op < block->end_op && op - block->first_op < OPS_TRIED;
         ++op) {
        keel_frame_t frames[FRAMES];
        uint32_t count = keel_program_frames(program, program->operations.data[op].location, frames,
                                             FRAMES, NULL);
        for (uint32_t i = 0; i < count && i < FRAMES; ++i) {
            if (!is_of_module(frames[i].function, module)) continue;
            if (is_made_in_a_call(frames[i].function)) return false;
            is_known = true;
        }
    }
    return is_known;
}

// The first two names that differ; false where none does.
static bool differ(keel_str_t a, keel_str_t b, keel_str_t out[2]) {
    if (keel_str_equal(a, b)) return false;
    out[0] = a;
    out[1] = b;
    return true;
}

static bool other_arguments(const keel_program_t *p, const keel_program_t *q, keel_str_t out[2]) {
    const keel_block_t *x = keel_program_body(p, p->entry), *y = keel_program_body(q, q->entry);
    for (uint32_t i = 0; x && y && i < x->argument_count && i < y->argument_count; ++i)
        if (differ(keel_program_argument_name(p, x, i), keel_program_argument_name(q, y, i), out))
            return true;
    return false;
}

static keel_str_t result_name(const keel_program_t *program, uint32_t number) {
    keel_list_t items =
        keel_program_array(program, program->functions.data[program->entry].result_attributes);
    if (number >= items.count) return KEEL_STR("");
    keel_attr_id_t name = keel_program_dict_find(program, items.items[number], "jax.result_info");
    const keel_attr_t *attr = keel_program_attr(program, name);
    return attr->kind == KEEL_ATTR_STRING ? keel_program_str(program, attr->a) : KEEL_STR("");
}

static bool other_results(const keel_program_t *p, const keel_program_t *q, keel_str_t out[2]) {
    enum { RESULTS = 1024 };
    for (uint32_t i = 0; i < RESULTS; ++i) {
        keel_str_t a = result_name(p, i), b = result_name(q, i);
        if (!a.size && !b.size) return false;
        if (differ(a, b, out)) return true;
    }
    return false;
}

static keel_status_t text_of(keel_explanation_t *out, keel_str_t text, const char **kept) {
    keel_str_t copy;
    KEEL_TRY(keel_arena_str(&out->arena, text, &copy));
    *kept = copy.data;
    return NULL;
}

keel_status_t keel_explain_retrace(const keel_program_t *before, const keel_program_t *after,
                                   keel_explanation_t *out) {
    keel_difference_t root = {.kind = KEEL_CAUSE_RETRACE,
                              .subject = "",
                              .old_value = "",
                              .new_value = "",
                              .note = "",
                              .place = {.file = "", .function = "", .call_file = ""},
                              .old_op = KEEL_NONE,
                              .new_op = KEEL_NONE,
                              .follows = KEEL_NONE};
    bool is_known = before && after && after->format == KEEL_FORMAT_MLIR &&
                    before->format == KEEL_FORMAT_MLIR && before->entry != KEEL_NONE &&
                    after->entry != KEEL_NONE;
    keel_str_t names[2];
    if (is_known && other_arguments(before, after, names))
        root.note = keel_note_text(KEEL_NOTE_ARGUMENT_TREE);
    else if (is_known && other_results(before, after, names))
        root.note = keel_note_text(KEEL_NOTE_RESULT_TREE);
    else if (is_known && is_one_object(after))
        root.note = keel_note_text(KEEL_NOTE_SAME_FUNCTION);
    if (keel_note_leads(root.note, KEEL_NOTE_ARGUMENT_TREE) ||
        keel_note_leads(root.note, KEEL_NOTE_RESULT_TREE)) {
        KEEL_TRY(text_of(out, names[0], &root.old_value));
        KEEL_TRY(text_of(out, names[1], &root.new_value));
    }
    return keel_explanation_add(out, &root);
}
