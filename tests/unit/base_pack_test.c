// Packed bytes unpack to what they were, at the sizes around a block, and state their size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/base.h"

enum { BLOCK = 32 << 10 };

// Noise does not pack; with few values of `kinds` it does.
static uint8_t *noise(size_t size, unsigned kinds) {
    uint8_t *bytes = test_malloc(size + 1);
    uint32_t state = 12345;
    for (size_t i = 0; i < size; ++i) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (uint8_t)((state >> 24) % kinds);
    }
    return bytes;
}

static void check(size_t size, unsigned kinds) {
    uint8_t *bytes = noise(size, kinds), *packed;
    size_t packed_size;
    assert_null(keel_pack(keel_bytes(bytes, size), &packed, &packed_size));
    assert_int_equal(ZSTD_getFrameContentSize(packed, packed_size), size);
    uint8_t *back = test_malloc(size + 1);
    assert_int_equal(ZSTD_decompress(back, size, packed, packed_size), size);
    assert_memory_equal(back, bytes, size);
    if (size > 100 && kinds < 8) assert_true(packed_size < size / 2);
    // The checksum stands at the end of the frame.
    packed[packed_size - 1] ^= 1;
    assert_true(ZSTD_isError(ZSTD_decompress(back, size, packed, packed_size)));
    keel_free(packed);
    test_free(back);
    test_free(bytes);
}

static void what_is_packed_unpacks_to_the_same(void **state) {
    (void)state;
    const size_t sizes[] = {0,         1,         100,           BLOCK - 1, BLOCK,
                            BLOCK + 1, 4 * BLOCK, 4 * BLOCK + 1, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        check(sizes[i], 2);
        check(sizes[i], 256);
    }
}

// Repeated code lies far apart in an executable: a block is small, the window is not.
static void repeats_are_found_across_blocks(void **state) {
    (void)state;
    enum { PART = 3 * BLOCK };
    uint8_t *part = noise(PART, 256), *bytes = test_malloc(2 * PART), *packed;
    memcpy(bytes, part, PART);
    memcpy(bytes + PART, part, PART);
    size_t size;
    assert_null(keel_pack(keel_bytes(bytes, (size_t)2 * PART), &packed, &size));
    assert_true(size < PART + PART / 10);
    keel_free(packed);
    test_free(bytes);
    test_free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks_to_the_same),
        cmocka_unit_test(repeats_are_found_across_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
