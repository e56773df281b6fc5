// The client asked again for a program that it had: JAX remembers by more than what a program
// shows. What can be seen is whether the function was made anew, and under which names its
// arguments and results go.
#include <string.h>

#include "explain/diff.h"

// A traced function of the module's own level, or a method, is one object however often it is
// called; one that is made within a call is another one each time. A library's may wrap either.
static bool is_one_object(const char *origin) {
    const char *file = strstr(origin, " at ");
    if (!file || strstr(origin, "<locals>") || strstr(origin, "<lambda>")) return false;
    file += strlen(" at ");
    const char *line = strrchr(file, ':');
    return !keel_is_library_file((keel_str_t){file, line ? (size_t)(line - file) : strlen(file)});
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
                                   const char *origin, keel_explanation_t *out) {
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
    else if (is_known && is_one_object(origin))
        root.note = keel_note_text(KEEL_NOTE_SAME_FUNCTION);
    if (keel_note_leads(root.note, KEEL_NOTE_ARGUMENT_TREE) ||
        keel_note_leads(root.note, KEEL_NOTE_RESULT_TREE)) {
        KEEL_TRY(text_of(out, names[0], &root.old_value));
        KEEL_TRY(text_of(out, names[1], &root.new_value));
    }
    return keel_explanation_add(out, &root);
}
