// Source files: which are read, and what a run has read of them.
#define _GNU_SOURCE
#include "host/source.h"

#include "place.h"

static void only_what_is_named_like_source_is_read(void **state) {
    (void)state;
    static const char *const sources[] = {"a.py", "a.pyx", "a.pyw", "a.ipynb", "a.c",
                                          "a.cc", "a.cpp", "a.cxx", "a.h",     "a.hpp",
                                          "a.jl", "a.rs",  "a.b.py"};
    static const char *const others[] = {"a", "a.txt", "a.pyc", "a.p", "py", "a.py.key", "a.PY"};
    place_t place;
    place_make(&place);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
        char path[400];
        uint8_t *bytes;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", place.root, sources[i]);
        write_bytes(path, "x = 1\n", 6);
        assert_ok(keel_source_read(path, &bytes, &size));
        assert_int_equal(size, 6);
        assert_memory_equal(bytes, "x = 1\n", 6);
        keel_free(bytes);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        char path[400];
        uint8_t *bytes;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", place.root, others[i]);
        write_bytes(path, "x = 1\n", 6);
        assert_code(keel_source_read(path, &bytes, &size), KEEL_REFUSED);
    }
    place_remove(&place);
}

static void note(keel_map_t *read, const char *file, const char *text) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
    keel_digest_hex(&digest, hex);
    assert_ok(keel_source_note(read, file, hex));
}

static bool was_read(const keel_map_t *read, const char *file, const char *text) {
    return keel_source_was_read(read, file, keel_str_bytes(keel_str(text)));
}

static void a_file_was_read_with_each_text_that_was_noted(void **state) {
    (void)state;
    keel_map_t read;
    keel_map_initialize(&read);
    note(&read, "/w/a.py", "one");
    note(&read, "/w/a.py", "two");
    note(&read, "/w/b.py", "three");
    assert_ok(keel_source_note(&read, "/w/c.py", "not a digest"));
    assert_true(was_read(&read, "/w/a.py", "one") && was_read(&read, "/w/a.py", "two"));
    assert_false(was_read(&read, "/w/a.py", "three") || was_read(&read, "/w/b.py", "one"));
    assert_true(keel_source_is_noted(&read, "/w/a.py") && keel_source_is_noted(&read, "/w/b.py"));
    assert_false(keel_source_is_noted(&read, "/w/c.py") || keel_source_is_noted(&read, "/w/a.p"));
    // A name that goes on as another one's digest does is another name.
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str("one")));
    char name[64] = "/w/a.py";
    assert_null(memchr(digest.bytes, 0, sizeof digest.bytes));
    memcpy(name + strlen("/w/a.py"), digest.bytes, sizeof digest.bytes);
    assert_false(keel_source_is_noted(&read, name));
    keel_map_deinitialize(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_named_like_source_is_read),
        cmocka_unit_test(a_file_was_read_with_each_text_that_was_noted),
    };
    return cmocka_run_group_tests_name("host_source", tests, NULL, NULL);
}
