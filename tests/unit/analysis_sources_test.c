// The list of a run's source files, read back line by line.
#define _GNU_SOURCE
#include "analysis/sources.h"
#include "place.h"

static int set_up(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

static void write_list(const place_t *place, const char *run, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", place->root, run);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/%s/sources.tsv", place->root, run);
    write_bytes(path, text, strlen(text));
}

static void a_list_names_each_file_and_what_was_known_of_it(void **state) {
    const place_t *place = *state;
    keel_digest_t digest = keel_digest(keel_bytes("x = 1\n", 6));
    char hex[KEEL_DIGEST_HEX], text[1000];
    keel_digest_hex(&digest, hex);
    snprintf(text, sizeof text,
             "%s\t/w/train.py\n-\t/w/model.py\nno tab\n%.63s\t/w/a b.py\n%s\t/w/cut", hex, hex,
             hex);
    write_list(place, "r1", text);
    sources_t sources;
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    assert_int_equal(sources.count, 3); // what is not ended was not written whole
    assert_string_equal(sources.files[0].file, "/w/train.py");
    assert_true(sources.files[0].is_known);
    assert_true(keel_digest_equal(&sources.files[0].digest, &digest));
    assert_string_equal(sources.files[1].file, "/w/model.py");
    assert_false(sources.files[1].is_known);
    assert_string_equal(sources.files[2].file, "/w/a b.py");
    assert_false(sources.files[2].is_known);
    sources_deinitialize(&sources);
}

static void a_list_of_another_run_takes_the_place_of_the_last(void **state) {
    const place_t *place = *state;
    write_list(place, "r1", "-\t/w/a.py\n-\t/w/b.py\n");
    write_list(place, "r2", "-\t/w/c.py\n");
    sources_t sources;
    sources_initialize(&sources, place->root);
    static const struct {
        const char *run, *first;
        size_t count;
    } rows[] = {{"r1", "/w/a.py", 2},
                {"r1", "/w/a.py", 2},
                {"r2", "/w/c.py", 1},
                {"r1", "/w/a.py", 2},
                {"none", NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_ok(sources_load(&sources, rows[i].run));
        assert_int_equal(sources.count, rows[i].count);
        if (rows[i].first) assert_string_equal(sources.files[0].file, rows[i].first);
    }
    sources_deinitialize(&sources);
}

static void a_list_may_be_longer_than_what_is_kept(void **state) {
    const place_t *place = *state;
    char text[SOURCES_FILES * 40] = "";
    for (int i = 0; i < SOURCES_FILES + 10; ++i)
        snprintf(text + strlen(text), 20, "-\t/w/%d.py\n", i);
    write_list(place, "r1", text);
    sources_t sources;
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    assert_int_equal(sources.count, SOURCES_FILES);
    assert_string_equal(sources.files[SOURCES_FILES - 1].file, "/w/63.py");
    sources_deinitialize(&sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_list_names_each_file_and_what_was_known_of_it),
        TEST(a_list_of_another_run_takes_the_place_of_the_last),
        TEST(a_list_may_be_longer_than_what_is_kept),
    };
    return cmocka_run_group_tests_name("analysis sources", tests, NULL, NULL);
}
