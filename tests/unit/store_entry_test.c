// The grammar of an entry file: what it contains, and that any damage is detected.
#define _GNU_SOURCE
#include "store_help.h"

// Where the envelope's parts stand (store/entry.h).
enum { VERSION = 8, OLDEST_READER = 12, HEADER_SIZE = 16, STORED_SIZE = 24, HEADER_DIGEST = 32 };
enum { PAYLOAD_DIGEST = 64 };

typedef struct file_t {
    uint8_t *data;
    size_t size;
} file_t;

static file_t encode(size_t payload, bool packs) {
    fixture_t f = fixture_make(7, 0, payload, packs);
    file_t file;
    assert_ok(keel_entry_encode(&f.entry, &file.data, &file.size));
    fixture_free(&f);
    return file;
}

static keel_code_t decode(const uint8_t *data, size_t size) {
    // A copy of just this size, so that a sanitizer sees any byte read behind it.
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    keel_entry_t entry;
    keel_status_t status = keel_entry_decode(keel_bytes(copy, size), &entry);
    keel_code_t code = keel_status_code(status);
    if (!status) keel_entry_deinitialize(&entry);
    keel_status_ignore(status);
    free(copy);
    return code;
}

static void put_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; ++i)
        at[i] = (uint8_t)(value >> 8 * i);
}

// Makes both digests right again after an edit.
static void seal(uint8_t *data, size_t size) {
    size_t header = (size_t)keel_load_u64(data + HEADER_SIZE);
    keel_digest_t payload = keel_digest(keel_bytes(data + header, size - header));
    memcpy(data + PAYLOAD_DIGEST, payload.bytes, KEEL_DIGEST_SIZE);
    keel_digest_t digest = keel_entry_header_digest(data, header);
    memcpy(data + HEADER_DIGEST, digest.bytes, KEEL_DIGEST_SIZE);
}

// The same entry with bytes put between its last field and its payload.
static file_t with_field(const file_t *file, const void *bytes, size_t size) {
    size_t header = (size_t)keel_load_u64(file->data + HEADER_SIZE);
    file_t longer = {malloc(file->size + size), file->size + size};
    memcpy(longer.data, file->data, header);
    memcpy(longer.data + header, bytes, size);
    memcpy(longer.data + header + size, file->data + header, file->size - header);
    put_u32(longer.data + HEADER_SIZE, (uint32_t)(header + size));
    seal(longer.data, longer.size);
    return longer;
}

static uint8_t *find_field(file_t *file, uint32_t tag) {
    size_t header = (size_t)keel_load_u64(file->data + HEADER_SIZE);
    for (size_t at = KEEL_ENTRY_ENVELOPE; at < header;) {
        if (keel_load_u32(file->data + at) == tag) return file->data + at;
        at += 8 + keel_load_u32(file->data + at + 4);
    }
    fail_msg("no field of that tag");
    return NULL;
}

static void a_payload_that_packs_is_stored_smaller(void **state) {
    (void)state;
    file_t packed = encode(100000, true), raw = encode(100000, false);
    assert_true(packed.size < 50000);
    assert_true(raw.size > 100000 && raw.size < 100500);
    assert_int_equal(decode(packed.data, packed.size), KEEL_OK);
    assert_int_equal(decode(raw.data, raw.size), KEEL_OK);
    keel_free(packed.data);
    keel_free(raw.data);
}

static void any_flipped_bit_is_damage(void **state) {
    (void)state;
    for (int packs = 0; packs < 2; ++packs) {
        file_t file = encode(100, packs);
        for (size_t i = 0; i < file.size; ++i) {
            for (int bit = 0; bit < 8; ++bit) {
                file.data[i] ^= (uint8_t)(1 << bit);
                keel_code_t code = decode(file.data, file.size);
                if (code != KEEL_CORRUPT) fail_msg("byte %zu bit %d: code %d", i, bit, (int)code);
                file.data[i] ^= (uint8_t)(1 << bit);
            }
        }
        keel_free(file.data);
    }
}

static void any_cut_and_any_longer_file_is_damage(void **state) {
    (void)state;
    for (int packs = 0; packs < 2; ++packs) {
        file_t file = encode(100, packs);
        uint8_t *longer = calloc(1, file.size + 64);
        memcpy(longer, file.data, file.size);
        for (size_t size = 0; size < file.size + 64; ++size) {
            keel_code_t expected = size == file.size ? KEEL_OK : KEEL_CORRUPT;
            if (decode(longer, size) != expected) fail_msg("%zu of %zu bytes", size, file.size);
        }
        free(longer);
        keel_free(file.data);
    }
}

static void bytes_that_are_no_entry_are_damage(void **state) {
    (void)state;
    uint64_t random = 1;
    uint8_t noise[4096];
    for (int round = 0; round < 200; ++round) {
        for (size_t i = 0; i < sizeof noise; ++i)
            noise[i] = (uint8_t)next_random(&random);
        if (round & 1) memcpy(noise, "\x89KEEL\r\n\x1a", 8);
        assert_int_equal(decode(noise, sizeof noise), KEEL_CORRUPT);
    }
}

static void an_empty_file_is_named_as_one(void **state) {
    (void)state;
    for (size_t size = 0; size < 3; ++size) {
        keel_entry_t entry;
        keel_status_t status = keel_entry_decode(keel_bytes("\x89KE", size), &entry);
        assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
        assert_int_equal(strstr(keel_status_message(status), "it is empty") != NULL, size == 0);
        keel_status_ignore(status);
    }
}

static void a_header_is_read_alone_from_as_much_as_it_needs(void **state) {
    (void)state;
    file_t file = encode(5000, false);
    size_t header = (size_t)keel_load_u64(file.data + HEADER_SIZE);
    for (size_t size = 0; size < file.size; ++size) {
        keel_entry_t entry;
        size_t needed;
        assert_ok(
            keel_entry_decode_header(keel_bytes(file.data, size), file.size, &entry, &needed));
        assert_int_equal(needed, size < KEEL_ENTRY_ENVELOPE ? KEEL_ENTRY_ENVELOPE
                                 : size < header            ? header
                                                            : 0);
        if (needed) continue;
        assert_string_equal(entry.name, "jit_step");
        assert_int_equal(entry.payload_size, 5000);
        assert_null(entry.payload);
        keel_entry_deinitialize(&entry);
    }
    keel_free(file.data);
}

static void an_entry_that_only_newer_versions_read_is_foreign(void **state) {
    (void)state;
    file_t file = encode(100, true);
    put_u32(file.data + VERSION, KEEL_ENTRY_VERSION + 1);
    put_u32(file.data + OLDEST_READER, KEEL_ENTRY_VERSION + 1);
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_UNSUPPORTED);
    put_u32(file.data + VERSION, KEEL_ENTRY_OLDEST - 1);
    put_u32(file.data + OLDEST_READER, 0);
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_UNSUPPORTED);
    keel_free(file.data);
}

static void an_entry_of_a_newer_version_is_read_where_it_allows(void **state) {
    (void)state;
    file_t file = encode(100, true);
    put_u32(file.data + VERSION, 1000);
    file_t newer = with_field(&file, "\x63\0\0\0\x04\0\0\0what", 12);
    keel_entry_t entry;
    assert_ok(keel_entry_decode(keel_bytes(newer.data, newer.size), &entry));
    fixture_t f = fixture_make(7, 0, 100, true);
    assert_entry_equal(&entry, &f.entry);
    fixture_free(&f);
    keel_entry_deinitialize(&entry);
    free(newer.data);
    keel_free(file.data);
}

static void fields_that_are_missing_or_twice_there_or_misfit_are_damage(void **state) {
    (void)state;
    for (uint32_t tag = 1; tag <= 9; ++tag) {
        file_t file = encode(100, true);
        put_u32(find_field(&file, tag), 4711);
        seal(file.data, file.size);
        assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
        put_u32(find_field(&file, 4711), tag == 9 ? 1 : tag + 1);
        seal(file.data, file.size);
        assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
        keel_free(file.data);
    }
    static const char *const tails[] = {"\x63\0\0\0\xff\0\0\0what", "\x63\0\0\0\xff\xff\xff\xffhat",
                                        "\x06\0\0\0\x04\0\0\0what"};
    for (int i = 0; i < 3; ++i) {
        file_t file = encode(100, true), longer = with_field(&file, tails[i], 12);
        assert_int_equal(decode(longer.data, longer.size), KEEL_CORRUPT);
        free(longer.data);
        keel_free(file.data);
    }
}

static void a_payload_size_that_lies_is_damage_and_allocates_nothing(void **state) {
    (void)state;
    const uint64_t lies[] = {0, 99, 101, 4ull << 30, (4ull << 30) + 1, UINT64_MAX};
    for (int packs = 0; packs < 2; ++packs) {
        for (int i = 0; i < 6; ++i) {
            file_t file = encode(100, packs);
            uint8_t *value = find_field(&file, 9) + 8;
            put_u32(value, (uint32_t)lies[i]);
            put_u32(value + 4, (uint32_t)(lies[i] >> 32));
            seal(file.data, file.size);
            keel_memory_watch(1);
            assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
            assert_true(keel_memory_peak() < 4096);
            keel_memory_watch(0);
            keel_free(file.data);
        }
    }
}

static void an_unknown_codec_is_foreign_and_a_wrong_one_is_damage(void **state) {
    (void)state;
    file_t file = encode(100, true);
    put_u32(find_field(&file, 8) + 8, 77);
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_UNSUPPORTED);
    put_u32(find_field(&file, 8) + 8, KEEL_CODEC_RAW);
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
    keel_free(file.data);
    file = encode(100, false);
    put_u32(find_field(&file, 8) + 8, KEEL_CODEC_ZSTD);
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
    keel_free(file.data);
}

static void a_text_with_a_zero_byte_is_damage(void **state) {
    (void)state;
    file_t file = encode(100, true);
    find_field(&file, 4)[8 + 3] = 0;
    seal(file.data, file.size);
    assert_int_equal(decode(file.data, file.size), KEEL_CORRUPT);
    keel_free(file.data);
}

static void texts_and_payloads_over_their_limits_are_refused(void **state) {
    (void)state;
    fixture_t f = fixture_make(1, 0, 10, true);
    char *text = malloc(KEEL_ENTRY_HEADER_LIMIT + 1);
    memset(text, 'x', KEEL_ENTRY_HEADER_LIMIT);
    text[KEEL_ENTRY_HEADER_LIMIT] = 0;
    uint8_t *data;
    size_t size;
    f.entry.components = text;
    assert_code(keel_entry_encode(&f.entry, &data, &size), KEEL_INVALID);
    text[KEEL_ENTRY_HEADER_LIMIT / 2] = 0;
    f.entry.writer = text;
    assert_code(keel_entry_encode(&f.entry, &data, &size), KEEL_INVALID);
    f.entry.writer = NULL;
    assert_ok(keel_entry_encode(&f.entry, &data, &size));
    assert_int_equal(decode(data, size), KEEL_OK);
    keel_free(data);
    f.entry.payload_size = (size_t)KEEL_ENTRY_PAYLOAD_LIMIT + 1;
    assert_code(keel_entry_encode(&f.entry, &data, &size), KEEL_INVALID);
    free(text);
    fixture_free(&f);
}

// Entries of every released version must stay readable.
static void entries_of_released_versions_are_read(void **state) {
    (void)state;
    for (int packs = 0; packs < 2; ++packs) {
        char path[512];
        snprintf(path, sizeof path, "%s/entries/v1-%s.keel", KEEL_TEST_SAMPLES,
                 packs ? "zstd" : "raw");
        if (getenv("KEEL_REGENERATE")) {
            file_t file = encode(200, packs);
            write_bytes(path, file.data, file.size);
            keel_free(file.data);
        }
        uint8_t *data;
        size_t size;
        assert_ok(keel_file_read(path, 4096, &data, &size));
        keel_entry_t entry;
        assert_ok(keel_entry_decode(keel_bytes(data, size), &entry));
        fixture_t f = fixture_make(7, 0, 200, packs);
        assert_entry_equal(&entry, &f.entry);
        fixture_free(&f);
        keel_entry_deinitialize(&entry);
        keel_free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_payload_that_packs_is_stored_smaller),
        cmocka_unit_test(any_flipped_bit_is_damage),
        cmocka_unit_test(any_cut_and_any_longer_file_is_damage),
        cmocka_unit_test(bytes_that_are_no_entry_are_damage),
        cmocka_unit_test(an_empty_file_is_named_as_one),
        cmocka_unit_test(a_header_is_read_alone_from_as_much_as_it_needs),
        cmocka_unit_test(an_entry_that_only_newer_versions_read_is_foreign),
        cmocka_unit_test(an_entry_of_a_newer_version_is_read_where_it_allows),
        cmocka_unit_test(fields_that_are_missing_or_twice_there_or_misfit_are_damage),
        cmocka_unit_test(a_payload_size_that_lies_is_damage_and_allocates_nothing),
        cmocka_unit_test(an_unknown_codec_is_foreign_and_a_wrong_one_is_damage),
        cmocka_unit_test(a_text_with_a_zero_byte_is_damage),
        cmocka_unit_test(texts_and_payloads_over_their_limits_are_refused),
        cmocka_unit_test(entries_of_released_versions_are_read),
    };
    return cmocka_run_group_tests_name("store entry", tests, NULL, NULL);
}
