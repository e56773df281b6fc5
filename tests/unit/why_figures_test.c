// The small file from which runs are listed.
#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <limits.h>

#include "text/text.h"
#include "why/figures.h"

#define RUN "20260101-120000-0000aaaa"

typedef struct stage_t {
    place_t place;
    char journal[PATH_MAX], explained[PATH_MAX], figures[PATH_MAX];
} stage_t;

static const char events[] =
    "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\",\"host\":\"h\",\"mode\":\"on\","
    "\"argv\":[\"python\",\"train "
    "\\\"it\\\".py\"],\"target\":{\"name\":\"h200:8\",\"devices\":8}}\n"
    "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"jit_"
    "f\","
    "\"seconds\":1.5,\"overhead_seconds\":0.25,\"rehearsed\":\"now\",\"number\":1}\n"
    "{\"event\":\"compile\",\"t\":1002,\"pid\":1,\"program\":\"b\",\"key\":\"kb\",\"name\":\"jit_"
    "f\","
    "\"seconds\":2.5,\"recompile\":true,\"rehearsed\":\"never\",\"counts\":[1,7]}\n"
    "{\"event\":\"load\",\"t\":1003,\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"jit_f\","
    "\"seconds\":0.125,\"overhead_seconds\":0.0625,\"ahead_seconds\":0.5,\"compile_seconds\":3,"
    "\"tier\":\"memory\"}\n"
    "{\"event\":\"miss\",\"pid\":1}\n{\"event\":\"publish\",\"pid\":1}\n"
    "{\"event\":\"uncacheable\",\"pid\":1}\n{\"event\":\"prefetch\",\"pid\":1,\"loaded\":5,"
    "\"used\":2,\"seconds\":0.75}\n"
    "{\"event\":\"store_error\",\"pid\":1,\"message\":\"full\"}\n"
    "{\"event\":\"fallback\",\"pid\":1,\"what\":\"read\",\"message\":\"odd\"}\n"
    "{\"event\":\"transfers\",\"pid\":1,\"to_device\":{\"count\":3,\"bytes\":300,\"seconds\":0.5},"
    "\"from_device\":{\"count\":4,\"bytes\":400,\"seconds\":0.25},\"cut_steps\":2,"
    "\"cut_pieces\":5}\n"
    "{\"event\":\"end\",\"t\":1010,\"pid\":1,\"wall\":9.5}\n";

static void write_file(const char *path, const char *text) {
    assert_ok(keel_file_replace(path, keel_str_bytes(keel_str(text))));
}

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    place_make(&stage->place);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/" RUN, stage->place.root);
    assert_ok(keel_directory_make(folder));
    snprintf(stage->journal, PATH_MAX, "%s/" RUN "/journal.ndjson", stage->place.root);
    snprintf(stage->explained, PATH_MAX, "%s/" RUN "/explained.ndjson", stage->place.root);
    snprintf(stage->figures, PATH_MAX, "%s/" RUN "/figures.json", stage->place.root);
    write_file(stage->journal, events);
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    place_remove(&stage->place);
    free(stage);
    return 0;
}

static void leave(const stage_t *stage) {
    keel_why_t why;
    assert_ok(keel_why_read(stage->place.root, RUN, 0, &why));
    keel_figures_leave(&why, stage->place.root);
    keel_why_deinitialize(&why);
}

static bool counts(const stage_t *stage) {
    keel_why_t why;
    keel_status_t status = keel_figures_read(stage->place.root, RUN, &why);
    bool is_there = !status;
    if (is_there)
        keel_why_deinitialize(&why);
    else
        assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
    return is_there;
}

static void say(const keel_why_t *why, keel_buffer_t *out) {
    keel_buffer_initialize(out, 0);
    keel_text_line(why, 0, out);
    keel_text_stats_json(why, false, out);
    assert_null(keel_buffer_status(out));
}

// The journal itself has other bytes by then, so it was not read.
static void what_a_list_shows_is_the_same_without_the_journal(void **state) {
    const stage_t *stage = *state;
    keel_why_t why;
    keel_buffer_t from_journal, from_figures;
    leave(stage);
    assert_ok(keel_why_read(stage->place.root, RUN, 0, &why));
    say(&why, &from_journal);
    keel_why_deinitialize(&why);
    struct stat facts;
    assert_int_equal(stat(stage->journal, &facts), 0);
    int journal = open(stage->journal, O_WRONLY);
    for (off_t i = 0; i < facts.st_size; ++i)
        assert_int_equal(pwrite(journal, "x", 1, i), 1);
    const struct timespec times[] = {facts.st_atim, facts.st_mtim};
    assert_int_equal(futimens(journal, times), 0);
    close(journal);
    assert_ok(keel_figures_read(stage->place.root, RUN, &why));
    say(&why, &from_figures);
    keel_why_deinitialize(&why);
    assert_string_equal(keel_buffer_cstr(&from_figures), keel_buffer_cstr(&from_journal));
    assert_non_null(strstr(keel_buffer_cstr(&from_figures), "on h200:8: "));
    assert_non_null(strstr(keel_buffer_cstr(&from_figures), "\"recompile_count\": 1"));
    keel_buffer_deinitialize(&from_journal);
    keel_buffer_deinitialize(&from_figures);
}

static void figures_count_until_the_journal_or_its_explanations_change(void **state) {
    const stage_t *stage = *state;
    assert_false(counts(stage));
    leave(stage);
    assert_true(counts(stage));
    FILE *file = fopen(stage->journal, "a");
    fputs("{\"event\":\"miss\",\"pid\":1}\n", file);
    fclose(file);
    assert_false(counts(stage));
    leave(stage);
    assert_true(counts(stage));
    write_file(stage->explained, "{\"event\":\"analysis\"}\n{\"event\":\"covered\"}\n");
    assert_false(counts(stage));
    leave(stage);
    assert_true(counts(stage));
    // Of the same size, but newer.
    const struct timespec now[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 2000000000}};
    assert_int_equal(utimensat(AT_FDCWD, stage->explained, now, 0), 0);
    assert_false(counts(stage));
}

static void damaged_figures_do_not_count(void **state) {
    const stage_t *stage = *state;
    uint8_t *whole;
    size_t size;
    leave(stage);
    assert_ok(keel_file_read(stage->figures, 1 << 20, &whole, &size));
    static const size_t cuts[] = {0, 1, 63, 64, 65, 66, 200};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; ++i) {
        assert_ok(keel_file_replace(stage->figures, keel_bytes(whole, cuts[i])));
        assert_false(counts(stage));
    }
    assert_ok(keel_file_replace(stage->figures, keel_bytes(whole, size - 1)));
    assert_false(counts(stage));
    for (size_t at = 0; at < size; at += 7) {
        whole[at] ^= 1;
        assert_ok(keel_file_replace(stage->figures, keel_bytes(whole, size)));
        assert_false(counts(stage));
        whole[at] ^= 1;
    }
    assert_ok(keel_file_replace(stage->figures, keel_bytes(whole, size)));
    assert_true(counts(stage));
    keel_free(whole);
}

static void a_damaged_journal_has_no_figures(void **state) {
    const stage_t *stage = *state;
    write_file(stage->journal, "{\"event\":\"start\",\"pid\":1}\nnot json\n");
    leave(stage);
    assert_false(counts(stage));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_a_list_shows_is_the_same_without_the_journal),
        TEST(figures_count_until_the_journal_or_its_explanations_change),
        TEST(damaged_figures_do_not_count),
        TEST(a_damaged_journal_has_no_figures),
    };
    return cmocka_run_group_tests_name("why_figures", tests, NULL, NULL);
}
