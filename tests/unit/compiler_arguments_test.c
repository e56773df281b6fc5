// The arguments of a trial: the same bytes everywhere, and numbers that each type has exactly.
#define _GNU_SOURCE
#include "place.h"

#include <math.h>

#include "compiler/trial.h"

static const int64_t dims[] = {4, 16};
enum { COUNT = 64 };

static void fill(keel_primitive_t element, bool are_positive, uint8_t out[COUNT * 16]) {
    const keel_array_shape_t shape = {element, 2, dims};
    memset(out, 0xee, (size_t)COUNT * 16);
    assert_ok(trial_check(&shape));
    size_t size = trial_bytes(&shape);
    assert_true(size && size <= COUNT * 16);
    trial_fill(&shape, 5, 0, are_positive, out);
    for (size_t i = size; i < COUNT * 16; ++i)
        assert_int_equal(out[i], 0xee);
}

// All versions of Keel must make the same ones, or no two replays could be compared.
static void they_are_these(void **state) {
    (void)state;
    uint8_t bytes[COUNT * 16];
    char hex[KEEL_DIGEST_HEX];
    static const struct {
        keel_primitive_t element;
        const char *digest;
    } known[] = {{KEEL_PRIMITIVE_PRED, "dedaa5de4a01c337"},
                 {KEEL_PRIMITIVE_S8, "057894e0be0d3029"},
                 {KEEL_PRIMITIVE_S16, "503b188ebc63e3aa"},
                 {KEEL_PRIMITIVE_S32, "a0fae8af8726967a"},
                 {KEEL_PRIMITIVE_S64, "5553fb284f1df1fe"},
                 {KEEL_PRIMITIVE_U8, "057894e0be0d3029"},
                 {KEEL_PRIMITIVE_U16, "503b188ebc63e3aa"},
                 {KEEL_PRIMITIVE_U32, "a0fae8af8726967a"},
                 {KEEL_PRIMITIVE_U64, "5553fb284f1df1fe"},
                 {KEEL_PRIMITIVE_F16, "a6fbb381edb38c7f"},
                 {KEEL_PRIMITIVE_F32, "ae68260639ac5b20"},
                 {KEEL_PRIMITIVE_F64, "f696d8b1febdacc9"},
                 {KEEL_PRIMITIVE_BF16, "c89c6797b93aba2b"},
                 {KEEL_PRIMITIVE_C64, "8c4a8b7700faffa7"},
                 {KEEL_PRIMITIVE_C128, "9b29778aa0e5947d"},
                 {KEEL_PRIMITIVE_F8E5M2, "b8aeaccca95b1375"},
                 {KEEL_PRIMITIVE_F8E4M3FN, "b8aeaccca95b1375"},
                 {KEEL_PRIMITIVE_F8E8M0FNU, "c3e608d74c7f31ff"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        fill(known[i].element, false, bytes);
        keel_digest_t digest = keel_digest(keel_bytes(bytes, sizeof bytes));
        keel_digest_hex(&digest, hex);
        hex[16] = 0;
        assert_string_equal(hex, known[i].digest);
    }
}

static double read_bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static double read_half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double size = exponent ? ldexp(1 + (bits & 0x3ff) / 1024.0, exponent - 15)
                           : ldexp((bits & 0x3ff) / 1024.0, -14);
    return bits & 0x8000 ? -size : size;
}

// Whatever their precision, types of floats get one and the same numbers.
static void floats_are_one_number_in_each_type(void **state) {
    (void)state;
    for (int positive = 0; positive < 2; ++positive) {
        uint8_t wide[COUNT * 16], narrow[COUNT * 16], half[COUNT * 16], brief[COUNT * 16];
        fill(KEEL_PRIMITIVE_F64, positive, wide);
        fill(KEEL_PRIMITIVE_F32, positive, narrow);
        fill(KEEL_PRIMITIVE_F16, positive, half);
        fill(KEEL_PRIMITIVE_BF16, positive, brief);
        for (size_t i = 0; i < COUNT; ++i) {
            double number;
            float single;
            uint16_t bits[2];
            memcpy(&number, wide + 8 * i, sizeof number);
            memcpy(&single, narrow + 4 * i, sizeof single);
            memcpy(&bits[0], half + 2 * i, sizeof bits[0]);
            memcpy(&bits[1], brief + 2 * i, sizeof bits[1]);
            assert_true((double)single == number);
            assert_true(read_half(bits[0]) == number);
            assert_true(read_bfloat(bits[1]) == number);
            assert_true(positive ? number >= 0.5 && number <= 1.5 : fabs(number) <= 1);
        }
    }
}

static void other_types_have_small_values(void **state) {
    (void)state;
    static const keel_primitive_t bytes_of[] = {
        KEEL_PRIMITIVE_S8,     KEEL_PRIMITIVE_U8,         KEEL_PRIMITIVE_PRED,
        KEEL_PRIMITIVE_F8E5M2, KEEL_PRIMITIVE_F8E4M3FN,   KEEL_PRIMITIVE_F8E8M0FNU,
        KEEL_PRIMITIVE_F8E3M4, KEEL_PRIMITIVE_F8E4M3FNUZ, KEEL_PRIMITIVE_F8E5M2FNUZ};
    uint8_t out[COUNT * 16];
    for (size_t i = 0; i < sizeof bytes_of / sizeof *bytes_of; ++i) {
        fill(bytes_of[i], false, out);
        for (size_t k = 0; k < COUNT; ++k) {
            if (i < 2) assert_true(out[k] <= 3);
            if (i == 2) assert_true(out[k] <= 1);
            bool is_scale = bytes_of[i] == KEEL_PRIMITIVE_F8E8M0FNU; // a half, 1 or 2
            if (is_scale) assert_true(out[k] >= 126 && out[k] <= 128);
            if (i > 2 && !is_scale) assert_true(out[k] != 0x80 && (out[k] & 0x7f) != 0x7f); // NaN
        }
    }
    fill(KEEL_PRIMITIVE_C64, false, out);
    for (size_t k = 0; k < 2 * (size_t)COUNT; ++k) {
        float part;
        memcpy(&part, out + 4 * k, sizeof part);
        assert_true(fabsf(part) <= 1);
    }
}

static void not_every_array_has_values(void **state) {
    (void)state;
    static const int64_t none[] = {0, 4}, unknown[] = {-1, 4}, huge[] = {INT64_MAX, INT64_MAX};
    keel_array_shape_t shape = {KEEL_PRIMITIVE_F32, 2, none};
    assert_ok(trial_check(&shape));
    assert_int_equal(trial_bytes(&shape), 0);
    const keel_array_shape_t refused[] = {{KEEL_PRIMITIVE_TOKEN, 0, NULL},
                                          {KEEL_PRIMITIVE_S4, 2, dims},
                                          {KEEL_PRIMITIVE_INVALID, 2, dims},
                                          {KEEL_PRIMITIVE_F32, 2, unknown},
                                          {KEEL_PRIMITIVE_F32, 2, huge}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        keel_status_t status = trial_check(&refused[i]);
        assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
        keel_status_ignore(status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_these),
        cmocka_unit_test(floats_are_one_number_in_each_type),
        cmocka_unit_test(other_types_have_small_values),
        cmocka_unit_test(not_every_array_has_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
