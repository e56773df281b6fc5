// Whole explanations of all pairs of samples, in both directions: tests/golden/explanations.txt.
// The corpora say whether an explanation is right. This test says that one changed: its causes,
// what follows from them, values, lines and notes.
//
// KEEL_GOLDEN=write rewrites the file. Read what git shows then: each line that changed is
// something that users will see.
#define _GNU_SOURCE
#include "explain_help.h"

typedef struct names_t {
    char *list[1024];
    size_t count;
} names_t;

static keel_status_t add_name(void *context, const char *name) {
    names_t *names = context;
    if (!strstr(name, ".before.")) return NULL;
    assert_true(names->count < sizeof names->list / sizeof *names->list);
    return keel_strdup(keel_str(name), &names->list[names->count++]);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *base(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static void add_difference(keel_buffer_t *out, const keel_difference_t *d) {
    keel_buffer_format(out, "%s %s: %s -> %s", keel_cause_facts(d->kind)->word, d->subject,
                       d->old_value, d->new_value);
    keel_buffer_format(out, " | %s:%u %s | %s:%u | %s\n", base(d->place.file), d->place.line,
                       d->place.function, base(d->place.call_file), d->place.call_line, d->note);
}

static void add_explanation(keel_buffer_t *out, const keel_program_t *before,
                            const keel_program_t *after, const char *title) {
    keel_explanation_t e;
    explain(before, after, &e);
    keel_buffer_format(out, "%s: %zu causes, %zu follow, %.3f alike\n", title, e.root_total,
                       e.folded_total, e.alike);
    for (size_t i = 0; i < e.root_count; ++i) {
        keel_buffer_format(out, "  %zu ", i);
        add_difference(out, &e.roots[i]);
    }
    for (size_t i = 0; i < e.folded_count; ++i) {
        keel_buffer_format(out, "    of %u: ", e.folded[i].follows);
        add_difference(out, &e.folded[i]);
    }
    keel_explanation_deinitialize(&e);
}

static void add_pair(keel_buffer_t *out, const char *before_name) {
    const char *dot = strstr(before_name, ".before.");
    int size = (int)(dot - before_name);
    char path[300], title[300];
    loaded_t before, after;
    snprintf(path, sizeof path, "explain/%s", before_name);
    load(&before, path);
    snprintf(path, sizeof path, "explain/%.*s.after.%s", size, before_name,
             dot + strlen(".before."));
    load(&after, path);
    snprintf(title, sizeof title, "%.*s", size, before_name);
    add_explanation(out, &before.program, &after.program, title);
    snprintf(title, sizeof title, "%.*s, backwards", size, before_name);
    add_explanation(out, &after.program, &before.program, title);
    unload(&before);
    unload(&after);
}

// The line that differs first, and the pair that it belongs to.
static void fail_at(const char *expected, const char *got) {
    size_t at = 0, line = 0, pair = 0;
    for (; expected[at] && expected[at] == got[at]; ++at)
        if (got[at] == '\n') {
            line = at + 1;
            if (got[line] != ' ') pair = line;
        }
    if (got[line] != ' ') pair = line;
    fail_msg("%.*s\n  expected:%.*s\n  got:     %.*s", (int)strcspn(got + pair, "\n"), got + pair,
             (int)strcspn(expected + line, "\n"), expected + line, (int)strcspn(got + line, "\n"),
             got + line);
}

static void explanations_of_the_samples_stand_still(void **state) {
    (void)state;
    names_t names = {.count = 0};
    keel_buffer_t text;
    uint8_t *golden;
    size_t size;
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_directory_walk(KEEL_TEST_SAMPLES "/explain", add_name, &names));
    qsort(names.list, names.count, sizeof *names.list, compare_names);
    assert_true(names.count > 100);
    for (size_t i = 0; i < names.count; ++i) {
        add_pair(&text, names.list[i]);
        keel_free(names.list[i]);
    }
    static const char path[] = KEEL_TEST_SOURCE "/tests/golden/explanations.txt";
    const char *mode = getenv("KEEL_GOLDEN");
    if (mode && strcmp(mode, "write") == 0)
        assert_ok(keel_file_replace(path, keel_buffer_bytes(&text)));
    assert_ok(keel_file_read(path, 1 << 24, &golden, &size));
    bool is_same = size == text.size && memcmp(golden, text.data, size) == 0;
    char *expected;
    assert_ok(keel_strdup((keel_str_t){(const char *)golden, size}, &expected));
    if (!is_same) fail_at(expected, keel_buffer_cstr(&text));
    keel_free(expected);
    keel_free(golden);
    keel_buffer_deinitialize(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(explanations_of_the_samples_stand_still)};
    return cmocka_run_group_tests_name("explain golden", tests, NULL, NULL);
}
