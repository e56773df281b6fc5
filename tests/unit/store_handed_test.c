// The programs of what clients serialized, by the digest of the bytes.
#define _GNU_SOURCE
#include <sys/stat.h>

#include "base/pack.h"
#include "store/handed.h"
#include "store_help.h"

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

static void put(const place_t *place, uint64_t seed, const char *code) {
    uint8_t *packed;
    size_t size;
    keel_digest_t bytes = key_of(seed);
    assert_ok(keel_pack(keel_str_bytes(keel_str(code)), &packed, &size));
    const keel_handed_t handed = {.format = KEEL_STR("mlir"),
                                  .options = keel_bytes("\x1a\x00", 2),
                                  .packed = keel_bytes(packed, size)};
    assert_ok(keel_handed_write(place->cache, &bytes, &handed));
    keel_free(packed);
}

static unsigned count(const place_t *place) {
    return count_files(place, "handed", ".program");
}

static void what_was_written_is_read(void **state) {
    const place_t *place = *state;
    keel_digest_t bytes = key_of(1), other = key_of(2);
    keel_handed_t handed;
    uint8_t *code;
    size_t size;
    put(place, 1, "a program");
    assert_ok(keel_handed_read(place->cache, &bytes, false, &handed));
    assert_true(keel_str_is(handed.format, "mlir"));
    assert_int_equal(handed.options.size, 2);
    assert_ok(keel_unpack(handed.packed, 9, &code, &size));
    assert_int_equal(size, 9);
    assert_memory_equal(code, "a program", 9);
    keel_free(code);
    assert_code(keel_unpack(handed.packed, 8, &code, &size), KEEL_CORRUPT);
    keel_handed_release(&handed);
    assert_code(keel_handed_read(place->cache, &other, false, &handed), KEEL_NOT_FOUND);
}

static void every_cut_and_every_flipped_byte_is_damage(void **state) {
    const place_t *place = *state;
    char path[700], hex[KEEL_DIGEST_HEX];
    keel_digest_t bytes = key_of(1);
    keel_handed_t handed;
    uint8_t *file;
    size_t size;
    put(place, 1, "a program");
    keel_digest_hex(&bytes, hex);
    snprintf(path, sizeof path, "%s/handed/%s.program", place->cache, hex);
    assert_ok(keel_file_read(path, 1 << 20, &file, &size));
    for (size_t i = 0; i < size; ++i) {
        assert_ok(keel_file_replace(path, keel_bytes(file, i)));
        assert_code(keel_handed_read(place->cache, &bytes, false, &handed), KEEL_CORRUPT);
        file[i] ^= 0x20;
        assert_ok(keel_file_replace(path, keel_bytes(file, size)));
        assert_code(keel_handed_read(place->cache, &bytes, false, &handed), KEEL_CORRUPT);
        file[i] ^= 0x20;
    }
    assert_ok(keel_file_replace(path, keel_bytes(file, size)));
    assert_ok(keel_handed_read(place->cache, &bytes, false, &handed));
    keel_handed_release(&handed);
    keel_free(file);
}

static void the_oldest_go_first(void **state) {
    const place_t *place = *state;
    keel_handed_t handed;
    for (uint64_t seed = 0; seed < 6; ++seed) {
        char path[700], hex[KEEL_DIGEST_HEX];
        keel_digest_t bytes = key_of(seed);
        put(place, seed, "a program");
        keel_digest_hex(&bytes, hex);
        snprintf(path, sizeof path, "%s/handed/%s.program", place->cache, hex);
        struct timespec times[2] = {{.tv_sec = 1000 + (time_t)seed},
                                    {.tv_sec = 1000 + (time_t)seed}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    assert_ok(keel_handed_limit(place->cache, 6));
    assert_int_equal(count(place), 6);
    assert_ok(keel_handed_limit(place->cache, 4));
    assert_int_equal(count(place), 4);
    keel_digest_t second = key_of(1), third = key_of(2);
    assert_code(keel_handed_read(place->cache, &second, false, &handed), KEEL_NOT_FOUND);
    assert_ok(keel_handed_read(place->cache, &third, false, &handed));
    keel_handed_release(&handed);
}

static void clearing_removes_them_and_nothing_else(void **state) {
    const place_t *place = *state;
    char path[700];
    uint64_t removed;
    put(place, 1, "a program");
    snprintf(path, sizeof path, "%s/handed/notes.program", place->cache);
    assert_ok(keel_file_replace(path, keel_bytes("mine", 4)));
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_int_equal(count(place), 1);
    assert_int_equal(access(path, F_OK), 0);
}

static void one_that_others_can_write_is_not_read(void **state) {
    const place_t *place = *state;
    char line[700];
    keel_digest_t bytes = key_of(1);
    keel_handed_t handed;
    put(place, 1, "a program");
    snprintf(line, sizeof line, "chmod a+w %s/handed/*.program", place->cache);
    assert_int_equal(system(line), 0);
    assert_code(keel_handed_read(place->cache, &bytes, false, &handed), KEEL_REFUSED);
    assert_ok(keel_handed_read(place->cache, &bytes, true, &handed));
    keel_handed_release(&handed);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read),
        TEST(every_cut_and_every_flipped_byte_is_damage),
        TEST(the_oldest_go_first),
        TEST(clearing_removes_them_and_nothing_else),
        TEST(one_that_others_can_write_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
