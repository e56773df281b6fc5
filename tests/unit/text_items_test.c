// What keel why makes one item of, how it fits a change into a terminal, and when it says that
// lines are missing.
#include "why_help.h"

static void say(unsigned width, keel_buffer_t *out) {
    keel_why_t why;
    parse(&why);
    keel_buffer_initialize(out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = width}, out);
    assert_null(keel_buffer_status(out));
    keel_why_deinitialize(&why);
}

static size_t count_of(const keel_buffer_t *text, const char *part) {
    size_t count = 0;
    for (const char *at = keel_buffer_cstr(text); (at = strstr(at, part)); at += strlen(part))
        ++count;
    return count;
}

static void assert_says(unsigned width, const char *part) {
    keel_buffer_t out;
    say(width, &out);
    if (!strstr(keel_buffer_cstr(&out), part))
        fail_msg("width %u: %s\nis not in\n%s", width, part, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
}

static void again(void) {
    end(NULL);
    begin(NULL);
}

// ---- items -------------------------------------------------------------------------------------

// A recompile because the run has a different flag or backend than an earlier one.
static void of_run(const char *program, const char *run, const char *kind, const char *subject,
                   const char *from, const char *to) {
    char rest[512];
    snprintf(rest, sizeof rest,
             ",\"recompile\":true,\"against\":{\"program\":\"o\",\"name\":\"f\",\"run\":\"%s\"},"
             "\"roots\":[{\"kind\":\"%s\",\"subject\":\"%s\",\"old\":\"%s\",\"new\":\"%s\"}]",
             run, kind, subject, from, to);
    explain("compile", program, "f", 1, rest);
}

static size_t items_of_two(const char *run, const char *kind, const char *subject, const char *from,
                           const char *to) {
    keel_buffer_t out;
    size_t count = 0;
    again();
    of_run("a", "r0", "flag", "xla_a", "1", "2");
    of_run("b", run, kind, subject, from, to);
    say(0, &out);
    while (count < 9) {
        char number[32];
        snprintf(number, sizeof number, "\n%zu  step", count + 1);
        if (!strstr(keel_buffer_cstr(&out), number)) break;
        ++count;
    }
    keel_buffer_deinitialize(&out);
    return count;
}

static void programs_that_a_flag_recompiled_are_one_item(void **state) {
    (void)state;
    assert_int_equal(items_of_two("r0", "flag", "xla_a", "1", "2"), 1);
    assert_int_equal(items_of_two("r0", "backend", "xla_a", "1", "2"), 2);
    assert_int_equal(items_of_two("r0", "flag", "xla_b", "1", "2"), 2);
    assert_int_equal(items_of_two("r0", "flag", "xla_a", "3", "2"), 2);
    assert_int_equal(items_of_two("r0", "flag", "xla_a", "1", "3"), 2);
    assert_int_equal(items_of_two("r9", "flag", "xla_a", "1", "2"), 2);
    // Where one text ends and the next begins counts.
    assert_int_equal(items_of_two("r0", "flag", "xla_a1", "", "2"), 2);
    assert_int_equal(items_of_two("r0", "flag", "xla_a", "12", ""), 2);
}

// ---- changes and the width ---------------------------------------------------------------------

#define LEAD "1  step 1  1.0 s  shape  t.py:7"

static void change(const char *subject, const char *from, const char *to) {
    char rest[512];
    snprintf(rest, sizeof rest,
             AGAIN
             ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"%s\",\"old\":\"%s\",\"new\":\"%s\","
             "\"file\":\"/w/t.py\",\"line\":7}]",
             subject, from, to);
    again();
    explain("compile", "a", "f", 1, rest);
}

static void a_change_stands_on_its_items_line_if_it_fits_there(void **state) {
    (void)state;
    static const char whole[] = "\n" LEAD "  batch['tokens']  f32[8] -> f32[5]\n";
    const unsigned width = (unsigned)strlen(whole) - 2;
    change("batch['tokens']", "f32[8]", "f32[5]");
    assert_says(0, whole);
    assert_says(width, whole);
    assert_says(width - 1, "\n" LEAD "\n     batch['tokens']  f32[8] -> f32[5]\n");
    // Without a subject, and without values.
    change("", "f32[8]", "f32[5]");
    assert_says((unsigned)strlen(LEAD "  f32[8] -> f32[5]"), "\n" LEAD "  f32[8] -> f32[5]\n");
    assert_says((unsigned)strlen(LEAD "  f32[8] -> f32[5]") - 1,
                "\n" LEAD "\n     f32[8] -> f32[5]\n");
    change("batch['tokens']", "", "");
    assert_says((unsigned)strlen(LEAD "  batch['tokens']"), "\n" LEAD "  batch['tokens']\n");
}

// On a line of its own it is whole as long as that has room; then the subject keeps a third of it,
// and the values what the subject leaves.
static void a_change_that_fits_nowhere_is_cut(void **state) {
    (void)state;
    static const char whole[] = "\n     batch['tokens']  f32[8] -> f32[123456789,5]\n";
    const unsigned width = (unsigned)strlen(whole) - 2;
    change("batch['tokens']", "f32[8]", "f32[123456789,5]");
    assert_says(width, whole);
    for (unsigned narrow = width - 1; narrow > 36; --narrow) {
        keel_buffer_t out;
        say(narrow, &out);
        const char *line = strstr(keel_buffer_cstr(&out), "\n     batch['");
        assert_non_null(line);
        size_t size = strcspn(++line, "\n");
        assert_true(size <= narrow && size + 2 > narrow); // what is cut ends at the edge
        size_t subject = strcspn(line + 5, " ");
        assert_true(subject <= (narrow - 5 - 2) / 3 && subject + 1 >= (narrow - 5 - 2) / 3);
        assert_true(memcmp(line + 5 + subject - 3, "...  f32[8] -> ", 15) == 0);
        keel_buffer_deinitialize(&out);
    }
    // With no room at all, cutting would leave nothing to read.
    assert_says(7, whole);
    change("a_subject_of_forty_columns_and_no_values", "", "");
    assert_says(45, "\n     a_subject_of_forty_columns_and_no_values\n");
    assert_says(44, "\n     a_subject_of_forty_columns_and_no_va...\n");
}

// ---- what came with a pattern ------------------------------------------------------------------

// A counter whose first compile has `more` other causes, each of a line of its own.
static void counter(unsigned more) {
    again();
    for (int i = 0; i < 4; ++i) {
        char program[8], rest[1500];
        snprintf(program, sizeof program, "p%d", i);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"constant\",\"subject\":\"step\",\"old\":\"%d\","
                       "\"new\":\"%d\",\"file\":\"/w/m.py\",\"line\":3}",
                 i, i + 1);
        for (unsigned k = 0; k < more && !i; ++k) {
            char root[200];
            snprintf(root, sizeof root,
                     ",{\"kind\":\"shape\",\"subject\":\"x%u\",\"old\":\"f32[8]\",\"new\":"
                     "\"f32[5]\",\"file\":\"/w/m.py\",\"line\":%u}",
                     k, 20 + k);
            append(rest, sizeof rest, root);
        }
        append(rest, sizeof rest, "]");
        explain("compile", program, "f", 1, rest);
    }
}

static void a_pattern_shows_two_other_causes_and_counts_the_rest(void **state) {
    (void)state;
    for (unsigned more = 0; more <= 5; ++more) {
        keel_buffer_t out;
        counter(more);
        say(0, &out);
        assert_int_equal(count_of(&out, "\n     also "), more < 2 ? more : 2);
        assert_int_equal(count_of(&out, " more cause"), more > 2);
        char rest[48];
        snprintf(rest, sizeof rest, "\n     ... and %u more cause%s; keel why --all\n",
                 more > 2 ? more - 2 : 0, more == 3 ? "" : "s");
        assert_int_equal(count_of(&out, rest), more > 2);
        keel_buffer_deinitialize(&out);
    }
}

// ---- lines -------------------------------------------------------------------------------------

// A recompile whose cause is on `line` and that was asked for on line 7.
static void asked(const char *program, const char *kind, unsigned line) {
    char rest[512];
    snprintf(rest, sizeof rest,
             AGAIN
             ",\"site\":{\"file\":\"/w/t.py\",\"line\":7},\"roots\":[{\"kind\":\"%s\","
             "\"subject\":\"x\",\"old\":\"1\",\"new\":\"2\",\"file\":\"/w/t.py\",\"line\":%u}]",
             kind, line);
    explain("compile", program, "G", 1, rest);
}

static void begin_client(const char *format) {
    again();
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"aa\",\"name\":"
                       "\"%s\",\"seconds\":1,\"format\":\"%s\"}\n",
                       *format == 'h' ? "G" : "jit_f", format);
}

static bool misses_lines(void) {
    keel_buffer_t out;
    say(0, &out);
    bool found = strstr(keel_buffer_cstr(&out), "Run with `keel run --lines`");
    keel_buffer_deinitialize(&out);
    return found;
}

// PyTorch/XLA records lines of operations only on request.
static void lines_are_missed_where_all_that_is_known_is_who_asked(void **state) {
    (void)state;
    begin_client("hlo");
    asked("bb", "shape", 7);
    asked("cc", "shape", 7);
    assert_true(misses_lines());
    // One line of an operation is enough, wherever it stands.
    for (int first = 0; first < 2; ++first) {
        begin_client("hlo");
        asked("bb", "shape", first ? 9 : 7);
        asked("cc", "shape", first ? 7 : 9);
        assert_false(misses_lines());
    }
    begin_client("mlir");
    asked("bb", "shape", 7);
    assert_false(misses_lines());
    // A flag has no line in any case.
    begin_client("hlo");
    asked("bb", "flag", 7);
    assert_false(misses_lines());
    begin_client("hlo");
    assert_false(misses_lines());
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(programs_that_a_flag_recompiled_are_one_item),
        TEST(a_change_stands_on_its_items_line_if_it_fits_there),
        TEST(a_change_that_fits_nowhere_is_cut),
        TEST(a_pattern_shows_two_other_causes_and_counts_the_rest),
        TEST(lines_are_missed_where_all_that_is_known_is_who_asked),
    };
    return cmocka_run_group_tests_name("text items", tests, NULL, NULL);
}
