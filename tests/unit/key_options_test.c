#define _GNU_SOURCE // memmem, setenv
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "key/key.h"

#define MUST(expression) assert_null(expression)

typedef struct options_t {
    keel_buffer_t canonical, assignment, readable;
    bool understood;
} options_t;

static void release(options_t *o) {
    keel_buffer_deinitialize(&o->canonical);
    keel_buffer_deinitialize(&o->assignment);
    keel_buffer_deinitialize(&o->readable);
}

static options_t decode(keel_bytes_t bytes) {
    options_t o;
    keel_buffer_initialize(&o.canonical, 0);
    keel_buffer_initialize(&o.assignment, 0);
    keel_buffer_initialize(&o.readable, 0);
    MUST(keel_key_options(bytes, KEEL_BACKEND_CPU, &o.canonical, &o.assignment, &o.readable,
                          &o.understood));
    return o;
}

static bool same(keel_bytes_t left, keel_bytes_t right) {
    options_t a = decode(left), b = decode(right);
    bool equal = keel_bytes_equal(keel_buffer_bytes(&a.canonical), keel_buffer_bytes(&b.canonical));
    release(&a);
    release(&b);
    return equal;
}

static bool says(const options_t *o, const char *text) {
    return strstr(keel_buffer_cstr(&o->readable), text) != NULL;
}

// ---- making options ----------------------------------------------------------------------------

static void varint(keel_buffer_t *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        keel_buffer_byte(out, (uint8_t)value | 0x80);
    keel_buffer_byte(out, (uint8_t)value);
}

static void number(keel_buffer_t *out, uint32_t field, uint64_t value) {
    varint(out, (uint64_t)field << 3);
    varint(out, value);
}

static void nested(keel_buffer_t *out, uint32_t field, keel_bytes_t bytes) {
    varint(out, (uint64_t)field << 3 | 2);
    varint(out, bytes.size);
    keel_buffer_append(out, bytes.data, bytes.size);
}

static void string(keel_buffer_t *out, uint32_t field, const char *text) {
    nested(out, field, keel_str_bytes(keel_str(text)));
}

typedef void (*edit_t)(keel_buffer_t *debug, const keel_proto_field_t *field, unsigned at);

// Copies a message, field by field, through `edit` where it stands at the end of the path.
static void rewrite(keel_bytes_t bytes, const uint32_t *path, edit_t edit, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    unsigned at = 0;
    while (keel_proto_next(&cursor, &field)) {
        if (!*path) {
            edit(out, &field, at++);
        } else if (field.number == *path) {
            keel_buffer_t inner;
            keel_buffer_initialize(&inner, 0);
            rewrite(field.bytes, path + 1, edit, &inner);
            if (!path[1]) edit(&inner, NULL, 1);
            nested(out, field.number, keel_buffer_bytes(&inner));
            keel_buffer_deinitialize(&inner);
        } else {
            keel_buffer_append(out, field.raw.data, field.raw.size);
        }
    }
    assert_false(cursor.failed);
}

static keel_bytes_t sample(const char *name) {
    char *path;
    uint8_t *bytes;
    size_t size;
    MUST(keel_path(&path, "%s/opts/%s", KEEL_TEST_SAMPLES, name));
    MUST(keel_file_read(path, 1 << 20, &bytes, &size));
    keel_free(path);
    return keel_bytes(bytes, size);
}

static const uint32_t debug_path[] = {3, 3, 0};
static const uint32_t build_path[] = {3, 0};

// ---- edits -------------------------------------------------------------------------------------

// Puts map entries first and in reversed order.
static void shuffle(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    static keel_bytes_t held[64];
    static unsigned count;
    if (at == 0) count = 0;
    if (field && field->number == 357) {
        held[count++] = field->raw;
        return;
    }
    if (field) {
        keel_buffer_append(out, field->raw.data, field->raw.size);
        return;
    }
    assert_in_range(count, 2, 64);
    while (count--)
        keel_buffer_append(out, held[count].data, held[count].size);
}

static void copy(keel_buffer_t *out, const keel_proto_field_t *field) {
    if (field) keel_buffer_append(out, field->raw.data, field->raw.size);
}

static void add_dumps(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    (void)at;
    copy(out, field);
    if (field) return;
    string(out, 109, "/tmp/dump");
    number(out, 112, 1);
    number(out, 535, 1);
    string(out, 61, "/usr/local/cuda");
}

static void add_fast_math(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    (void)at;
    copy(out, field);
    if (!field) number(out, 99, 1);
}

static void add_unknown(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    (void)at;
    copy(out, field);
    if (!field) string(out, 4000, "what is this");
}

static void add_process_index(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    (void)at;
    copy(out, field);
    if (!field) number(out, 22, 3);
}

static void add_optimization_level(keel_buffer_t *out, const keel_proto_field_t *field,
                                   unsigned at) {
    (void)at;
    copy(out, field);
    if (!field) number(out, 24, 1);
}

static void move_devices(keel_buffer_t *out, const keel_proto_field_t *field, unsigned at) {
    (void)at;
    if (!field || field->number != 9) {
        copy(out, field);
        return;
    }
    const uint8_t devices[] = {8, 1, 16, 2, 26, 2, 8, 7, 26, 3, 10, 1, 5};
    nested(out, 9, keel_bytes(devices, sizeof devices));
}

static bool same_after(const uint32_t *path, edit_t edit) {
    keel_bytes_t before = sample("jax_spmd_4.opts");
    keel_buffer_t after;
    keel_buffer_initialize(&after, 0);
    rewrite(before, path, edit, &after);
    bool equal = same(before, keel_buffer_bytes(&after));
    keel_buffer_deinitialize(&after);
    keel_free((void *)before.data);
    return equal;
}

static void shuffled_maps_give_the_same_options(void **state) {
    (void)state;
    assert_true(same_after(debug_path, shuffle));
}

static void equal_options_in_order_have_equal_bytes(void **state) {
    (void)state;
    keel_bytes_t before = sample("jax_compiler_options.opts");
    keel_buffer_t shuffled, first, second;
    keel_buffer_initialize(&shuffled, 0);
    keel_buffer_initialize(&first, 0);
    keel_buffer_initialize(&second, 0);
    rewrite(before, debug_path, shuffle, &shuffled);
    assert_false(keel_bytes_equal(before, keel_buffer_bytes(&shuffled)));
    MUST(keel_key_options_in_order(before, &first));
    MUST(keel_key_options_in_order(keel_buffer_bytes(&shuffled), &second));
    assert_true(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)));
    assert_true(same(before, keel_buffer_bytes(&first)));
    assert_int_equal(first.size, before.size);
    keel_buffer_deinitialize(&shuffled);
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    keel_free((void *)before.data);
}

static void entries_with_one_key_keep_their_order(void **state) {
    (void)state;
    // Field 7 of the options: {1: "b", 2: "x"}, {1: "a"}, {1: "b", 2: "c"}.
    static const char sent[] = "\x3a\x06\x0a\x01"
                               "b\x12\x01x"
                               "\x3a\x03\x0a\x01"
                               "a"
                               "\x3a\x06\x0a\x01"
                               "b\x12\x01"
                               "c";
    static const char wanted[] = "\x3a\x03\x0a\x01"
                                 "a"
                                 "\x3a\x06\x0a\x01"
                                 "b\x12\x01x"
                                 "\x3a\x06\x0a\x01"
                                 "b\x12\x01"
                                 "c";
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    MUST(keel_key_options_in_order(keel_bytes(sent, sizeof sent - 1), &out));
    assert_true(keel_bytes_equal(keel_buffer_bytes(&out), keel_bytes(wanted, sizeof wanted - 1)));
    out.size = 0;
    MUST(keel_key_options_in_order(keel_bytes("\x3a\x7f no proto", 11), &out));
    assert_true(keel_bytes_equal(keel_buffer_bytes(&out), keel_bytes("\x3a\x7f no proto", 11)));
    keel_buffer_deinitialize(&out);
}

static void dumps_and_the_process_index_are_left_out(void **state) {
    (void)state;
    assert_true(same_after(debug_path, add_dumps));
    assert_true(same_after(build_path, add_process_index));
    assert_true(same_after(build_path, move_devices)); // keyed apart
}

static void what_changes_code_is_kept(void **state) {
    (void)state;
    assert_false(same_after(debug_path, add_fast_math));
    assert_false(same_after(debug_path, add_unknown));
    assert_false(same_after(build_path, add_optimization_level));
}

static void the_device_assignment_stands_apart(void **state) {
    (void)state;
    keel_bytes_t before = sample("jax_spmd_4.opts");
    keel_buffer_t after;
    keel_buffer_initialize(&after, 0);
    rewrite(before, build_path, move_devices, &after);
    options_t a = decode(before), b = decode(keel_buffer_bytes(&after));
    assert_true(a.understood && b.understood);
    assert_string_equal(keel_buffer_cstr(&a.assignment), "1 replicas, 4 computations: 0; 1; 2; 3");
    assert_string_equal(keel_buffer_cstr(&b.assignment), "1 replicas, 2 computations: 7; 5");
    assert_true(says(&a, "num_partitions=4\n"));
    assert_false(says(&a, "allow_in_place"));
    release(&a);
    release(&b);
    keel_buffer_deinitialize(&after);
    keel_free((void *)before.data);
}

static void options_are_read_as_people_wrote_them(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("jax_compiler_options.opts");
    options_t o = decode(bytes);
    assert_true(o.understood);
    assert_true(says(&o, "env_option_overrides.xla_"));
    assert_true(says(&o, "memory_fitting_level=29\n"));
    assert_true(says(&o, "xla_gpu_analytical_latency_estimator_options."));
    release(&o);
    keel_free((void *)bytes.data);
    bytes = sample("torch_4.opts");
    o = decode(bytes);
    assert_true(o.understood);
    assert_true(says(&o, "num_replicas=4\n"));
    release(&o);
    keel_free((void *)bytes.data);
}

// What this version does not know has its number.
static void an_unknown_option_is_said_by_its_number(void **state) {
    (void)state;
    keel_buffer_t debug, build, all;
    keel_buffer_initialize(&debug, 0);
    keel_buffer_initialize(&build, 0);
    keel_buffer_initialize(&all, 0);
    number(&debug, 99999, 7);
    number(&build, 77, 5);
    nested(&build, 3, keel_buffer_bytes(&debug));
    nested(&all, 3, keel_buffer_bytes(&build));
    number(&all, 88, 6);
    options_t o = decode(keel_buffer_bytes(&all));
    assert_true(o.understood);
    assert_true(says(&o, "77=5\n") && says(&o, "88=6\n") && says(&o, "debug.99999=7\n"));
    release(&o);
    keel_buffer_deinitialize(&debug);
    keel_buffer_deinitialize(&build);
    keel_buffer_deinitialize(&all);
}

static void debug_options_are_spelled_out(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    MUST(keel_key_spell_out(
        KEEL_STR("num_replicas=1\ndebug.99=1\ndebug.4000=2\ndebug.x=3\ndebug.99"), &out));
    assert_string_equal(keel_buffer_cstr(&out), "num_replicas=1\nxla_cpu_enable_fast_math=1\n"
                                                "debug.4000=2\ndebug.x=3\ndebug.99");
    keel_buffer_deinitialize(&out);
}

static void the_last_of_equal_map_keys_counts(void **state) {
    (void)state;
    keel_buffer_t twice, once, entry;
    keel_buffer_initialize(&twice, 0);
    keel_buffer_initialize(&once, 0);
    keel_buffer_initialize(&entry, 0);
    string(&entry, 1, "xla_a");
    nested(&entry, 2, keel_bytes("\x0a\x01x", 3));
    nested(&twice, 7, keel_buffer_bytes(&entry));
    keel_buffer_deinitialize(&entry);
    string(&entry, 1, "xla_a");
    nested(&entry, 2, keel_bytes("\x0a\x01y", 3));
    nested(&twice, 7, keel_buffer_bytes(&entry));
    nested(&once, 7, keel_buffer_bytes(&entry));
    assert_true(same(keel_buffer_bytes(&twice), keel_buffer_bytes(&once)));
    // A dump by override is a dump.
    keel_buffer_deinitialize(&entry);
    string(&entry, 1, "xla_dump_to");
    nested(&entry, 2, keel_bytes("\x0a\x01z", 3));
    nested(&twice, 7, keel_buffer_bytes(&entry));
    assert_true(same(keel_buffer_bytes(&twice), keel_buffer_bytes(&once)));
    keel_buffer_deinitialize(&entry);
    keel_buffer_deinitialize(&twice);
    keel_buffer_deinitialize(&once);
}

// Field and wire type of each single number and string that is not `optional`.
static const uint8_t plain_options[][2] = {{2, 0}, {4, 0}, {5, 0}, {6, 2}, {10, 0}};
static const uint8_t plain_build[][2] = {{1, 0},  {4, 0},  {5, 0},  {6, 0},  {7, 0},  {8, 0},
                                         {10, 0}, {11, 0}, {14, 2}, {15, 0}, {19, 0}, {20, 5},
                                         {21, 5}, {23, 0}, {24, 0}, {25, 0}, {26, 0}};

static void put(keel_buffer_t *out, const uint8_t field[2], unsigned value) {
    varint(out, (uint64_t)field[0] << 3 | field[1]);
    if (field[1] == 5)
        keel_buffer_u32(out, value);
    else
        varint(out, value); // of a string: its length
    if (field[1] == 2)
        for (unsigned i = 0; i < value; ++i)
            keel_buffer_byte(out, 'x');
}

// The field alone, or in executable_build_options; with its default, or not.
static void says_as_much_as_none(const uint8_t field[2], bool in_build) {
    for (unsigned step = 0; step < 4; ++step) {
        keel_buffer_t inner, with, without;
        keel_buffer_initialize(&inner, 0);
        keel_buffer_initialize(&with, 0);
        keel_buffer_initialize(&without, 0);
        if (step % 2) put(&inner, field, 1); // overwritten by what follows
        put(&inner, field, step < 2 ? 0 : 1);
        if (in_build) nested(&with, 3, keel_buffer_bytes(&inner));
        if (in_build) nested(&without, 3, keel_bytes("", 0));
        if (same(keel_buffer_bytes(in_build ? &with : &inner), keel_buffer_bytes(&without)) !=
            (step < 2))
            fail_msg("field %d, step %u", field[0], step);
        keel_buffer_deinitialize(&inner);
        keel_buffer_deinitialize(&with);
        keel_buffer_deinitialize(&without);
    }
}

static void a_default_that_is_written_says_as_much_as_none(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plain_options / sizeof *plain_options; ++i)
        says_as_much_as_none(plain_options[i], false);
    for (size_t i = 0; i < sizeof plain_build / sizeof *plain_build; ++i)
        says_as_much_as_none(plain_build[i], true);
}

// What is optional, repeated, not known, or of a different type than it should be.
static void any_other_zero_counts(void **state) {
    (void)state;
    static const keel_bytes_t sets[] = {
        {(const uint8_t *)"\x5a\x00", 2},                     // compiler_variant: ""
        {(const uint8_t *)"\x1a\x05\x1a\x03\x98\x06\x00", 7}, // xla_cpu_enable_fast_math: false
        {(const uint8_t *)"\x1a\x03\x62\x01\x00", 5},         // ..._propagation_to_output: [false]
        {(const uint8_t *)"\x1a\x02\x62\x00", 4},             // the same: []
        {(const uint8_t *)"\x80\x7d\x00", 3},                 // field 2000: 0
        {(const uint8_t *)"\x12\x00", 2},                     // parameter_is_tupled_arguments: ""
    };
    static const char build[] = "\x1a\x00", debug[] = "\x1a\x02\x1a\x00";
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        assert_false(same(sets[i], keel_bytes("", 0)));
        assert_false(same(sets[i], keel_bytes(build, 2)));
        assert_false(same(sets[i], keel_bytes(debug, 4)));
    }
}

// Field number and name, as xla/pjrt/proto/compile_options.proto has them.
typedef struct named_t {
    uint32_t number;
    const char *name;
} named_t;
static const named_t option_names[] = {{1, "argument_layouts"},
                                       {2, "parameter_is_tupled_arguments"},
                                       {4, "compile_portable_executable"},
                                       {5, "profile_version"},
                                       {6, "serialized_multi_slice_config"},
                                       {8, "target_config"},
                                       {10, "matrix_unit_operand_precision"},
                                       {11, "compiler_variant"},
                                       {12, "individually_defined_output_indices"}};
static const named_t build_names[] = {{1, "device_ordinal"},
                                      {2, "result_layout"},
                                      {4, "num_replicas"},
                                      {5, "num_partitions"},
                                      {6, "use_spmd_partitioning"},
                                      {7, "use_auto_spmd_partitioning"},
                                      {8, "deduplicate_hlo"},
                                      {10, "alias_passthrough_params"},
                                      {11, "run_backend_only"},
                                      {12, "allow_spmd_sharding_propagation_to_output"},
                                      {13, "comp_envs"},
                                      {14, "fdo_profile"},
                                      {15, "device_memory_size"},
                                      {16, "auto_spmd_partitioning_mesh_shape"},
                                      {17, "auto_spmd_partitioning_mesh_ids"},
                                      {18, "allow_spmd_sharding_propagation_to_parameters"},
                                      {19, "use_shardy_partitioner"},
                                      {20, "exec_time_optimization_effort"},
                                      {21, "memory_fitting_effort"},
                                      {23, "process_count"},
                                      {24, "optimization_level"},
                                      {25, "memory_fitting_level"},
                                      {26, "slice_size"},
                                      {27, "gpu_topology"}};

// Options with that field alone, once for each value, maybe in executable_build_options.
static void put_alone(keel_buffer_t *out, uint32_t field, bool in_build, const char *values) {
    keel_buffer_t inner;
    keel_buffer_initialize(&inner, 0);
    for (; *values; ++values)
        string(&inner, field, (const char[]){*values, 0});
    if (in_build)
        nested(out, 3, keel_buffer_bytes(&inner));
    else
        keel_buffer_append(out, inner.data, inner.size);
    keel_buffer_deinitialize(&inner);
}

static void assert_said_by_name(const named_t *named, bool in_build) {
    keel_buffer_t bytes;
    keel_buffer_initialize(&bytes, 0);
    put_alone(&bytes, named->number, in_build, "q");
    options_t o = decode(keel_buffer_bytes(&bytes));
    char line[100];
    snprintf(line, sizeof line, "%s=q\n", named->name);
    assert_true(o.understood);
    assert_string_equal(keel_buffer_cstr(&o.readable), line);
    release(&o);
    keel_buffer_deinitialize(&bytes);
}

static void every_field_is_said_by_its_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof option_names / sizeof *option_names; ++i)
        assert_said_by_name(&option_names[i], false);
    for (size_t i = 0; i < sizeof build_names / sizeof *build_names; ++i)
        assert_said_by_name(&build_names[i], true);
}

static bool is_one_of(uint32_t number, const uint32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (numbers[i] == number) return true;
    return false;
}

// Whichever number a field has, up to those that XLA will add: its value counts, unless it is one
// of those that do not change code; a repeated field counts with all its values, in their order.
static void assert_values_count(bool in_build, const uint32_t *left_out, size_t left_out_count,
                                const uint32_t *single, size_t single_count,
                                const uint32_t *messages, size_t message_count) {
    for (uint32_t number = 1; number < 40; ++number) {
        if (is_one_of(number, messages, message_count)) continue;
        keel_buffer_t a, b, ab, ba;
        keel_buffer_t *const all[] = {&a, &b, &ab, &ba};
        static const char *const values[] = {"a", "b", "ab", "ba"};
        for (size_t i = 0; i < 4; ++i) {
            keel_buffer_initialize(all[i], 0);
            put_alone(all[i], number, in_build, values[i]);
        }
        bool is_out = is_one_of(number, left_out, left_out_count);
        bool is_single = is_one_of(number, single, single_count);
        if (same(keel_buffer_bytes(&a), keel_buffer_bytes(&b)) != is_out ||
            same(keel_buffer_bytes(&ab), keel_buffer_bytes(&ba)) != is_out ||
            same(keel_buffer_bytes(&ab), keel_buffer_bytes(&b)) != (is_out || is_single))
            fail_msg("field %u, %s", number, in_build ? "build options" : "options");
        for (size_t i = 0; i < 4; ++i)
            keel_buffer_deinitialize(all[i]);
    }
}

static void every_value_counts_where_it_can_change_code(void **state) {
    (void)state;
    static const uint32_t out[] = {9}, build_out[] = {22};
    static const uint32_t single[] = {2, 4, 5, 6, 10, 11};
    static const uint32_t build_single[] = {1,  4,  5,  6,  7,  8,  10, 11, 14,
                                            15, 19, 20, 21, 23, 24, 25, 26};
    static const uint32_t messages[] = {3, 7}, build_messages[] = {3, 9};
#define LIST(list) list, sizeof list / sizeof *list
    assert_values_count(false, LIST(out), LIST(single), LIST(messages));
    assert_values_count(true, LIST(build_out), LIST(build_single), LIST(build_messages));
#undef LIST
}

static void a_message_in_pieces_is_one_message(void **state) {
    (void)state;
    // executable_build_options {num_replicas: 1} {num_partitions: 2}, and in one.
    assert_true(same(keel_bytes("\x1a\x02\x20\x01\x1a\x02\x28\x02", 8),
                     keel_bytes("\x1a\x04\x28\x02\x20\x01", 6)));
    assert_false(same(keel_bytes("\x1a\x02\x20\x01", 4), keel_bytes("\x1a\x02\x20\x02", 4)));
}

static void what_is_no_proto_is_kept_whole(void **state) {
    (void)state;
    options_t o = decode(keel_bytes("\x1a\xff hello", 8));
    assert_false(o.understood);
    assert_int_equal(o.canonical.size, 12);
    assert_memory_equal(o.canonical.data, "raw\n\x1a\xff hello", 12);
    assert_true(says(&o, "not understood: 8 bytes, "));
    assert_int_equal(o.assignment.size, 0);
    release(&o);
    // A build option of the wrong kind is not an options message either.
    o = decode(keel_bytes("\x18\x01", 2));
    assert_false(o.understood);
    release(&o);
    o = decode(keel_bytes(NULL, 0));
    assert_true(o.understood);
    release(&o);
}

// ---- flags -------------------------------------------------------------------------------------

static void assert_flags(const char *flags, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    MUST(keel_key_flags(flags, &out));
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
}

static void flags_are_sorted_and_told_apart(void **state) {
    (void)state;
    assert_flags(NULL, "");
    assert_flags("  \n", "");
    assert_flags("--xla_b=2   --xla_a=1\t--xla_c", "xla_a=1\nxla_b=2\nxla_c=true\n");
    assert_flags("--xla_a='x y' --xla_b=\"p \\\"q\\\\\"", "xla_a=x y\nxla_b=p \"q\\\\\n");
    assert_flags("-xla_a=1", "-xla_a=1\n");
}

static void dump_flags_are_left_out(void **state) {
    (void)state;
    assert_flags("--xla_dump_to=/tmp/x --xla_force_host_platform_device_count=8 "
                 "--xla_dump_hlo_as_text --xla_tpu_compiler_variant=x --xla_a=1",
                 "xla_a=1\n");
}

static void assert_number(const char *flags, bool known, int64_t expected) {
    int64_t number = 0;
    assert_int_equal(keel_key_flag_number(flags, "xla_count", &number), known);
    if (known) assert_int_equal(number, expected);
}

static void a_flags_number_is_its_last_one(void **state) {
    (void)state;
    assert_number(NULL, false, 0);
    assert_number("", false, 0);
    assert_number("--xla_counts=2", false, 0);
    assert_number("--xla_count", false, 0); // true
    assert_number("--xla_count=", false, 0);
    assert_number("--xla_count=2x", false, 0);
    assert_number("--xla_count=111111111111111111111111", false, 0);
    assert_number("--xla_a --xla_count=2 --xla_b", true, 2);
    assert_number("--xla_count=2 --xla_count='-3'", true, -3);
    assert_number("/nowhere/flags", false, 0);
    int64_t number = 0;
    static const char devices[] = "xla_force_host_platform_device_count"; // not part of a key
    assert_true(keel_key_flag_number("--xla_force_host_platform_device_count=8", devices, &number));
    assert_int_equal(number, 8);
}

static void a_later_scalar_overwrites_and_a_list_adds(void **state) {
    (void)state;
    assert_flags("--xla_a=1 --xla_a=2", "xla_a=2\n");
    assert_flags("--xla_a=true --xla_a=false --xla_a", "xla_a=true\n");
    assert_flags("--xla_a=+X --xla_a=-Y", "xla_a=+X\nxla_a=-Y\n");
    assert_flags("--xla_a=1.5 --xla_a=-2.25", "xla_a=-2.25\n");
    assert_flags("--xla_a=x1 --xla_a=y2", "xla_a=x1\nxla_a=y2\n");
    assert_flags("--xla_a=1-2 --xla_a=3", "xla_a=1-2\nxla_a=3\n");
    assert_flags("--xla_a=- --xla_a=.", "xla_a=-\nxla_a=.\n"); // no number has no digit
    assert_flags("--xla_a=2 --xla_a=x", "xla_a=2\nxla_a=x\n");
    assert_flags("--xla_a=09 --xla_a=1/2 --xla_a=1:2", "xla_a=09\nxla_a=1/2\nxla_a=1:2\n");
}

static void what_xla_does_not_read_is_kept(void **state) {
    (void)state;
    assert_flags("--xla_a=1 and more", "@rest=and more\nxla_a=1\n");
    assert_flags("nosuchfile.txt", "@file=nosuchfile.txt\n");
    assert_flags("--xla_a,b=1 --xla_c", "xla_a,b=1=true\nxla_c=true\n");
    assert_flags("--xla_a=", "xla_a=\n");
}

static void flags_from_a_named_pipe_have_no_key_and_nobody_waits(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/keel-flags-%ld", (long)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    alarm(20);
    keel_status_t status = keel_key_flags(path, &out);
    alarm(0);
    unlink(path);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), path));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

static void flags_come_from_a_file_too(void **state) {
    (void)state;
    char path[] = "/tmp/keel-flags-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "--xla_b=2\n--xla_a=1\n", 20), 20);
    close(descriptor);
    assert_flags(path, "xla_a=1\nxla_b=2\n");
    // What a file that a flag names says counts as well.
    char flag[64], before[256];
    snprintf(flag, sizeof flag, "--xla_profile=%s", path);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    MUST(keel_key_flags(flag, &out));
    snprintf(before, sizeof before, "%s", keel_buffer_cstr(&out));
    assert_true(strchr(before, '#'));
    assert_int_equal(truncate(path, 10), 0);
    keel_buffer_deinitialize(&out);
    MUST(keel_key_flags(flag, &out));
    assert_string_not_equal(before, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    unlink(path);
}

// ---- what is said to a partitioner -------------------------------------------------------------

enum { PARTITIONS = 5, SEARCH = 7, TO_OUTPUT = 12, TO_PARAMETERS = 18 };

static bool same_with_other_propagation(uint64_t partitions, bool searches) {
    keel_buffer_t bytes[2];
    for (int i = 0; i < 2; ++i) {
        keel_buffer_t build;
        keel_buffer_initialize(&build, 0);
        if (partitions) number(&build, PARTITIONS, partitions);
        if (searches) number(&build, SEARCH, 1);
        nested(&build, TO_OUTPUT, keel_bytes(i ? "\1" : "\0", 1));
        nested(&build, TO_PARAMETERS, keel_bytes(i ? "\0\1" : "\0\0", 2));
        keel_buffer_initialize(&bytes[i], 0);
        nested(&bytes[i], 3, keel_buffer_bytes(&build));
        keel_buffer_deinitialize(&build);
    }
    bool equal = same(keel_buffer_bytes(&bytes[0]), keel_buffer_bytes(&bytes[1]));
    keel_buffer_deinitialize(&bytes[0]);
    keel_buffer_deinitialize(&bytes[1]);
    return equal;
}

static void propagation_counts_only_for_a_partitioner(void **state) {
    (void)state;
    assert_true(same_with_other_propagation(1, false));
    assert_false(same_with_other_propagation(1, true));
    assert_false(same_with_other_propagation(2, false));
    assert_false(same_with_other_propagation(0, false)); // nothing says how many there are
}

// ---- processor ---------------------------------------------------------------------------------

static void the_processor_counts_what_may_be_used(void **state) {
    (void)state;
    keel_buffer_t all, one;
    keel_buffer_initialize(&all, 0);
    keel_buffer_initialize(&one, 0);
    cpu_set_t saved, first;
    assert_int_equal(sched_getaffinity(0, sizeof saved, &saved), 0);
    MUST(keel_key_cpu(1, &all));
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); ++i)
        if (CPU_ISSET(i, &saved)) CPU_SET(i, &first);
    assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
    MUST(keel_key_cpu(1, &one));
    assert_int_equal(sched_setaffinity(0, sizeof saved, &saved), 0);
    assert_non_null(strstr(keel_buffer_cstr(&one), "cpus=1\n"));
    char count[32];
    snprintf(count, sizeof count, "cpus=%d\n", CPU_COUNT(&saved));
    assert_non_null(strstr(keel_buffer_cstr(&all), count));
    assert_true(all.size > 20);
    keel_buffer_deinitialize(&all);
    keel_buffer_deinitialize(&one);
}

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("jax_compiler_options.opts");
    for (uint64_t n = 1;; ++n) {
        options_t o = {.understood = true};
        keel_buffer_initialize(&o.canonical, 0);
        keel_buffer_initialize(&o.assignment, 0);
        keel_buffer_initialize(&o.readable, 0);
        keel_buffer_t flags;
        keel_buffer_initialize(&flags, 0);
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = keel_key_options(bytes, KEEL_BACKEND_CPU, &o.canonical,
                                                &o.assignment, &o.readable, &o.understood);
        if (!status) status = keel_key_flags("--b='x y' --a=1", &flags);
        if (!status) status = keel_key_cpu(1, &flags);
        bool failed = keel_fault_count(KEEL_FAULT_ALLOC) >= n;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_buffer_deinitialize(&flags);
        release(&o);
        assert_int_equal(keel_status_code(status), failed ? KEEL_NO_MEMORY : KEEL_OK);
        keel_status_ignore(status);
        if (!failed) break;
    }
    keel_free((void *)bytes.data);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_maps_give_the_same_options),
        cmocka_unit_test(equal_options_in_order_have_equal_bytes),
        cmocka_unit_test(entries_with_one_key_keep_their_order),
        cmocka_unit_test(dumps_and_the_process_index_are_left_out),
        cmocka_unit_test(what_changes_code_is_kept),
        cmocka_unit_test(the_device_assignment_stands_apart),
        cmocka_unit_test(propagation_counts_only_for_a_partitioner),
        cmocka_unit_test(options_are_read_as_people_wrote_them),
        cmocka_unit_test(an_unknown_option_is_said_by_its_number),
        cmocka_unit_test(debug_options_are_spelled_out),
        cmocka_unit_test(the_last_of_equal_map_keys_counts),
        cmocka_unit_test(a_default_that_is_written_says_as_much_as_none),
        cmocka_unit_test(any_other_zero_counts),
        cmocka_unit_test(every_field_is_said_by_its_name),
        cmocka_unit_test(every_value_counts_where_it_can_change_code),
        cmocka_unit_test(a_message_in_pieces_is_one_message),
        cmocka_unit_test(what_is_no_proto_is_kept_whole),
        cmocka_unit_test(flags_are_sorted_and_told_apart),
        cmocka_unit_test(dump_flags_are_left_out),
        cmocka_unit_test(a_flags_number_is_its_last_one),
        cmocka_unit_test(a_later_scalar_overwrites_and_a_list_adds),
        cmocka_unit_test(what_xla_does_not_read_is_kept),
        cmocka_unit_test(flags_from_a_named_pipe_have_no_key_and_nobody_waits),
        cmocka_unit_test(flags_come_from_a_file_too),
        cmocka_unit_test(the_processor_counts_what_may_be_used),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_that_fails_is_reported),
#endif
    };
    return cmocka_run_group_tests_name("key_options", tests, NULL, NULL);
}
