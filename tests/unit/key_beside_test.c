// Programs whose large constants are beside them, against the same programs as a whole. The samples
// compute (x - a) * b - a.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "key/key.h"
#include "read/read.h"

enum { FEW = 100, MANY = 1 << 18 };

static float a[MANY], b[MANY];

static uint8_t *sample(const char *name, size_t *size) {
    char path[512];
    uint8_t *data;
    snprintf(path, sizeof path, "%s/beside/%s.mlirbc", KEEL_TEST_SAMPLES, name);
    assert_null(keel_file_read(path, 1 << 20, &data, size));
    return data;
}

static keel_status_t key_of(const char *name, const keel_beside_t *beside, size_t count,
                            keel_digest_t *out) {
    size_t size;
    keel_program_t program;
    uint8_t *data = sample(name, &size);
    keel_status_t status =
        count ? keel_read_mlir_beside(keel_bytes(data, size), beside, count, &program)
              : keel_read_mlir(keel_bytes(data, size), &program);
    if (!status) {
        status = keel_key_program(&program, out);
        keel_program_deinitialize(&program);
    }
    keel_free(data);
    return status;
}

static keel_beside_t beside_of(const float *values, size_t count) {
    keel_bytes_t bytes = keel_bytes(values, count * sizeof *values);
    return (keel_beside_t){bytes, keel_bulk_digest(bytes)};
}

static int fill(void **state) {
    (void)state;
    for (int i = 0; i < MANY; ++i) {
        a[i] = (float)(i * 7 % 31);
        b[i] = (float)(i * 5 % 17);
    }
    return 0;
}

static void the_key_is_that_of_the_whole_program(void **state) {
    (void)state;
    const keel_beside_t beside[] = {beside_of(a, FEW), beside_of(b, FEW)};
    keel_digest_t key, whole;
    assert_null(key_of("whole", NULL, 0, &whole));
    assert_null(key_of("small", beside, 2, &key));
    assert_true(keel_digest_equal(&key, &whole));
}

static void each_byte_and_the_order_of_the_constants_make_another_key(void **state) {
    (void)state;
    keel_beside_t beside[] = {beside_of(a, FEW), beside_of(b, FEW)};
    const keel_beside_t turned[] = {beside[1], beside[0]};
    keel_digest_t key, other;
    assert_null(key_of("small", beside, 2, &key));
    assert_null(key_of("small", turned, 2, &other));
    assert_false(keel_digest_equal(&key, &other));
    uint8_t *bytes = (uint8_t *)b;
    for (size_t i = 0; i < FEW * sizeof *b; ++i) {
        bytes[i] ^= 1;
        beside[1] = beside_of(b, FEW);
        assert_null(key_of("small", beside, 2, &other));
        assert_false(keel_digest_equal(&key, &other));
        bytes[i] ^= 1;
    }
}

// The key follows a false digest.
static void a_large_constant_is_not_hashed_again_for_the_key(void **state) {
    (void)state;
    keel_beside_t beside[] = {beside_of(a, MANY), beside_of(b, MANY)};
    keel_digest_t key, same, other;
    assert_null(key_of("large", beside, 2, &key));
    a[MANY - 1] += 1;
    assert_null(key_of("large", beside, 2, &same));
    assert_true(keel_digest_equal(&key, &same));
    beside[0] = beside_of(a, MANY);
    assert_null(key_of("large", beside, 2, &other));
    assert_false(keel_digest_equal(&key, &other));
    a[MANY - 1] -= 1;
}

static void no_constant_is_copied(void **state) {
    (void)state;
    const keel_beside_t beside[] = {beside_of(a, MANY), beside_of(b, MANY)};
    keel_digest_t key;
    keel_memory_watch(1);
    assert_null(key_of("large", beside, 2, &key));
    size_t peak = keel_memory_peak();
    keel_memory_watch(0);
    assert_in_range(peak, 1, sizeof a / 8);
}

static void assert_refused(const keel_beside_t *beside, size_t count, const char *why) {
    keel_digest_t key;
    keel_status_t status = key_of("small", beside, count, &key);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), why));
    keel_status_ignore(status);
}

static void constants_that_do_not_fit_their_places_are_refused(void **state) {
    (void)state;
    const keel_beside_t fits = beside_of(a, FEW);
    assert_refused(&fits, 1, "there is none of this number: 'keel.constant 1'");
    const keel_beside_t three[] = {fits, fits, fits};
    assert_refused(three, 3, "one has no place");
    const keel_beside_t splat[] = {fits, beside_of(b, 1)};
    assert_refused(splat, 2, "its size is not that of its type: 'keel.constant 1'");
    const keel_beside_t longer[] = {fits, beside_of(b, FEW + 1)};
    keel_digest_t key;
    keel_status_t status = key_of("small", longer, 2, &key);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
}

static void a_place_that_occurs_twice_is_refused(void **state) {
    (void)state;
    const keel_beside_t beside[] = {beside_of(a, FEW), beside_of(b, FEW)};
    size_t size;
    keel_program_t program;
    uint8_t *data = sample("small", &size);
    static const char second[] = "keel.constant 1";
    bool is_changed = false;
    for (size_t i = 0; i + sizeof second <= size; ++i) {
        if (memcmp(data + i, second, sizeof second) != 0) continue;
        data[i + sizeof second - 2] = '0';
        is_changed = true;
    }
    assert_true(is_changed);
    keel_status_t status = keel_read_mlir_beside(keel_bytes(data, size), beside, 2, &program);
    assert_non_null(strstr(keel_status_message(status), "a second place"));
    keel_status_ignore(status);
    keel_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_is_that_of_the_whole_program),
        cmocka_unit_test(each_byte_and_the_order_of_the_constants_make_another_key),
        cmocka_unit_test(a_large_constant_is_not_hashed_again_for_the_key),
        cmocka_unit_test(no_constant_is_copied),
        cmocka_unit_test(constants_that_do_not_fit_their_places_are_refused),
        cmocka_unit_test(a_place_that_occurs_twice_is_refused),
    };
    return cmocka_run_group_tests_name("key_beside", tests, fill, NULL);
}
