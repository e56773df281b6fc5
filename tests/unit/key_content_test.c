// The content of files and folders that flags name: if it changes, so does the key.
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "key/content.h"
#include "key/key.h"

static int set_up(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return chdir(place->root);
}

static int tear_down(void **state) {
    int failed = chdir("/");
    place_remove(*state);
    free(*state);
    return failed;
}

static void put_file(const char *path, const char *text) {
    assert_ok(keel_file_replace(path, keel_str_bytes(keel_str(text))));
}

typedef struct said_t {
    char text[80];
} said_t;

static said_t said_of(const char *value) {
    said_t said;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_key_content(keel_str(value), &out));
    assert_ok(keel_buffer_status(&out));
    snprintf(said.text, sizeof said.text, "%s", keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    return said;
}

static void assert_same(const char *value, const said_t *before) {
    assert_string_equal(said_of(value).text, before->text);
}

static void assert_other(const char *value, said_t *before) {
    said_t now = said_of(value);
    assert_string_not_equal(now.text, before->text);
    *before = now;
}

static void assert_unsupported(const char *value, const char *word) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_key_content(keel_str(value), &out);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    if (!strstr(keel_status_message(status), word))
        fail_msg("'%s' does not say '%s'", keel_status_message(status), word);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

static void a_file_counts_with_what_it_says_wherever_it_stands(void **state) {
    place_t *place = *state;
    char path[500];
    put_file("profile", "abc");
    snprintf(path, sizeof path, "%s/profile", place->root);
    said_t said = said_of(path);
    assert_int_equal(said.text[0], '#');
    assert_int_equal(strlen(said.text), KEEL_DIGEST_HEX);
    assert_same("profile", &said);
    assert_same("./profile", &said);
    put_file("profile", "abd");
    assert_other("profile", &said);
    put_file("profile", "");
    assert_other("profile", &said);
}

static void a_large_file_counts_to_its_last_byte(void **state) {
    (void)state;
    put_file("large", "x");
    assert_int_equal(truncate("large", (off_t)70 << 20), 0); // all zeros behind the x
    said_t said = said_of("large");
    int descriptor = open("large", O_WRONLY);
    assert_int_equal(pwrite(descriptor, "y", 1, ((off_t)70 << 20) - 1), 1);
    close(descriptor);
    assert_other("large", &said);
    assert_int_equal(truncate("large", ((off_t)4 << 30) + 1), 0);
    assert_unsupported("large", "larger than 4 GiB");
}

static void a_folder_counts_with_all_below_it(void **state) {
    (void)state;
    assert_ok(keel_directory_make("tool/lib/deep"));
    put_file("tool/a", "1");
    put_file("tool/lib/deep/b", "2");
    said_t said = said_of("./tool");
    assert_int_equal(said.text[0], '#');
    assert_string_equal(said_of("tool").text, ""); // a word
    put_file("tool/lib/deep/b", "3");
    assert_other("./tool", &said);
    put_file("tool/lib/deep/b", "2");
    assert_ok(keel_file_rename("tool/a", "tool/c"));
    assert_other("./tool", &said);
    assert_ok(keel_file_rename("tool/lib/deep/b", "tool/lib/b"));
    assert_other("./tool", &said);
    assert_ok(keel_directory_make("tool/empty"));
    assert_other("./tool", &said);
    assert_int_equal(symlink("nowhere", "tool/link"), 0);
    assert_other("./tool", &said);
    assert_same("./tool", &said);
}

// Beyond 64 MiB it is the times that tell.
static void a_large_folder_counts_with_its_times(void **state) {
    (void)state;
    assert_ok(keel_directory_make("tool"));
    put_file("tool/a", "1");
    put_file("tool/large", "");
    assert_int_equal(truncate("tool/large", (off_t)65 << 20), 0);
    said_t said = said_of("./tool");
    assert_same("./tool", &said);
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, "tool/large", times, 0), 0);
    assert_other("./tool", &said);
    // And sizes.
    said = said_of("./tool");
    assert_int_equal(truncate("tool/large", (off_t)66 << 20), 0);
    assert_int_equal(utimensat(AT_FDCWD, "tool/large", times, 0), 0);
    assert_other("./tool", &said);
}

static void folders_without_end_are_refused(void **state) {
    (void)state;
    assert_ok(keel_directory_make("tool"));
    assert_int_equal(symlink(".", "tool/again"), 0);
    assert_unsupported("./tool", "too deep");
}

static void what_is_no_path_counts_as_it_stands(void **state) {
    (void)state;
    char large[5000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    const char *const values[] = {"", "true", "/dev/null", "./nothing", "a/b/c", large, "+X,-Y"};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
        assert_string_equal(said_of(values[i]).text, "");
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    put_file("a", "1");
    assert_ok(keel_key_content((keel_str_t){"a\0b", 3}, &out));
    assert_int_equal(out.size, 0);
    keel_buffer_deinitialize(&out);
}

static void flags_with_what_cannot_be_read_have_no_key(void **state) {
    (void)state;
    put_file("profile", "abc");
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_key_flags("--xla_profile=profile", &out));
    assert_non_null(strchr(keel_buffer_cstr(&out), '#'));
    keel_buffer_deinitialize(&out);
    assert_int_equal(truncate("profile", ((off_t)4 << 30) + 1), 0);
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_key_flags("--xla_a=1 --xla_profile=profile", &out);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), "a flag names profile"));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

// A CompileOptionsProto whose field `number` is a string; below env_option_overrides (7) it is the
// string of the override "xla_profile".
static keel_bytes_t options_that_name(const char *path, unsigned number, uint8_t out[200]) {
    uint8_t size = (uint8_t)strlen(path), *at = out;
    if (number == 7) {
        const uint8_t head[] = {7 << 3 | 2, (uint8_t)(17 + size), 1 << 3 | 2, 11};
        memcpy(at, head, sizeof head), at += sizeof head;
        memcpy(at, "xla_profile", 11), at += 11;
        *at++ = 2 << 3 | 2, *at++ = (uint8_t)(2 + size), number = 1;
    }
    *at++ = (uint8_t)(number << 3 | 2), *at++ = size;
    memcpy(at, path, size);
    return keel_bytes(out, (size_t)(at - out) + size);
}

static keel_status_t canonical_of(const char *path, unsigned number, keel_digest_t *out) {
    uint8_t bytes[200];
    keel_buffer_t canonical, assignment, readable;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    bool understood = false;
    keel_status_t status =
        keel_key_options(options_that_name(path, number, bytes), KEEL_BACKEND_CPU, &canonical,
                         &assignment, &readable, &understood);
    *out = keel_digest(keel_buffer_bytes(&canonical));
    assert_int_equal(understood, !status);
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    return status;
}

static void a_file_that_the_compile_options_name_counts_with_what_it_says(void **state) {
    (void)state;
    static const unsigned fields[] = {6, 7, 11}; // strings, one of them in a map
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        keel_digest_t none, first, again, other;
        assert_ok(canonical_of("./profile", fields[i], &none));
        put_file("profile", "abc");
        assert_ok(canonical_of("./profile", fields[i], &first));
        assert_ok(canonical_of("./profile", fields[i], &again));
        put_file("profile", "abd");
        assert_ok(canonical_of("./profile", fields[i], &other));
        assert_true(keel_digest_equal(&first, &again));
        assert_false(keel_digest_equal(&first, &none));
        assert_false(keel_digest_equal(&first, &other));
        assert_int_equal(truncate("profile", ((off_t)4 << 30) + 1), 0);
        assert_code(canonical_of("./profile", fields[i], &other), KEEL_UNSUPPORTED);
        assert_int_equal(unlink("profile"), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_file_counts_with_what_it_says_wherever_it_stands),
        TEST(a_large_file_counts_to_its_last_byte),
        TEST(a_folder_counts_with_all_below_it),
        TEST(a_large_folder_counts_with_its_times),
        TEST(folders_without_end_are_refused),
        TEST(what_is_no_path_counts_as_it_stands),
        TEST(flags_with_what_cannot_be_read_have_no_key),
        TEST(a_file_that_the_compile_options_name_counts_with_what_it_says),
    };
    return cmocka_run_group_tests_name("key content", tests, NULL, NULL);
}
