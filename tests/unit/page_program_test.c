// Kept programs that a page shows: which files it opens.
#define _GNU_SOURCE
#include "page_help.h"

#include "journal/journal.h"
#include "page/part.h"

static void put(const place_t *place, const char *digest) {
    char *path;
    uint8_t *packed;
    size_t size;
    assert_ok(keel_path(&path, "%s/programs/%s.mlir.zst", place->root, digest));
    assert_ok(keel_pack(keel_bytes("secret", 6), &packed, &size));
    assert_ok(keel_file_replace(path, keel_bytes(packed, size)));
    keel_free(packed);
    keel_free(path);
}

static void assert_missing(const place_t *place, const char *digest, const char *why) {
    const keel_page_input_t input = {NULL, place->root};
    const keel_page_program_t *found;
    keel_page_t page = {.input = &input, .budget = 1 << 20};
    assert_ok(keel_page_program(&page, digest, &found));
    if (!strstr(found->missing, why)) fail_msg("%s: '%s' is not '%s'", digest, found->missing, why);
    keel_page_close_programs(&page);
}

// A journal may say anything. Its digests become paths.
static void only_a_digest_names_a_file(void **state) {
    (void)state;
    static const char digest[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    place_t place;
    char *folder, other[sizeof digest];
    place_make(&place);
    assert_ok(keel_path(&folder, "%s/programs", place.root));
    assert_ok(keel_directory_make(folder));
    keel_free(folder);
    put(&place, digest);
    assert_missing(&place, digest, "damaged"); // it was opened
    assert_missing(&place, "aaaa", "not kept");
    assert_missing(&place, "", "not kept");
    for (size_t i = 0; i < sizeof digest - 1; i += 9) {
        memcpy(other, digest, sizeof digest);
        other[i] = "xA.g-_:,"[i / 9];
        put(&place, other);
        assert_missing(&place, other, "not kept");
    }
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_digest_names_a_file),
    };
    return cmocka_run_group_tests_name("page_program", tests, NULL, NULL);
}
