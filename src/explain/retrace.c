// The client asked again for a program that it had, because JAX compares more than a program shows.
// The names of its arguments and results tell, and what was recorded of the calls.
#include <string.h>

#include "explain/call.h"
#include "explain/diff.h"

// A function that is created in a call is a new one each time.
static bool is_made_anew(const char *origin) {
    return !strstr(origin, " at ") || strstr(origin, "<locals>") || strstr(origin, "<lambda>");
}

// "jit_scan" for a body of the user's: what JAX makes of a loop that runs outside jit.
static bool is_loose_loop(const keel_program_t *program, const keel_site_t *site) {
    static const char *const loops[] = {"jit_scan", "jit_while", "jit_cond", "jit_map", NULL};
    keel_str_t name = keel_program_str(program, program->name);
    const char *at = strstr(site->origin, " at ");
    if (!keel_str_is_one_of(name, loops) || !at) return false;
    keel_str_t own = {name.data + strlen("jit_"), name.size - strlen("jit_")};
    size_t size = (size_t)(at - site->origin);
    return size < own.size || memcmp(at - own.size, own.data, own.size) != 0;
}

// A traced function at module level, or a method, is one object however often it is called. A
// library's may wrap either.
static bool is_one_object(const char *origin, const char *application) {
    if (is_made_anew(origin)) return false;
    const char *file = strstr(origin, " at ") + strlen(" at ");
    const char *line = strrchr(file, ':');
    keel_str_t name = {file, line ? (size_t)(line - file) : strlen(file)};
    return !keel_is_foreign_file(name, application);
}

// Depends on the library that called jax.jit for the user: what else it compares.
static const char *of_library(const keel_site_t *site) {
    const char *file = site->place.library_file;
    if (is_made_anew(site->origin) || !file) return "";
    if (strstr(file, "/equinox/")) return keel_note_text(KEEL_NOTE_FILTERED);
    return strstr(file, "/flax/nnx/") ? keel_note_text(KEEL_NOTE_MODULE) : "";
}

// The first two names that differ; false if all agree.
static bool first_names_apart(keel_str_t a, keel_str_t b, keel_str_t out[2]) {
    if (keel_str_equal(a, b)) return false;
    out[0] = a;
    out[1] = b;
    return true;
}

static bool other_arguments(const keel_program_t *p, const keel_program_t *q, keel_str_t out[2]) {
    const keel_block_t *x = keel_program_body(p, p->entry), *y = keel_program_body(q, q->entry);
    for (uint32_t i = 0; x && y && i < x->argument_count && i < y->argument_count; ++i)
        if (first_names_apart(keel_program_argument_name(p, x, i),
                              keel_program_argument_name(q, y, i), out))
            return true;
    return false;
}

static bool other_results(const keel_program_t *p, const keel_program_t *q, keel_str_t out[2]) {
    enum { RESULTS = 1024 };
    for (uint32_t i = 0; i < RESULTS; ++i) {
        keel_str_t a = keel_program_result_name(p, i), b = keel_program_result_name(q, i);
        if (!a.size && !b.size) return false;
        if (first_names_apart(a, b, out)) return true;
    }
    return false;
}

static keel_status_t retrace_text(keel_explanation_t *out, keel_str_t text, const char **kept) {
    keel_str_t copy;
    KEEL_TRY(keel_arena_str(&out->arena, text, &copy));
    *kept = copy.data;
    return NULL;
}

// "another object of a class that has no __eq__: Config".
static keel_status_t note_class(keel_note_t note, keel_str_t class, keel_explanation_t *out,
                                const char **kept) {
    keel_buffer_t text;
    if (!class.size) {
        *kept = keel_note_text(note);
        return NULL;
    }
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s: %.*s", keel_note_text(note), (int)class.size, class.data);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = retrace_text(out, keel_bytes_str(keel_buffer_bytes(&text)), kept);
    keel_buffer_deinitialize(&text);
    return status;
}

// "weak i32[]" of "i32[] weak", as in the other causes.
static keel_status_t retrace_value(keel_explanation_t *out, keel_str_t value, const char **kept) {
    keel_str_t strong = keel_column_strong(value);
    if (strong.size == value.size) return retrace_text(out, value, kept);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "weak %.*s", KEEL_STR_ARGS(strong));
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = retrace_text(out, keel_bytes_str(keel_buffer_bytes(&text)), kept);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t tell_change(const keel_call_change_t *change, keel_explanation_t *out,
                                 keel_difference_t *root) {
    if (change->note == KEEL_NOTE_COUNT) return NULL;
    KEEL_TRY(note_class(change->note, change->class, out, &root->note));
    KEEL_TRY(retrace_text(out, change->subject, &root->subject));
    KEEL_TRY(retrace_value(out, change->before, &root->old_value));
    return retrace_value(out, change->after, &root->new_value);
}

// Of what the library was passed; its note and advice stay, except for a text, which can be nothing
// but static.
static keel_status_t tell_part(const keel_call_change_t *change, keel_explanation_t *out,
                               keel_difference_t *root) {
    if (keel_str_starts(change->before, KEEL_STR("'")))
        root->note = keel_note_text(KEEL_NOTE_STATIC_VALUE);
    KEEL_TRY(retrace_text(out, change->subject, &root->subject));
    KEEL_TRY(retrace_text(out, change->before, &root->old_value));
    return retrace_text(out, change->after, &root->new_value);
}

static keel_status_t tell_call(const keel_retrace_t *retrace, keel_explanation_t *out,
                               keel_difference_t *root) {
    keel_call_change_t change;
    bool is_recorded;
    KEEL_TRY(keel_call_compare(retrace->earlier, retrace->earlier_count, retrace->call, &out->arena,
                               &change, &is_recorded));
    root->note = of_library(retrace->site);
    if (*root->note && is_recorded && change.note == KEEL_NOTE_UNUSED)
        change.subject = KEEL_STR(""); // the library's name
    else if (*root->note && is_recorded && change.is_part)
        return tell_part(&change, out, root);
    else if (*root->note && !(is_recorded && change.note == KEEL_NOTE_CONFIG))
        return NULL;
    if (is_recorded) return tell_change(&change, out, root);
    if (is_one_object(retrace->site->origin, retrace->site->place.application) &&
        !retrace->is_jitted_there)
        root->note = keel_note_text(KEEL_NOTE_SAME_FUNCTION);
    return NULL;
}

keel_status_t keel_explain_retrace(const keel_retrace_t *retrace, keel_explanation_t *out) {
    const keel_program_t *before = retrace->before, *after = retrace->after;
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
    keel_str_t differing[2] = {KEEL_STR(""), KEEL_STR("")};
    if (is_known && other_arguments(before, after, differing))
        root.note = keel_note_text(KEEL_NOTE_ARGUMENT_TREE);
    else if (is_known && other_results(before, after, differing))
        root.note = keel_note_text(KEEL_NOTE_RESULT_TREE);
    KEEL_TRY(retrace_text(out, differing[0], &root.old_value));
    KEEL_TRY(retrace_text(out, differing[1], &root.new_value));
    if (is_known && !*root.note && is_made_anew(retrace->site->origin) &&
        is_loose_loop(after, retrace->site))
        root.note = keel_note_text(KEEL_NOTE_LOOSE_LOOP);
    if (is_known && !*root.note) KEEL_TRY(tell_call(retrace, out, &root));
    return keel_explanation_add(out, &root);
}
