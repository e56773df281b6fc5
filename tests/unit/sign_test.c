// Keys, their files and what may be read of them; signatures of entries.
#define _GNU_SOURCE
#include "store_help.h"

#include "sign/sign.h"
#include "store/seal.h"

static int set_up(void **state) {
    static place_t place;
    place_make(&place);
    *state = &place;
    return 0;
}

static int tear_down(void **state) {
    place_remove(*state);
    return 0;
}

static void chmod_file(const char *folder, const char *name, unsigned mode) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_a_key_that_was_made_is_loaded_again(void **state) {
    const place_t *place = *state;
    keel_public_key_t made;
    keel_signing_key_t loaded;
    assert_code(keel_sign_load(place->cache, &loaded), KEEL_NOT_FOUND);
    assert_ok(keel_sign_generate(place->cache, "ci-1.a@b", &made));
    assert_ok(keel_sign_load(place->cache, &loaded));
    assert_string_equal(loaded.open.name, "ci-1.a@b");
    assert_memory_equal(loaded.open.bytes, made.bytes, KEEL_SIGN_PUBLIC);
    assert_code(keel_sign_generate(place->cache, "another", &made), KEEL_INVALID);
    keel_sign_forget(&loaded);
}

static void test_a_key_has_a_name_that_can_be_written(void **state) {
    const place_t *place = *state;
    keel_public_key_t made;
    static const char *const names[] = {"", "a b", "a:b", "a\n", "\xc3\xa4", "../x/y"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_code(keel_sign_generate(place->cache, names[i], &made), KEEL_INVALID);
}

static void test_a_private_key_that_others_can_read_is_refused(void **state) {
    const place_t *place = *state;
    keel_public_key_t made;
    keel_signing_key_t loaded;
    static const unsigned modes[] = {0640, 0604, 0620, 0602};
    assert_ok(keel_sign_generate(place->cache, "ci", &made));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        chmod_file(place->cache, "signing", modes[i]);
        assert_code(keel_sign_load(place->cache, &loaded), KEEL_REFUSED);
    }
    chmod_file(place->cache, "signing", 0600);
    chmod_file(place->cache, ".", 0777);
    assert_code(keel_sign_load(place->cache, &loaded), KEEL_REFUSED);
    chmod_file(place->cache, ".", 0700);
    assert_ok(keel_sign_load(place->cache, &loaded));
    keel_sign_forget(&loaded);
}

static keel_public_key_t key_named(const char *name, uint8_t first) {
    keel_public_key_t key = {.bytes = {first}};
    snprintf(key.name, sizeof key.name, "%s", name);
    return key;
}

static size_t count_trusted(const place_t *place) {
    keel_public_keys_t keys;
    assert_ok(keel_sign_trusted(place->cache, &keys));
    size_t count = keys.count;
    keel_sign_free(&keys);
    return count;
}

static void test_keys_are_trusted_by_name_until_they_are_not(void **state) {
    const place_t *place = *state;
    const keel_public_key_t a = key_named("a", 1), other_a = key_named("a", 2),
                            b = key_named("b", 3);
    char text[KEEL_SIGN_TEXT];
    bool was_there;
    assert_int_equal(count_trusted(place), 0);
    assert_ok(keel_sign_trust(place->cache, &a, &was_there));
    assert_false(was_there);
    assert_ok(keel_sign_trust(place->cache, &b, &was_there));
    assert_ok(keel_sign_trust(place->cache, &other_a, &was_there));
    assert_true(was_there);
    assert_int_equal(count_trusted(place), 2);
    assert_code(keel_sign_untrust(place->cache, KEEL_STR("c")), KEEL_NOT_FOUND);
    keel_sign_show(&other_a, text);
    assert_ok(keel_sign_untrust(place->cache, keel_str(text)));
    assert_ok(keel_sign_untrust(place->cache, KEEL_STR("b")));
    assert_int_equal(count_trusted(place), 0);
}

static void test_a_list_that_others_can_write_is_refused(void **state) {
    const place_t *place = *state;
    const keel_public_key_t a = key_named("a", 1);
    keel_public_keys_t keys;
    bool was_there;
    assert_ok(keel_sign_trust(place->cache, &a, &was_there));
    chmod_file(place->cache, "trusted", 0666);
    assert_code(keel_sign_trusted(place->cache, &keys), KEEL_REFUSED);
}

static void test_texts_that_are_no_keys_are_refused(void **state) {
    (void)state;
    keel_public_key_t key;
    static const char *const texts[] = {"", "a", "a:", "a:12", "a b:00", ":00"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        assert_code(keel_sign_read(keel_str(texts[i]), &key), KEEL_INVALID);
}

// ---- entries -----------------------------------------------------------------------------------

typedef struct sealed_t {
    keel_buffer_t head;
    keel_entry_file_t file;
} sealed_t;

static sealed_t seal_entry(const keel_entry_t *entry, const keel_signing_key_t *key) {
    sealed_t out;
    keel_digest_t message;
    uint8_t signature[KEEL_SEAL_SIGNATURE];
    assert_ok(keel_entry_encode_parts(entry, &out.file));
    keel_digest_t payload = keel_digest(out.file.stored);
    keel_buffer_initialize(&out.head, 0);
    assert_ok(keel_seal_begin(out.file.head, key->open.bytes, &payload, &out.head, &message));
    keel_sign_make(key, keel_bytes(message.bytes, KEEL_DIGEST_SIZE), signature);
    keel_seal_finish(&out.head, signature);
    return out;
}

static void sealed_free(sealed_t *sealed) {
    keel_buffer_deinitialize(&sealed->head);
    keel_entry_file_release(&sealed->file);
}

static bool holds(keel_bytes_t header) {
    keel_seal_t seal;
    return keel_seal_find(header, &seal) &&
           keel_sign_holds(seal.key, keel_bytes(seal.message.bytes, KEEL_DIGEST_SIZE),
                           seal.signature);
}

static void test_a_signed_entry_is_an_entry_that_names_its_signer(void **state) {
    const place_t *place = *state;
    keel_public_key_t made;
    keel_signing_key_t key;
    keel_entry_t got;
    assert_ok(keel_sign_generate(place->cache, "ci", &made));
    assert_ok(keel_sign_load(place->cache, &key));
    fixture_t f = fixture_make(7, 0, 5000, true);
    sealed_t sealed = seal_entry(&f.entry, &key);
    keel_buffer_t whole;
    keel_buffer_initialize(&whole, 0);
    keel_buffer_append(&whole, sealed.head.data, sealed.head.size);
    keel_buffer_append(&whole, sealed.file.stored.data, sealed.file.stored.size);
    assert_ok(keel_entry_decode(keel_buffer_bytes(&whole), &got));
    assert_entry_equal(&got, &f.entry);
    keel_entry_deinitialize(&got);
    keel_seal_t seal;
    assert_true(keel_seal_find(keel_buffer_bytes(&sealed.head), &seal));
    assert_memory_equal(seal.key, made.bytes, KEEL_SIGN_PUBLIC);
    assert_false(keel_seal_find(sealed.file.head, &seal));
    keel_buffer_deinitialize(&whole);
    sealed_free(&sealed);
    fixture_free(&f);
    keel_sign_forget(&key);
}

static void test_no_bit_of_a_signed_header_can_change(void **state) {
    enum { DIGEST = 32, DIGEST_END = 64 }; // of the header, which is not signed but checked
    const place_t *place = *state;
    keel_public_key_t made;
    keel_signing_key_t key;
    assert_ok(keel_sign_generate(place->cache, "ci", &made));
    assert_ok(keel_sign_load(place->cache, &key));
    fixture_t f = fixture_make(7, 0, 500, true);
    sealed_t sealed = seal_entry(&f.entry, &key);
    assert_true(holds(keel_buffer_bytes(&sealed.head)));
    for (size_t i = 0; i < sealed.head.size * 8; ++i) {
        if (i / 8 >= DIGEST && i / 8 < DIGEST_END) continue;
        sealed.head.data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(holds(keel_buffer_bytes(&sealed.head)));
        sealed.head.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    sealed_free(&sealed);
    fixture_free(&f);
    keel_sign_forget(&key);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_key_that_was_made_is_loaded_again),
        TEST(test_a_key_has_a_name_that_can_be_written),
        TEST(test_a_private_key_that_others_can_read_is_refused),
        TEST(test_keys_are_trusted_by_name_until_they_are_not),
        TEST(test_a_list_that_others_can_write_is_refused),
        cmocka_unit_test(test_texts_that_are_no_keys_are_refused),
        TEST(test_a_signed_entry_is_an_entry_that_names_its_signer),
        TEST(test_no_bit_of_a_signed_header_can_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
