// A run of many things, and all that Keel says about it: tests/unit/text_whole has the texts as
// people read them, and the JSON of the figures.
#include "why_help.h"

static void read_expected(const char *name, uint8_t **out, size_t *out_size) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/unit/text_whole/%s", KEEL_TEST_SOURCE, name);
    assert_null(keel_file_read(path, 1 << 20, out, out_size));
}

// The journal that all of it is about.
static int read_journal(void **state) {
    (void)state;
    uint8_t *bytes;
    size_t size;
    read_expected("journal.ndjson", &bytes, &size);
    keel_buffer_initialize(&journal, 0);
    keel_buffer_append(&journal, bytes, size);
    keel_free(bytes);
    return 0;
}

// Names the first line that differs.
static void assert_said(const char *name, const keel_buffer_t *said) {
    uint8_t *expected;
    size_t size, at = 0, line = 0;
    read_expected(name, &expected, &size);
    while (at < size && at < said->size && said->data[at] == expected[at])
        if (said->data[at++] == '\n') line = at;
    if (at < size || at < said->size) {
        size_t rest = said->size - line;
        fail_msg("%s differs at: %.*s", name, (int)(rest < 200 ? rest : 200),
                 (const char *)said->data + line);
    }
    keel_free(expected);
}

typedef void say_t(const keel_why_t *why, keel_buffer_t *out);

static void assert_whole(const char *name, say_t *say) {
    keel_why_t why;
    keel_buffer_t out;
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r1", "/r/journal.ndjson",
                               KEEL_RUN_DETAILS | KEEL_RUN_MEMORY, &why));
    keel_buffer_initialize(&out, 0);
    say(&why, &out);
    assert_null(keel_buffer_status(&out));
    assert_said(name, &out);
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void say_stats(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats(why, 0, out);
}

static void say_memory(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_memory(&why->run, NULL, out);
}

static void say_program(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_memory(&why->run, &why->run.memory.programs[2], out);
}

static void say_why(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 0}, out);
}

static void say_narrow(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 60}, out);
}

static void say_all(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.all = true}, out);
}

// As keel runs has them, for a wide terminal and for narrow ones.
static void say_lines(const keel_why_t *why, keel_buffer_t *out) {
    static const unsigned widths[] = {0, 120, 60, 24};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
        keel_text_line(why, widths[i], out);
        keel_buffer_byte(out, '\n');
    }
}

static void say_figures(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats_json(why, true, out);
}

static void say_figures_of_memory(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_memory_json(&why->run, NULL, out);
}

static void the_summary_is_whole(void **state) {
    (void)state;
    assert_whole("summary.txt", keel_text_summary);
}

static void the_figures_are_whole(void **state) {
    (void)state;
    assert_whole("stats.txt", say_stats);
    assert_whole("lines.txt", say_lines);
    assert_whole("stats.json", say_figures);
}

static void memory_is_whole(void **state) {
    (void)state;
    assert_whole("memory.txt", say_memory);
    assert_whole("program.txt", say_program);
    assert_whole("memory.json", say_figures_of_memory);
}

static void the_causes_are_whole(void **state) {
    (void)state;
    assert_whole("why.txt", say_why);
    assert_whole("narrow.txt", say_narrow);
    assert_whole("all.txt", say_all);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, read_journal, end)
    const struct CMUnitTest tests[] = {
        TEST(the_summary_is_whole),
        TEST(the_figures_are_whole),
        TEST(memory_is_whole),
        TEST(the_causes_are_whole),
    };
    return cmocka_run_group_tests_name("text whole", tests, NULL, NULL);
}
