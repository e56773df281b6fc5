#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/facts.h"
#include "text/text.h"

static const keel_journal_fix_t applied = {.name = "sharding-retrace",
                                           .state = "applied",
                                           .label = "backend defect",
                                           .reference = "pytorch/xla 9755",
                                           .client = "torch_xla 2.9.0",
                                           .why = ""};

// A journal with these fixes in it, read back.
static void written(const keel_journal_fix_t *fixes, size_t count, keel_why_t *out) {
    char folder[] = "/tmp/keel-fixes-XXXXXX";
    assert_non_null(mkdtemp(folder));
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "run", &journal));
    for (size_t i = 0; i < count; ++i)
        keel_journal_fix(journal, &fixes[i]);
    assert_null(keel_why_read(folder, "run", 0, out));
    char *path;
    assert_null(keel_journal_path(folder, "run", &path));
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = 0;
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    keel_free(path);
    keel_journal_close(journal);
}

static void a_fix_is_read_as_it_was_written(void **state) {
    (void)state;
    keel_why_t stats;
    written(&applied, 1, &stats);
    assert_int_equal(stats.run.fixes.count, 1);
    const keel_fix_t *fix = &stats.run.fixes.list[0];
    assert_string_equal(fix->name, "sharding-retrace");
    assert_string_equal(fix->label, "backend defect");
    assert_string_equal(fix->why, "");
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_fix_write(fix, &text);
    assert_string_equal(keel_buffer_cstr(&text),
                        "sharding-retrace applied, torch_xla 2.9.0 (pytorch/xla 9755)");
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static void several_processes_are_one_fix(void **state) {
    (void)state;
    keel_journal_fix_t fixes[] = {applied, applied, applied};
    fixes[2].state = "skipped";
    fixes[2].why = "other code";
    keel_why_t stats;
    written(fixes, 3, &stats);
    assert_int_equal(stats.run.fixes.count, 2);
    assert_string_equal(stats.run.fixes.list[1].why, "other code");
    keel_why_deinitialize(&stats);
}

static void a_text_without_end_does_not_end_the_journal(void **state) {
    (void)state;
    enum { SIZE = 1 << 21 };
    char *text = test_malloc(SIZE);
    memset(text, '"', SIZE - 1);
    text[SIZE - 1] = 0;
    keel_journal_fix_t fixes[] = {applied, applied};
    fixes[0].why = text;
    fixes[0].name = "long";
    fixes[1].label = NULL;
    keel_why_t stats;
    written(fixes, 2, &stats);
    assert_int_equal(stats.run.fixes.count, 2);
    assert_true(strlen(stats.run.fixes.list[0].why) < SIZE);
    assert_string_equal(stats.run.fixes.list[1].label, "");
    keel_why_deinitialize(&stats);
    test_free(text);
}

static void a_foreign_journal_is_bounded(void **state) {
    (void)state;
    keel_buffer_t journal;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, "{\"event\":\"fix\",\"t\":1,\"pid\":1}\n"
                               "{\"event\":\"fix\",\"t\":1,\"pid\":1,\"name\":7,\"state\":[]}\n"
                               "{\"event\":\"fix\",\"name\":\"\\u001b\\\"\",\"why\":{}}\n");
    for (int i = 0; i < 1000; ++i)
        keel_buffer_format(&journal, "{\"event\":\"fix\",\"name\":\"n%d\"}\n", i);
    keel_why_t stats;
    keel_why_t why;
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r", "/r", 0, &stats));
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r", "", KEEL_RUN_DETAILS, &why));
    assert_int_equal(stats.run.fixes.count, 256);
    assert_int_equal(why.run.fixes.count, 256);
    keel_buffer_t json;
    keel_buffer_initialize(&json, 0);
    keel_text_stats_json(&stats, true, &json);
    json_t *parsed = json_loads(keel_buffer_cstr(&json), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(parsed, "fixes")), 256);
    json_decref(parsed);
    keel_buffer_deinitialize(&json);
    keel_buffer_deinitialize(&journal);
    keel_why_deinitialize(&stats);
    keel_why_deinitialize(&why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fix_is_read_as_it_was_written),
        cmocka_unit_test(several_processes_are_one_fix),
        cmocka_unit_test(a_text_without_end_does_not_end_the_journal),
        cmocka_unit_test(a_foreign_journal_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
