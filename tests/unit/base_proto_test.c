// The wire format of protobuf, field by field.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#define SPAN(...) keel_bytes((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void assert_varint(keel_bytes_t bytes, uint64_t expected) {
    keel_cursor_t cursor = keel_cursor(bytes);
    assert_int_equal(keel_proto_varint(&cursor), expected);
    assert_false(cursor.failed);
    assert_int_equal(keel_cursor_left(&cursor), 0);
}

static void assert_no_varint(keel_bytes_t bytes) {
    keel_cursor_t cursor = keel_cursor(bytes);
    assert_int_equal(keel_proto_varint(&cursor), 0);
    assert_true(cursor.failed);
}

static void a_varint_has_at_most_ten_bytes(void **state) {
    (void)state;
    assert_varint(SPAN(0), 0);
    assert_varint(SPAN(127), 127);
    assert_varint(SPAN(0x80, 1), 128);
    assert_varint(SPAN(0xff, 0x7f), 16383);
    assert_varint(SPAN(0x80, 0x80, 1), 16384);
    assert_varint(SPAN(0x85, 0x80, 0), 5); // longer than it need be
    assert_varint(SPAN(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), UINT64_MAX);
    assert_no_varint(keel_bytes(NULL, 0));
    assert_no_varint(SPAN(0x80));
    assert_no_varint(SPAN(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1));
}

static void a_varint_is_written_in_as_few_bytes_as_it_needs(void **state) {
    (void)state;
    static const struct {
        uint64_t value;
        size_t size;
    } rows[] = {{0, 1}, {127, 1}, {128, 2}, {129, 2}, {16383, 2}, {16384, 3}, {UINT64_MAX, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_proto_put_varint(&out, rows[i].value);
        assert_int_equal(out.size, rows[i].size);
        assert_varint(keel_buffer_bytes(&out), rows[i].value);
        keel_buffer_deinitialize(&out);
    }
}

static void each_number_is_written_and_read_in_its_kind(void **state) {
    (void)state;
    static const keel_wire_type_t kinds[] = {KEEL_WIRE_VARINT, KEEL_WIRE_64, KEEL_WIRE_32};
    static const size_t sizes[] = {1 + 2, 1 + 8, 1 + 4};
    for (size_t i = 0; i < 3; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_proto_put_number(&out, 15, kinds[i], 300);
        assert_int_equal(out.size, sizes[i]);
        keel_proto_put_value(&out, kinds[i], 300);
        assert_int_equal(out.size, 2 * sizes[i] - 1); // no tag
        keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&out));
        keel_proto_field_t field;
        assert_true(keel_proto_next(&cursor, &field));
        assert_int_equal(field.number, 15);
        assert_int_equal(field.wire, kinds[i]);
        assert_int_equal(field.value, 300);
        assert_ptr_equal(field.raw.data, out.data);
        assert_int_equal(field.raw.size, sizes[i]);
        keel_buffer_deinitialize(&out);
    }
}

static bool is_field(keel_bytes_t bytes) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    bool is_read = keel_proto_next(&cursor, &field);
    assert_int_equal(is_read, !cursor.failed);
    return is_read;
}

static void numbers_and_kinds_that_no_field_has_are_refused(void **state) {
    (void)state;
    assert_true(is_field(SPAN(0x08, 1)));
    assert_false(is_field(SPAN(0x00, 1)));                               // number 0
    assert_true(is_field(SPAN(0xf8, 0xff, 0xff, 0xff, 0x0f, 1)));        // 2^29 - 1, the largest
    assert_false(is_field(SPAN(0x80, 0x80, 0x80, 0x80, 0x10, 1)));       // 2^29
    assert_false(is_field(SPAN(0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 1))); // 2^32 + 1
    assert_false(is_field(SPAN(0x0b, 0x0c)));                            // a group
    assert_false(is_field(SPAN(0x0c)));
    assert_false(is_field(SPAN(0x0e, 1)));
    assert_false(is_field(SPAN(0x08)));                      // no value
    assert_false(is_field(SPAN(0x09, 1, 2, 3, 4, 5, 6, 7))); // 7 of 8 bytes
    assert_true(is_field(SPAN(0x09, 1, 2, 3, 4, 5, 6, 7, 8)));
    assert_false(is_field(SPAN(0x0d, 1, 2, 3))); // 3 of 4
    assert_true(is_field(SPAN(0x0a, 2, 'a', 'b')));
    assert_false(is_field(SPAN(0x0a, 3, 'a', 'b')));
    keel_cursor_t end = keel_cursor(keel_bytes(NULL, 0));
    keel_proto_field_t field;
    assert_false(keel_proto_next(&end, &field));
    assert_false(end.failed);
}

static void a_closed_field_has_the_shortest_length(void **state) {
    (void)state;
    static const struct {
        size_t size, length;
    } rows[] = {{0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        size_t opened = keel_proto_open(&out, 1);
        assert_int_equal(opened, 2);
        for (size_t at = 0; at < rows[i].size; ++at)
            keel_buffer_byte(&out, (uint8_t)at);
        keel_proto_close(&out, opened);
        assert_int_equal(out.size, 1 + rows[i].length + rows[i].size);
        keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&out));
        keel_proto_field_t field;
        assert_true(keel_proto_next(&cursor, &field));
        assert_int_equal(field.bytes.size, rows[i].size);
        for (size_t at = 0; at < rows[i].size; ++at)
            assert_int_equal(field.bytes.data[at], at & 255);
        assert_int_equal(keel_cursor_left(&cursor), 0);
        keel_buffer_deinitialize(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_varint_has_at_most_ten_bytes),
        cmocka_unit_test(a_varint_is_written_in_as_few_bytes_as_it_needs),
        cmocka_unit_test(each_number_is_written_and_read_in_its_kind),
        cmocka_unit_test(numbers_and_kinds_that_no_field_has_are_refused),
        cmocka_unit_test(a_closed_field_has_the_shortest_length),
    };
    return cmocka_run_group_tests_name("base_proto", tests, NULL, NULL);
}
