// Lines of source in the page: for which files they are shown.
#define _GNU_SOURCE
#include "page_help.h"

#define LINES "one\ntwo\nthree\nfour <b>\r\nfive\nsix\nseven\neight\nnine"

// The page of a run that began `age` seconds ago, had that text in `file` (NULL: recorded nothing
// of it) and has one root there.
static void page_with_source(const char *folder, const char *file, const char *text, unsigned line,
                             long age, keel_buffer_t *page) {
    keel_buffer_t journal;
    keel_buffer_initialize(&journal, 0);
    double started = (double)time(NULL) - (double)age;
    if (text) {
        char hex[KEEL_DIGEST_HEX];
        keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
        keel_digest_hex(&digest, hex);
        keel_buffer_format(&journal,
                           "{\"event\":\"source\",\"t\":%.0f,\"pid\":1,\"file\":\"%s\","
                           "\"digest\":\"%s\"}\n",
                           started, file, hex);
    }
    keel_buffer_format(&journal,
                       "{\"event\":\"start\",\"t\":%.0f,\"pid\":1,\"cwd\":\"%s\"}\n"
                       "{\"event\":\"explain\",\"t\":%.0f,\"pid\":1,\"program\":\"b\",\"name\":"
                       "\"f\",\"what\":\"compile\",\"seconds\":1,\"recompile\":true,"
                       "\"roots\":[{\"kind\":\"size\",\"file\":\"%s\",\"line\":%u}]}\n",
                       started, folder, started + 1, file, line);
    make_page(keel_buffer_cstr(&journal), NULL, page);
    keel_buffer_deinitialize(&journal);
}

static void write_source(const place_t *place, const char *name, const char *text, long age) {
    char *path;
    assert_ok(keel_path(&path, "%s/%s", place->root, name));
    write_bytes(path, text, strlen(text));
    set_age(path, age);
    keel_free(path);
}

static void lines_around_the_place_are_shown_as_the_run_read_them(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    write_source(&place, "train.py", LINES, 1000);
    write_source(&place, "touched.py", LINES, 0);
    write_source(&place, "edited.py", "0\n" LINES, 1000);
    keel_buffer_t page;
    page_with_source(place.root, "train.py", LINES, 5, 500, &page);
    assert_has(&page, "<span class=\"line told\"><i>    5</i> &gt; five</span>");
    assert_has(&page, "<i>    2</i>   two</span>");
    assert_has(&page, "four &lt;b&gt;</span>");
    assert_has(&page, "<i>    8</i>   eight</span>");
    assert_lacks(&page, "nine");
    assert_lacks(&page, "   one");
    keel_buffer_deinitialize(&page);

    page_with_source(place.root, "touched.py", LINES, 5, 500, &page);
    assert_has(&page, "&gt; five</span>");
    keel_buffer_deinitialize(&page);

    page_with_source(place.root, "edited.py", LINES, 5, 500, &page);
    assert_has(&page, "The file has changed since the run read it.");
    assert_lacks(&page, "five");
    keel_buffer_deinitialize(&page);

    page_with_source(place.root, "gone.py", LINES, 5, 500, &page);
    assert_has(&page, "The file is no longer there.");
    keel_buffer_deinitialize(&page);

    page_with_source(place.root, "train.py", LINES, 4000000, 500, &page);
    assert_lacks(&page, "class=\"source\"");
    keel_buffer_deinitialize(&page);
    place_remove(&place);
}

static void put_link(const place_t *place, const char *name, const char *target) {
    char *path;
    assert_ok(keel_path(&path, "%s/%s", place->root, name));
    assert_int_equal(symlink(target, path), 0);
    keel_free(path);
}

// A journal can name any file, and a link can lead to any.
static void no_file_is_shown_but_the_one_that_the_run_read(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    keel_buffer_t page;
    write_source(&place, "secret.pem", LINES, 1000);
    write_source(&place, "secret.py", LINES, 1000);
    put_link(&place, "pem.py", "secret.pem");
    put_link(&place, "link.py", "secret.py");
    put_link(&place, "null.py", "/dev/null");
    // Nobody who had not read it knows its digest.
    page_with_source(place.root, "secret.py", NULL, 5, 500, &page);
    assert_lacks(&page, "class=\"source\"");
    assert_lacks(&page, "five");
    keel_buffer_deinitialize(&page);
    page_with_source(place.root, "secret.pem", LINES, 5, 500, &page);
    assert_lacks(&page, "five");
    keel_buffer_deinitialize(&page);
    page_with_source(place.root, "pem.py", LINES, 5, 500, &page);
    assert_lacks(&page, "five");
    keel_buffer_deinitialize(&page);
    // A link that somebody put where the run had a file of its own.
    page_with_source(place.root, "link.py", "0\n", 5, 500, &page);
    assert_lacks(&page, "five");
    keel_buffer_deinitialize(&page);
    page_with_source(place.root, "null.py", "", 1, 500, &page);
    assert_has(&page, "The file cannot be read.");
    keel_buffer_deinitialize(&page);
    // Environments and build tools link sources.
    page_with_source(place.root, "link.py", LINES, 5, 500, &page);
    assert_has(&page, "&gt; five</span>");
    keel_buffer_deinitialize(&page);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around_the_place_are_shown_as_the_run_read_them),
        cmocka_unit_test(no_file_is_shown_but_the_one_that_the_run_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
