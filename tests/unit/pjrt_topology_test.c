// Serialized topologies: the same bytes, in whatever order their maps were written.
#define _GNU_SOURCE
#include "place.h"

#include "pjrt/topology.h"

static void put_rate(keel_buffer_t *out, uint64_t type, uint64_t units) {
    size_t entry = keel_proto_open(out, 1);
    keel_proto_put_number(out, 1, KEEL_WIRE_VARINT, type);
    size_t value = keel_proto_open(out, 2);
    keel_proto_put_number(out, 2, KEEL_WIRE_VARINT, units);
    keel_proto_close(out, value);
    keel_proto_close(out, entry);
}

// Types in the order of `order`, in both maps.
static void put_topology(keel_buffer_t *out, const char *order, uint64_t cores) {
    size_t opened[4];
    keel_proto_put_number(out, 1, KEEL_WIRE_64, 42);
    keel_proto_put_bytes(out, 2, keel_str_bytes(KEEL_STR("cuda")));
    opened[0] = keel_proto_open(out, 9);
    keel_proto_put_bytes(out, 1, keel_str_bytes(KEEL_STR("type")));
    opened[1] = keel_proto_open(out, 2);
    opened[2] = keel_proto_open(out, 8);
    opened[3] = keel_proto_open(out, 1);
    keel_proto_put_number(out, 6, KEEL_WIRE_VARINT, cores);
    for (uint32_t map = 20; map <= 21; ++map) {
        size_t units = keel_proto_open(out, map);
        for (const char *type = order; *type; ++type)
            put_rate(out, (uint64_t)(*type - 'a'), 4);
        keel_proto_close(out, units);
    }
    for (int i = 3; i >= 0; --i)
        keel_proto_close(out, opened[i]);
}

static void sort_topology(const char *order, uint64_t cores, keel_buffer_t *out) {
    keel_buffer_t serialized;
    keel_buffer_initialize(&serialized, 0);
    keel_buffer_initialize(out, 0);
    put_topology(&serialized, order, cores);
    assert_ok(topology_sort_maps(keel_buffer_bytes(&serialized), out));
    assert_int_equal(out->size, serialized.size);
    keel_buffer_deinitialize(&serialized);
}

static void the_order_of_maps_does_not_matter(void **state) {
    (void)state;
    static const char *const orders[] = {"abcd", "dcba", "bdac"};
    keel_buffer_t first;
    sort_topology(orders[0], 132, &first);
    for (int i = 1; i < 3; ++i) {
        keel_buffer_t other;
        sort_topology(orders[i], 132, &other);
        assert_true(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&other)));
        keel_buffer_deinitialize(&other);
    }
    keel_buffer_deinitialize(&first);
}

static void everything_else_matters(void **state) {
    (void)state;
    keel_buffer_t first, second, third;
    sort_topology("abc", 132, &first);
    sort_topology("abc", 133, &second);
    sort_topology("abd", 132, &third);
    assert_false(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)));
    assert_false(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&third)));
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    keel_buffer_deinitialize(&third);
}

static void other_bytes_stay_as_they_are(void **state) {
    (void)state;
    static const char *const others[] = {"",
                                         "\xff\xff",
                                         "no topology at all",
                                         "\x4a\x02\x12\x05",
                                         "\x4a\x04\x12\x02\x42\x07",
                                         "\x0a\x03"
                                         "cpu"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_buffer_text(&out, "before");
        assert_ok(topology_sort_maps(keel_str_bytes(keel_str(others[i])), &out));
        assert_memory_equal(out.data, "before", 6);
        assert_true(keel_str_is((keel_str_t){(char *)out.data + 6, out.size - 6}, others[i]));
        keel_buffer_deinitialize(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_maps_does_not_matter),
        cmocka_unit_test(everything_else_matters),
        cmocka_unit_test(other_bytes_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
