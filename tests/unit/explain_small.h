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

// The lines of the user's file that stand in a program, behind '|'; false if there are none. A last
// line behind "|~" has no newline.
static inline bool small_source(const char *text, char out[4096]) {
    size_t size = 0;
    bool is_any = false;
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (*at != '|') continue;
        bool is_open = at[1] == '~';
        int skipped = 1 + (at[1] == ' ' || is_open);
        is_any = true;
        size +=
            (size_t)snprintf(out + size, 4096 - size, "%.*s%s", (int)strcspn(at, "\n") - skipped,
                             at + skipped, is_open ? "" : "\n");
        assert_true(size < 4096);
    }
    return is_any;
}

static inline keel_status_t read_small_source(void *context, const char *file, keel_str_t *out) {
    if (strcmp(file, "/home/ada/train.py") != 0) return keel_status_make(KEEL_NOT_FOUND, "no text");
    *out = keel_str(context);
    return NULL;
}

typedef struct small_sides_t {
    keel_program_t programs[2];
    char texts[2][4096];
    keel_sources_t sources[2];
    keel_side_t before, after; // as the older and the newer of the two
    keel_side_t back[2];       // the other way round
} small_sides_t;

// Source in both makes them two runs. In one of them, it is that of the run.
static inline void small_sides(const char *before, const char *after, small_sides_t *out) {
    const char *const texts[] = {before, after};
    bool has[2];
    for (int i = 0; i < 2; ++i) {
        small_program(texts[i], &out->programs[i]);
        has[i] = small_source(texts[i], out->texts[i]);
        out->sources[i] = (keel_sources_t){.read = read_small_source, .context = out->texts[i]};
    }
    const keel_sources_t *one = &out->sources[has[1]];
    bool has_one = has[0] != has[1], has_both = has[0] && has[1];
    out->before =
        (keel_side_t){.program = &out->programs[0], .sources = has_both ? &out->sources[0] : NULL};
    out->after = (keel_side_t){.program = &out->programs[1],
                               .sources = has_both  ? &out->sources[1]
                                          : has_one ? one
                                                    : NULL};
    out->back[0] =
        (keel_side_t){.program = &out->programs[1], .sources = has_both ? &out->sources[1] : NULL};
    out->back[1] = (keel_side_t){.program = &out->programs[0],
                                 .sources = has_both  ? &out->sources[0]
                                            : has_one ? one
                                                      : NULL};
}

static inline void small_release(small_sides_t *sides) {
    keel_program_deinitialize(&sides->programs[0]);
    keel_program_deinitialize(&sides->programs[1]);
}

static inline void check_roots(const small_pair_t *pair, const char *got, const char *expected,
                               const char *way) {
    if (strcmp(got, expected) != 0)
        fail_msg("%s:\n%s\nto\n%s\nexpected:\n%s\ngot:\n%s", way, pair->before, pair->after,
                 expected, got);
}

static inline void check_pair(const small_pair_t *pair) {
    static small_sides_t sides;
    small_sides(pair->before, pair->after, &sides);
    check_roots(pair, roots_of(&sides.before, &sides.after, false), pair->roots, "there");
    check_roots(pair, roots_of(&sides.back[0], &sides.back[1], !pair->back),
                pair->back ? pair->back : pair->roots, "back");
    small_release(&sides);
}

#define CHECK_PAIRS(...)                                                                           \
    do {                                                                                           \
        static const small_pair_t pairs[] = {__VA_ARGS__};                                         \
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)                                  \
            check_pair(&pairs[i]);                                                                 \
    } while (0)

#endif // KEEL_TESTS_EXPLAIN_SMALL_H_
