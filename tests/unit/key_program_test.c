#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "key_build.h"

// main(x) = helper(x) + c, helper(x) = x * x, with everything that a test may turn.
typedef struct recipe_t {
    const char *module, *helper, *result_info, *other;
    bool helper_first; // order of the functions
    float constant;
    bool splat;                            // the constant as one element
    bool wrong_order;                      // the add's operands
    int donate;                            // tf.aliasing_output of the argument, -1: none
    const char *sharding, *other_sharding; // of the argument, of the constant
    int partitions;
    const char *options;
    size_t options_size;
    const char *op;
    bool reversed_dict;
    bool circle;
} recipe_t;

static const recipe_t plain = {.module = "jit_f",
                               .helper = "helper",
                               .result_info = "x",
                               .constant = 1.5f,
                               .donate = -1,
                               .partitions = 1,
                               .op = "multiply"};

static void add_helper(build_t *b, const recipe_t *r, keel_type_id_t type, const char *name) {
    uint32_t f = begin_function(b, (fn_t){name, type, KEEL_NONE, false});
    keel_value_id_t x = argument_of(b, f);
    keel_value_id_t y = add_op(b, (op_t){r->op, KEEL_NONE, type, {x, x}, 2});
    if (r->circle)
        y = add_op(b, (op_t){"call", DICT(b, {"callee", symbol_attr(b, name)}), type, {y}, 1});
    add_op(b, (op_t){"return", KEEL_NONE, KEEL_NONE, {y}, 1});
    end_function(b, f);
}

static keel_attr_id_t argument_attributes(build_t *b, const recipe_t *r) {
    member_t members[3] = {{"jax.result_info", string_attr(b, r->result_info)}};
    uint32_t count = 1;
    if (r->donate >= 0) members[count++] = (member_t){"tf.aliasing_output", int_attr(b, r->donate)};
    if (r->sharding) members[count++] = (member_t){"mhlo.sharding", string_attr(b, r->sharding)};
    keel_attr_id_t attributes = dict(b, members, count);
    return list_attr(b, KEEL_ATTR_ARRAY, &attributes, 1);
}

static void add_main(build_t *b, const recipe_t *r, keel_type_id_t type) {
    static float data[4];
    for (int i = 0; i < 4; ++i)
        data[i] = r->constant;
    b->program.entry = begin_function(b, (fn_t){"main", type, argument_attributes(b, r), true});
    keel_value_id_t x = argument_of(b, b->program.entry);
    keel_attr_id_t value = tensor_attr(b, type, data, r->splat ? sizeof *data : sizeof data);
    member_t constant[2] = {{"value", value}};
    if (r->other_sharding)
        constant[1] = (member_t){"mhlo.sharding", string_attr(b, r->other_sharding)};
    keel_attr_id_t carried = dict(b, constant, r->other_sharding ? 2 : 1);
    keel_value_id_t c = add_op(b, (op_t){"constant", carried, type, {0}, 0});
    member_t members[] = {{"callee", symbol_attr(b, r->helper)}, {"z", int_attr(b, 7)}};
    member_t reversed[] = {members[1], members[0]};
    keel_attr_id_t attributes = dict(b, r->reversed_dict ? reversed : members, 2);
    keel_value_id_t y = add_op(b, (op_t){"call", attributes, type, {x}, 1});
    op_t add = {"add", KEEL_NONE, type, {y, c}, 2};
    if (r->wrong_order) add.operands[0] = c, add.operands[1] = y;
    keel_value_id_t z = add_op(b, add);
    add_op(b, (op_t){"return", KEEL_NONE, KEEL_NONE, {z}, 1});
    end_function(b, b->program.entry);
}

static void build(build_t *b, const recipe_t *r) {
    build_begin(b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = tensor_of(b, f32(b), 4);
    b->program.name = text(b, r->module);
    b->program.attributes = DICT(b, {"mhlo.num_partitions", int_attr(b, r->partitions)},
                                 {"sym_name", string_attr(b, r->module)});
    if (r->helper_first) add_helper(b, r, type, r->helper);
    add_main(b, r, type);
    if (!r->helper_first) add_helper(b, r, type, r->helper);
    if (r->other) add_helper(b, r, type, r->other);
    build_end(b);
}

static keel_digest_t key_of(const recipe_t *r) {
    build_t b;
    build(&b, r);
    if (!r->options) return digest_of(&b);
    keel_digest_t digest;
    MUST(keel_key_program_under(&b.program, keel_bytes(r->options, r->options_size), &digest));
    keel_program_deinitialize(&b.program);
    return digest;
}

static bool same(const recipe_t *a, const recipe_t *b) {
    keel_digest_t left = key_of(a), right = key_of(b);
    return keel_digest_equal(&left, &right);
}

#define WITH(...)                                                                                  \
    (&(recipe_t){.module = "jit_f",                                                                \
                 .helper = "helper",                                                               \
                 .result_info = "x",                                                               \
                 .constant = 1.5f,                                                                 \
                 .donate = -1,                                                                     \
                 .partitions = 1,                                                                  \
                 .op = "multiply",                                                                 \
                 __VA_ARGS__})

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

static void names_and_order_do_not_move_the_key(void **state) {
    (void)state;
    assert_true(same(&plain, WITH(.module = "jit__lambda_")));
    assert_true(same(&plain, WITH(.helper = "anders")));
    assert_true(same(&plain, WITH(.result_info = "out['y']")));
    assert_true(same(&plain, WITH(.helper_first = true)));
    assert_true(same(&plain, WITH(.reversed_dict = true)));
}

static void what_changes_code_moves_the_key(void **state) {
    (void)state;
    assert_false(same(&plain, WITH(.constant = 1.25f)));
    assert_false(same(&plain, WITH(.wrong_order = true)));
    assert_false(same(&plain, WITH(.donate = 0)));
    assert_false(same(WITH(.donate = 0), WITH(.donate = 1)));
    assert_false(same(&plain, WITH(.op = "maximum")));
    assert_false(same(&plain, WITH(.partitions = 2)));
    assert_false(same(&plain, WITH(.other = "unused")));
}

static void a_constant_counts_by_its_value(void **state) {
    (void)state;
    assert_true(same(&plain, WITH(.splat = true)));
    assert_false(same(WITH(.constant = 0.0f), WITH(.constant = -0.0f)));
}

#define TILED "{devices=[2]<=[2]}"
#define REPLICATED "{replicated}"

static void a_replicated_sharding_is_none_where_nothing_is_sharded(void **state) {
    (void)state;
    assert_true(same(&plain, WITH(.sharding = REPLICATED)));
    assert_true(same(WITH(.partitions = 2), WITH(.partitions = 2, .sharding = REPLICATED)));
    assert_true(same(WITH(.partitions = 2, .other_sharding = REPLICATED),
                     WITH(.partitions = 2, .sharding = REPLICATED)));
    assert_false(same(&plain, WITH(.sharding = TILED)));
    assert_false(same(&plain, WITH(.sharding = "{maximal device=0}")));
}

static void a_replicated_sharding_is_none_on_one_partition(void **state) {
    (void)state;
    assert_true(
        same(WITH(.other_sharding = TILED), WITH(.other_sharding = TILED, .sharding = REPLICATED)));
    assert_false(same(WITH(.other_sharding = TILED, .partitions = 2),
                      WITH(.other_sharding = TILED, .partitions = 2, .sharding = REPLICATED)));
}

// What the compile options say counts, whatever the module says: so does XLA.
static void shardings_go_by_the_compile_options(void **state) {
    (void)state;
#define ONE .options = "\x1a\x02\x28\x01", .options_size = 4
#define FOUR .options = "\x1a\x02\x28\x04", .options_size = 4
#define SEARCHED .options = "\x1a\x04\x28\x01\x38\x01", .options_size = 6
#define BROKEN .options = "\x1a\x04\x28", .options_size = 3
    assert_true(same(WITH(.other_sharding = TILED, .partitions = 2, ONE),
                     WITH(.other_sharding = TILED, .partitions = 2, .sharding = REPLICATED, ONE)));
    assert_false(same(WITH(.other_sharding = TILED, FOUR),
                      WITH(.other_sharding = TILED, .sharding = REPLICATED, FOUR)));
    assert_true(same(WITH(FOUR), WITH(.sharding = REPLICATED, FOUR)));
    // Behind a field that says nothing about shardings, in the options and in the build options.
#define ONE_LATER .options = "\x10\x01\x1a\x04\x20\x01\x28\x01", .options_size = 8
    assert_true(
        same(WITH(.other_sharding = TILED, .partitions = 2, ONE_LATER),
             WITH(.other_sharding = TILED, .partitions = 2, .sharding = REPLICATED, ONE_LATER)));
    assert_false(same(WITH(SEARCHED), WITH(.sharding = REPLICATED, SEARCHED)));
    assert_false(same(WITH(BROKEN), WITH(.sharding = REPLICATED, BROKEN)));
}

static void functions_that_no_one_calls_are_a_set(void **state) {
    (void)state;
    assert_true(same(WITH(.other = "unused"), WITH(.other = "idle")));
    assert_true(same(WITH(.other = "unused"), WITH(.other = "idle", .helper_first = true)));
}

static void names_that_xla_looks_for_are_kept(void **state) {
    (void)state;
    assert_false(same(&plain, WITH(.helper = "shmap_body")));
    assert_false(same(&plain, WITH(.helper = "xla.sdy.manual_computation_body_1")));
}

// Operations that begin alike are written once; a table finds them by name, attributes and type.
static keel_digest_t key_of_many_types(int64_t count, int64_t last) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t element = f32(&b), type = tensor_of(&b, element, 4);
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    keel_value_id_t x = argument_of(&b, b.program.entry);
    for (int64_t i = 0; i <= count; ++i)
        add_op(&b, (op_t){"iota", KEEL_NONE, tensor_of(&b, element, i < count ? i : last), {0}, 0});
    add_op(&b, (op_t){"return", KEEL_NONE, KEEL_NONE, {x}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    return digest_of(&b);
}

static void each_of_many_types_moves_the_key(void **state) {
    (void)state;
    for (int64_t count = 0; count < 200; ++count) {
        keel_digest_t a = key_of_many_types(count, 1000), b = key_of_many_types(count, 1001);
        assert_false(keel_digest_equal(&a, &b));
    }
}

static void a_circle_of_calls_is_refused(void **state) {
    (void)state;
    build_t b;
    build(&b, WITH(.circle = true));
    keel_digest_t digest;
    keel_status_t status = keel_key_program(&b.program, &digest);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    keel_program_deinitialize(&b.program);
}

#pragma GCC diagnostic pop

static keel_digest_t bools(const void *data, size_t size, int64_t count) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    b.program.attributes =
        DICT(&b, {"v", tensor_attr(&b, tensor_of(&b, i1(&b), count), data, size)});
    build_end(&b);
    return digest_of(&b);
}

static bool equal(keel_digest_t a, keel_digest_t b) {
    return keel_digest_equal(&a, &b);
}

static void bools_are_the_same_packed_and_apart(void **state) {
    (void)state;
    assert_true(equal(bools("\xff", 1, 9), bools("\xff\x01", 2, 9)));
    assert_true(equal(bools("\x05", 1, 3), bools("\1\0\1", 3, 3)));
    assert_true(equal(bools("\x00", 1, 20), bools("\0\0\0", 3, 20)));
    assert_false(equal(bools("\x05", 1, 3), bools("\x04", 1, 3)));
    assert_false(equal(bools("\xff", 1, 8), bools("\xff", 1, 9)));
    assert_true(equal(bools("\xff", 1, 1), bools("\x01", 1, 1)));
    assert_false(equal(bools("\1\2\1", 3, 3), bools("\1\0\1", 3, 3)));
}

static void a_depth_that_no_reader_gives_is_refused(void **state) {
    (void)state;
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_attr_id_t inner = string_attr(&b, "x");
    for (int i = 0; i < 1000; ++i)
        inner = list_attr(&b, KEEL_ATTR_ARRAY, &inner, 1);
    b.program.attributes = DICT(&b, {"deep", inner});
    build_end(&b);
    keel_digest_t digest;
    keel_status_t status = keel_key_program(&b.program, &digest);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    keel_program_deinitialize(&b.program);
}

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported(void **state) {
    (void)state;
    build_t b;
    build(&b, &plain);
    keel_digest_t expected, digest;
    MUST(keel_key_program(&b.program, &expected));
    for (uint64_t n = 1;; ++n) {
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = keel_key_program(&b.program, &digest);
        bool failed = keel_fault_count(KEEL_FAULT_ALLOC) >= n;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (!failed) {
            assert_null(status);
            assert_true(keel_digest_equal(&digest, &expected));
            break;
        }
        assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
    }
    keel_program_deinitialize(&b.program);
}
#endif

static void a_key_is_told_by_its_components(void **state) {
    (void)state;
    keel_key_t a, b;
    keel_key_initialize(&a);
    MUST(keel_key_set(&a, KEEL_COMPONENT_OPTIONS, keel_bytes("o", 1), KEEL_STR("o=1")));
    MUST(keel_key_finish(&a));
    MUST(keel_key_copy(&a, &b));
    assert_true(keel_digest_equal(&a.digest, &b.digest));
    assert_string_equal(b.values[KEEL_COMPONENT_OPTIONS], "o=1");
    assert_string_equal(b.values[KEEL_COMPONENT_KEY_VERSION], "2");
    // The same bytes in another component are another key.
    keel_key_t c;
    keel_key_initialize(&c);
    MUST(keel_key_set(&c, KEEL_COMPONENT_XLA_FLAGS, keel_bytes("o", 1), KEEL_STR("o=1")));
    MUST(keel_key_finish(&c));
    assert_false(keel_digest_equal(&a.digest, &c.digest));
    assert_false(keel_digest_equal(&a.components[KEEL_COMPONENT_OPTIONS],
                                   &c.components[KEEL_COMPONENT_XLA_FLAGS]));
    keel_key_deinitialize(&a);
    keel_key_deinitialize(&b);
    keel_key_deinitialize(&c);
}

static void components_are_found_by_name(void **state) {
    (void)state;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        assert_int_equal(keel_component_by_name(keel_str(keel_component_name((keel_component_t)i))),
                         i);
    assert_int_equal(keel_component_by_name(KEEL_STR("colour")), KEEL_COMPONENT_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_order_do_not_move_the_key),
        cmocka_unit_test(what_changes_code_moves_the_key),
        cmocka_unit_test(a_constant_counts_by_its_value),
        cmocka_unit_test(a_replicated_sharding_is_none_where_nothing_is_sharded),
        cmocka_unit_test(a_replicated_sharding_is_none_on_one_partition),
        cmocka_unit_test(shardings_go_by_the_compile_options),
        cmocka_unit_test(functions_that_no_one_calls_are_a_set),
        cmocka_unit_test(names_that_xla_looks_for_are_kept),
        cmocka_unit_test(each_of_many_types_moves_the_key),
        cmocka_unit_test(a_circle_of_calls_is_refused),
        cmocka_unit_test(bools_are_the_same_packed_and_apart),
        cmocka_unit_test(a_depth_that_no_reader_gives_is_refused),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_that_fails_is_reported),
#endif
        cmocka_unit_test(a_key_is_told_by_its_components),
        cmocka_unit_test(components_are_found_by_name),
    };
    return cmocka_run_group_tests_name("key_program", tests, NULL, NULL);
}
