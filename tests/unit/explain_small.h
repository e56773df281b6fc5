// What two small programs differ in, as text: for tables of pairs.
#ifndef KEEL_TESTS_EXPLAIN_SMALL_H_
#define KEEL_TESTS_EXPLAIN_SMALL_H_

#include "explain_help.h"
#include "small_program.h"

// A line for each root: "shape x: f32[8] -> f32[4] @8<99 +2 (note)". Behind @ stands its line and
// that of the call, behind + how many differences follow.
typedef struct small_pair_t {
    const char *before, *after, *roots;
    const char *back; // the other way round; NULL: the same with the values exchanged
} small_pair_t;

static inline void print_roots(const keel_explanation_t *e, bool is_exchanged, keel_buffer_t *out) {
    if (e->unrelated) keel_buffer_format(out, "unrelated");
    for (size_t i = 0; i < e->root_count; ++i) {
        const keel_difference_t *d = &e->roots[i];
        keel_buffer_format(out, "%s%s %s: %s -> %s", i ? "\n" : "", keel_cause_facts(d->kind)->word,
                           d->subject, is_exchanged ? d->new_value : d->old_value,
                           is_exchanged ? d->old_value : d->new_value);
        if (d->place.line) keel_buffer_format(out, " @%u", d->place.line);
        if (d->place.call_line) keel_buffer_format(out, "<%u", d->place.call_line);
        if (d->folds) keel_buffer_format(out, " +%u", d->folds);
        if (*d->note) keel_buffer_format(out, " (%s)", d->note);
    }
}

static inline const char *roots_of(const keel_side_t *old_side, const keel_side_t *new_side,
                                   bool is_exchanged) {
    static char text[8192];
    keel_explanation_t e;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(old_side, new_side, &e));
    check_explanation(&e);
    print_roots(&e, is_exchanged, &out);
    snprintf(text, sizeof text, "%s", keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    keel_explanation_deinitialize(&e);
    return text;
}

static inline void check_roots(const small_pair_t *pair, const char *got, const char *expected,
                               const char *way) {
    if (strcmp(got, expected) != 0)
        fail_msg("%s:\n%s\nto\n%s\nexpected:\n%s\ngot:\n%s", way, pair->before, pair->after,
                 expected, got);
}

static inline void check_pair(const small_pair_t *pair) {
    keel_program_t before, after;
    small_program(pair->before, &before);
    small_program(pair->after, &after);
    const keel_side_t old_side = {.program = &before}, new_side = {.program = &after};
    check_roots(pair, roots_of(&old_side, &new_side, false), pair->roots, "there");
    check_roots(pair, roots_of(&new_side, &old_side, !pair->back),
                pair->back ? pair->back : pair->roots, "back");
    keel_program_deinitialize(&before);
    keel_program_deinitialize(&after);
}

#define CHECK_PAIRS(...)                                                                           \
    do {                                                                                           \
        static const small_pair_t pairs[] = {__VA_ARGS__};                                         \
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)                                  \
            check_pair(&pairs[i]);                                                                 \
    } while (0)

#endif // KEEL_TESTS_EXPLAIN_SMALL_H_
