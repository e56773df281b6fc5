// Shardy's shardings: which of them say no more than "replicated". On one partition such a sharding
// is the same as none; any other is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "key_build.h"

static keel_attr_id_t list(build_t *b, const uint32_t *items, uint32_t count) {
    return list_attr(b, KEEL_ATTR_ARRAY, items, count);
}

static keel_attr_id_t record(build_t *b, keel_record_t klass, const member_t *members,
                             uint32_t count) {
    keel_attr_id_t id = dict(b, members, count);
    b->program.attrs.data[id].klass = (uint16_t)klass;
    return id;
}
#define RECORD(b, klass, ...)                                                                      \
    record((b), (klass), (const member_t[]){__VA_ARGS__},                                          \
           sizeof((const member_t[]){__VA_ARGS__}) / sizeof(member_t))

// How a mesh is written, and what it says.
typedef enum mesh_t {
    NO_MESH,
    MESH_OF_AXES,
    MESH_BY_NAME,     // of an operation that defines it
    MESH_OF_NOTHING,  // no axes, no devices: everything is on all
    MESH_OF_NO_LISTS, // the same, not even empty lists
    MESH_OF_A_DEVICE, // no axes, one device: everything is on that one
    MESH_OF_A_STRING, // no mesh
    MESH_OF_A_FUNCTION,
    MESH_IS_ANOTHER_RECORD,
} mesh_t;

typedef struct sharding_t {
    mesh_t mesh;
    const char *axis;      // that the dimension is divided by; NULL: by none
    const char *unreduced; // the axis that is left unreduced
    bool no_dimensions;    // the record lacks them
    keel_record_t klass;   // a different record than a sharding
    unsigned per_value;    // in a list of so many
    bool no_list;          // what should be that list is none
} sharding_t;

static keel_attr_id_t mesh_of(build_t *b, mesh_t mesh) {
    static const int64_t none = 0, zero = 0;
    uint32_t ints = 0;
    keel_attr_id_t axis = string_attr(b, "x"), empty = list(b, NULL, 0);
    MUST(keel_program_add_ints(&b->program, &none, 0, &ints));
    keel_attr_id_t no_devices = push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_INTS, .b = ints});
    switch (mesh) {
        case MESH_OF_AXES:
            return RECORD(b, KEEL_RECORD_SDY_MESH, {"axes", list(b, &axis, 1)},
                          {"device_ids", no_devices});
        case MESH_OF_NOTHING:
            return RECORD(b, KEEL_RECORD_SDY_MESH, {"axes", empty}, {"device_ids", no_devices});
        case MESH_OF_NO_LISTS:
            return RECORD(b, KEEL_RECORD_SDY_MESH, {"note", axis});
        case MESH_OF_A_DEVICE:
            MUST(keel_program_add_ints(&b->program, &zero, 1, &ints));
            return RECORD(
                b, KEEL_RECORD_SDY_MESH, {"axes", empty},
                {"device_ids", push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_INTS, .b = ints})});
        case MESH_IS_ANOTHER_RECORD:
            return RECORD(b, KEEL_RECORD_MESH, {"axes", list(b, &axis, 1)});
        case MESH_BY_NAME:
            return symbol_attr(b, "mesh");
        case MESH_OF_A_FUNCTION:
            return symbol_attr(b, "side");
        default:
            return string_attr(b, "mesh");
    }
}

static keel_attr_id_t sharding_attr(build_t *b, const sharding_t *sharding) {
    member_t members[3];
    uint32_t count = 0;
    keel_attr_id_t empty = list(b, NULL, 0), axes[2] = {empty, empty};
    if (sharding->axis) {
        keel_attr_id_t axis = string_attr(b, sharding->axis);
        axes[1] = list(b, &axis, 1);
    }
    keel_attr_id_t dimensions[2];
    for (int i = 0; i < 2; ++i)
        dimensions[i] = RECORD(b, KEEL_RECORD_SDY_DIMENSION_SHARDING, {"axes", axes[i]});
    if (sharding->mesh != NO_MESH)
        members[count++] = (member_t){"mesh", mesh_of(b, sharding->mesh)};
    if (!sharding->no_dimensions)
        members[count++] = (member_t){"dimensions", list(b, dimensions, 2)};
    if (sharding->unreduced) {
        keel_attr_id_t axis = string_attr(b, sharding->unreduced);
        members[count++] = (member_t){"unreduced", list(b, &axis, 1)};
    }
    keel_record_t klass = sharding->klass ? sharding->klass : KEEL_RECORD_SDY_SHARDING;
    keel_attr_id_t id = record(b, klass, members, count);
    if (!sharding->per_value) return id;
    const sharding_t plain = {.mesh = MESH_OF_AXES};
    keel_attr_id_t shardings[3] = {sharding_attr(b, &plain), id, id};
    keel_attr_id_t all = sharding->no_list ? id : list(b, shardings, sharding->per_value);
    return RECORD(b, KEEL_RECORD_SDY_SHARDING_PER_VALUE, {"shardings", all});
}

static void add_mesh_operation(build_t *b) {
    add_op(b,
           (op_t){"mesh",
                  DICT(b, {"mesh", mesh_of(b, MESH_OF_AXES)}, {"sym_name", string_attr(b, "mesh")}),
                  KEEL_NONE,
                  {0},
                  0});
    keel_op_name_t *name = &b->program.op_names.data[b->program.operations.data[0].name];
    name->dialect = text(b, "sdy");
    name->version = 0;
}

// Of a program with that sharding, or NULL: none, on its one operation.
static keel_digest_t digest_with(const sharding_t *sharding) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    b.program.attributes = DICT(&b, {"mhlo.num_partitions", int_attr(&b, 1)});
    add_mesh_operation(&b);
    keel_type_id_t type = f32(&b);
    end_function(&b, begin_function(&b, (fn_t){"side", type, KEEL_NONE, false}));
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    keel_attr_id_t attributes = KEEL_NONE;
    if (sharding) attributes = DICT(&b, {"sdy.sharding", sharding_attr(&b, sharding)});
    add_op(&b, (op_t){"negate", attributes, type, {argument_of(&b, b.program.entry)}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    return digest_of(&b);
}

static void only_what_is_on_every_device_is_replicated(void **state) {
    (void)state;
    static const struct {
        sharding_t sharding;
        bool says_nothing;
    } rows[] = {
        {{.mesh = MESH_OF_AXES}, true},
        {{.mesh = MESH_BY_NAME}, true},
        {{.mesh = MESH_OF_NOTHING}, true},
        {{.mesh = MESH_OF_NO_LISTS}, true},
        {{.mesh = MESH_OF_A_DEVICE}, false},
        {{.mesh = MESH_OF_A_STRING}, false},
        {{.mesh = MESH_OF_A_FUNCTION}, false},
        {{.mesh = MESH_IS_ANOTHER_RECORD}, false},
        {{.mesh = NO_MESH}, false},
        {{.mesh = MESH_OF_AXES, .axis = "x"}, false},
        {{.mesh = MESH_BY_NAME, .axis = "x"}, false},
        {{.mesh = MESH_OF_AXES, .unreduced = "x"}, false},
        {{.mesh = MESH_OF_AXES, .no_dimensions = true}, false},
        {{.mesh = MESH_OF_AXES, .klass = KEEL_RECORD_SDY_AXIS_REF_LIST}, false},
        {{.mesh = MESH_OF_AXES, .per_value = 3}, true},
        {{.mesh = MESH_OF_AXES, .per_value = 3, .axis = "x"}, false},
        {{.mesh = MESH_OF_AXES, .per_value = 2, .axis = "x"}, false},
        {{.mesh = MESH_OF_AXES, .per_value = 1, .axis = "x"}, true}, // it is not in the list
        {{.mesh = MESH_OF_AXES, .per_value = 1, .no_list = true}, false},
    };
    keel_digest_t none = digest_with(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_digest_t with = digest_with(&rows[i].sharding);
        if (keel_digest_equal(&none, &with) != rows[i].says_nothing) fail_msg("row %zu", i);
    }
}

static keel_digest_t digest_with_mesh(bool has_mesh, bool is_named, int64_t partitions) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    b.program.attributes = DICT(&b, {"mhlo.num_partitions", int_attr(&b, partitions)});
    if (has_mesh) add_mesh_operation(&b);
    keel_type_id_t type = f32(&b);
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    const sharding_t sharding = {.mesh = MESH_BY_NAME, .axis = "x"};
    keel_attr_id_t attributes = KEEL_NONE;
    if (is_named) attributes = DICT(&b, {"sdy.sharding", sharding_attr(&b, &sharding)});
    add_op(&b, (op_t){"negate", attributes, type, {argument_of(&b, b.program.entry)}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    return digest_of(&b);
}

static void a_mesh_that_nothing_refers_to_counts_only_for_a_partitioner(void **state) {
    (void)state;
    for (int64_t partitions = 1; partitions <= 2; ++partitions) {
        keel_digest_t none = digest_with_mesh(false, false, partitions);
        keel_digest_t mesh = digest_with_mesh(true, false, partitions);
        keel_digest_t named = digest_with_mesh(true, true, partitions);
        assert_int_equal(keel_digest_equal(&none, &mesh), partitions == 1);
        assert_false(keel_digest_equal(&none, &named));
    }
}

// In HLO a sharding is a message, of which only what is not a default is there.
static keel_digest_t digest_of_hlo(bool has_sharding, uint32_t fields, keel_record_t klass) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_HLO);
    keel_type_id_t type = f32(&b);
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    const member_t members[1] = {{"type", int_attr(&b, 1)}};
    keel_attr_id_t message = record(&b, klass, members, fields);
    keel_attr_id_t attributes = has_sharding ? DICT(&b, {"sharding", message}) : KEEL_NONE;
    add_op(&b, (op_t){"negate", attributes, type, {argument_of(&b, b.program.entry)}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    return digest_of(&b);
}

static void a_message_of_defaults_is_replicated(void **state) {
    (void)state;
    keel_digest_t none = digest_of_hlo(false, 0, KEEL_RECORD_HLO_MESSAGE);
    keel_digest_t empty = digest_of_hlo(true, 0, KEEL_RECORD_HLO_MESSAGE);
    keel_digest_t maximal = digest_of_hlo(true, 1, KEEL_RECORD_HLO_MESSAGE);
    keel_digest_t other = digest_of_hlo(true, 0, KEEL_RECORD_MESH);
    assert_true(keel_digest_equal(&none, &empty));
    assert_false(keel_digest_equal(&none, &maximal));
    assert_false(keel_digest_equal(&none, &other));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_on_every_device_is_replicated),
        cmocka_unit_test(a_mesh_that_nothing_refers_to_counts_only_for_a_partitioner),
        cmocka_unit_test(a_message_of_defaults_is_replicated),
    };
    return cmocka_run_group_tests_name("key_sharding", tests, NULL, NULL);
}
