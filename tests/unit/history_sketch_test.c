// Sketches: what of a program counts, how deep its types are looked at, and how alike two are.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "history/history.h"
#include "key_build.h"

static keel_sketch_t sketch_of(build_t *b) {
    keel_sketch_t sketch;
    build_end(b);
    keel_sketch_of(&b->program, &sketch);
    keel_program_deinitialize(&b->program);
    return sketch;
}

// A list of so many types.
static uint32_t types(build_t *b, const keel_type_id_t *ids, uint32_t count) {
    uint32_t list = 0;
    MUST(keel_program_add_list(&b->program, ids, count, &list));
    return list;
}

// A program without a body, whose entry has that type.
static keel_sketch_t sketch_of_type(build_t *b, keel_type_id_t type) {
    keel_program_t *p = &b->program;
    MUST(keel_table_reserve(&p->functions, 1));
    p->functions.data[p->functions.count++] = (keel_function_t){
        .operation = KEEL_NONE, .region = KEEL_NONE, .type = type, .root = KEEL_NONE};
    p->entry = 0;
    return sketch_of(b);
}

// The same, with these arguments and results.
static keel_sketch_t sketch_of_signature(build_t *b, const keel_type_id_t *in, uint32_t in_count,
                                         const keel_type_id_t *out, uint32_t out_count) {
    keel_type_t type = {
        .kind = KEEL_TYPE_FUNCTION, .b = types(b, in, in_count), .c = types(b, out, out_count)};
    return sketch_of_type(b, push_type(b, type));
}

static unsigned counted(const keel_sketch_t *sketch) {
    unsigned count = 0;
    for (unsigned shift = 0; shift < 64; shift += 4)
        count += sketch->types >> shift & 15;
    return count;
}

// ---- types -------------------------------------------------------------------------------------

static keel_type_id_t float_of(build_t *b, keel_float_t kind) {
    return push_type(b, (keel_type_t){.kind = KEEL_TYPE_FLOAT, .a = kind});
}

static keel_type_id_t shaped(build_t *b, keel_type_kind_t kind, const int64_t *dims,
                             uint32_t rank) {
    uint32_t list = 0;
    MUST(keel_program_add_ints(&b->program, dims, rank, &list));
    return push_type(b,
                     (keel_type_t){.kind = (uint8_t)kind, .a = f32(b), .b = list, .c = KEEL_NONE});
}

static keel_type_id_t of_list(build_t *b, keel_type_kind_t kind, uint32_t count) {
    const keel_type_id_t ids[2] = {f32(b), f32(b)};
    return push_type(
        b, (keel_type_t){.kind = (uint8_t)kind, .b = types(b, ids, count), .c = KEEL_NONE});
}

// No two of them are the same type; KEEL_NONE behind the last.
static keel_type_id_t nth_type(build_t *b, unsigned n) {
    static const int64_t dims[] = {2, 3};
    switch (n) {
        case 0:
            return f32(b);
        case 1:
            return float_of(b, KEEL_FLOAT_F64);
        case 2:
            return i1(b);
        case 3:
            return push_type(b, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 8});
        case 4:
            return push_type(
                b, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 8, .aux = KEEL_UNSIGNED});
        case 5:
            return push_type(b, (keel_type_t){.kind = KEEL_TYPE_INDEX});
        case 6:
            return shaped(b, KEEL_TYPE_TENSOR, dims, 0);
        case 7:
            return shaped(b, KEEL_TYPE_TENSOR, dims, 1);
        case 8:
            return shaped(b, KEEL_TYPE_TENSOR, dims, 2);
        case 9:
            return shaped(b, KEEL_TYPE_TENSOR, dims + 1, 1);
        case 10:
            return shaped(b, KEEL_TYPE_BUFFER, dims, 1);
        case 11:
            return push_type(b, (keel_type_t){.kind = KEEL_TYPE_COMPLEX, .a = f32(b)});
        case 12:
            return push_type(
                b, (keel_type_t){.kind = KEEL_TYPE_COMPLEX, .a = float_of(b, KEEL_FLOAT_F64)});
        case 13:
            return push_type(b, (keel_type_t){.kind = KEEL_TYPE_UNRANKED_TENSOR, .a = f32(b)});
        case 14:
            return push_type(b, (keel_type_t){.kind = KEEL_TYPE_QUANTIZED, .a = f32(b)});
        case 15:
            return of_list(b, KEEL_TYPE_TUPLE, 0);
        case 16:
            return of_list(b, KEEL_TYPE_TUPLE, 1);
        case 17:
            return of_list(b, KEEL_TYPE_TUPLE, 2);
        case 18:
            return of_list(b, KEEL_TYPE_FUTURE, 1);
        default:
            return KEEL_NONE;
    }
}

static void each_type_is_a_signature_of_its_own(void **state) {
    (void)state;
    uint64_t seen[40];
    for (unsigned n = 0;; ++n) {
        build_t b;
        build_begin(&b, KEEL_FORMAT_MLIR);
        keel_type_id_t type = nth_type(&b, n);
        keel_sketch_t sketch = sketch_of_signature(&b, &type, 1, NULL, 0);
        if (type == KEEL_NONE) break;
        seen[n] = sketch.signature;
        assert_int_equal(counted(&sketch), 1);
        for (unsigned k = 0; k < n; ++k)
            if (seen[k] == seen[n]) fail_msg("types %u and %u have one signature", k, n);
    }
}

static keel_sketch_t with_floats(const char *in, const char *out) {
    build_t b;
    keel_type_id_t ids[2][40];
    const char *texts[2] = {in, out};
    build_begin(&b, KEEL_FORMAT_MLIR);
    for (int side = 0; side < 2; ++side)
        for (size_t i = 0; texts[side][i]; ++i)
            ids[side][i] = float_of(&b, texts[side][i] == 'f' ? KEEL_FLOAT_F32 : KEEL_FLOAT_F64);
    return sketch_of_signature(&b, ids[0], (uint32_t)strlen(in), ids[1], (uint32_t)strlen(out));
}

static void arguments_and_results_count_in_their_order(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"", ""},    {"f", ""},   {"", "f"},  {"f", "f"},
                                          {"ff", ""},  {"fd", ""},  {"df", ""}, {"f", "d"},
                                          {"ff", "f"}, {"f", "ff"}, {"fff", ""}};
    enum { COUNT = sizeof rows / sizeof *rows };
    keel_sketch_t sketches[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        sketches[i] = with_floats(rows[i][0], rows[i][1]);
        assert_int_equal(counted(&sketches[i]), strlen(rows[i][0]) + strlen(rows[i][1]));
        for (int k = 0; k < i; ++k)
            assert_int_not_equal(sketches[i].signature, sketches[k].signature);
    }
    // Counted without an order.
    assert_int_equal(sketches[5].types, sketches[6].types);
    keel_sketch_t many = with_floats("ffffffffffffffff", ""); // a counter ends at 15
    assert_int_equal(counted(&many), 15);
    keel_sketch_t more = with_floats("ffffffffffffffffd", "");
    assert_int_equal(counted(&more), 16);
}

static void an_entry_of_another_type_than_a_functions_has_no_signature(void **state) {
    (void)state;
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t one = f32(&b);
    uint32_t list = types(&b, &one, 1);
    keel_type_t tuple = {.kind = KEEL_TYPE_TUPLE, .b = list, .c = list};
    keel_sketch_t strange = sketch_of_type(&b, push_type(&b, tuple));
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_sketch_t none = sketch_of_type(&b, KEEL_NONE);
    assert_int_equal(strange.types, 0);
    assert_int_equal(strange.signature, none.signature);
}

// That type inside as many others as `depth`.
static keel_type_id_t nested(build_t *b, keel_type_kind_t kind, keel_float_t leaf, int depth,
                             bool as_result) {
    keel_type_id_t id = float_of(b, leaf);
    const int64_t dim = 2;
    uint32_t dims = 0;
    MUST(keel_program_add_ints(&b->program, &dim, 1, &dims));
    for (int i = 0; i < depth; ++i) {
        keel_type_t type = {.kind = (uint8_t)kind, .a = id, .b = dims, .c = KEEL_NONE};
        if (kind == KEEL_TYPE_TUPLE || kind == KEEL_TYPE_FUTURE) type.b = types(b, &id, 1);
        if (kind == KEEL_TYPE_FUNCTION) {
            type.b = types(b, &id, !as_result);
            type.c = types(b, &id, as_result);
        }
        id = push_type(b, type);
    }
    return id;
}

static uint64_t signature_of_nested(keel_type_kind_t kind, keel_float_t leaf, int depth,
                                    bool as_result) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = nested(&b, kind, leaf, depth, as_result);
    return sketch_of_signature(&b, &type, 1, NULL, 0).signature;
}

static void types_inside_of_six_others_do_not_count(void **state) {
    (void)state;
    static const keel_type_kind_t kinds[] = {
        KEEL_TYPE_TENSOR, KEEL_TYPE_BUFFER, KEEL_TYPE_COMPLEX,  KEEL_TYPE_UNRANKED_TENSOR,
        KEEL_TYPE_TUPLE,  KEEL_TYPE_FUTURE, KEEL_TYPE_FUNCTION, KEEL_TYPE_QUANTIZED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        for (int depth = 0; depth < 10; ++depth)
            for (int as_result = 0; as_result < 2; ++as_result) {
                uint64_t single = signature_of_nested(kinds[i], KEEL_FLOAT_F32, depth, as_result);
                uint64_t twice = signature_of_nested(kinds[i], KEEL_FLOAT_F64, depth, as_result);
                if ((single == twice) != (depth >= 6))
                    fail_msg("kind %u, depth %d", (unsigned)kinds[i], depth);
            }
}

// Each type has the one before it so many times: a few types, and more visits than anybody waits
// for.
static keel_sketch_t exploding(uint32_t width, keel_float_t last) {
    enum { MOST = 400 };
    build_t b;
    keel_type_id_t ids[MOST];
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t id = f32(&b);
    for (int level = 0; level < 5; ++level) {
        for (uint32_t i = 0; i < width; ++i)
            ids[i] = id;
        id = push_type(
            &b, (keel_type_t){.kind = KEEL_TYPE_TUPLE, .b = types(&b, ids, width), .c = KEEL_NONE});
    }
    const keel_type_id_t arguments[2] = {id, float_of(&b, last)};
    return sketch_of_signature(&b, arguments, 2, NULL, 0);
}

static void types_that_expand_without_end_are_looked_at_for_a_while(void **state) {
    (void)state;
    keel_sketch_t a = exploding(2, KEEL_FLOAT_F32), b = exploding(2, KEEL_FLOAT_F64);
    assert_int_not_equal(a.signature, b.signature);
    a = exploding(400, KEEL_FLOAT_F32), b = exploding(400, KEEL_FLOAT_F64);
    assert_int_equal(a.signature, b.signature);
}

// ---- names and operations ----------------------------------------------------------------------

// A function of two arguments with these names; without any if the first is NULL.
static keel_sketch_t with_names(const char *first, const char *second, uint32_t name_count) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    uint32_t f = begin_function(&b, (fn_t){"main", f32(&b), KEEL_NONE, true});
    new_value(&b, 0);
    keel_block_t *block = &b.program.blocks.data[0];
    block->argument_count = 2;
    if (first) {
        uint32_t names[3], list = 0;
        names[0] = push_attr(
            &b, (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = text(&b, first), .b = KEEL_NONE});
        names[1] = push_attr(
            &b, (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = text(&b, second), .b = KEEL_NONE});
        names[2] = names[0]; // what follows in the table is no argument's
        MUST(keel_program_add_list(&b.program, names, name_count, &list));
        block->argument_locations = list + 1;
    }
    end_function(&b, f);
    b.program.entry = f;
    return sketch_of(&b);
}

static void names_of_arguments_count_in_their_order(void **state) {
    (void)state;
    keel_sketch_t none = with_names(NULL, NULL, 0), xy = with_names("x", "y", 2);
    keel_sketch_t yx = with_names("y", "x", 2), again = with_names("x", "y", 3);
    assert_int_equal(xy.arguments, 2);
    assert_int_equal(xy.names, again.names);
    assert_int_not_equal(xy.names, yx.names);
    assert_int_not_equal(xy.names, none.names);
    assert_int_equal(xy.signature, none.signature);
}

static unsigned operations_counted(const keel_sketch_t *sketch) {
    unsigned count = 0;
    for (int i = 0; i < KEEL_SKETCH_BUCKETS; ++i)
        count += sketch->counts[i];
    return count;
}

// HLO has no type of a function: parameters and the root of the entry are its signature, wherever
// the entry stands.
static void a_computations_parameters_and_its_root_are_its_signature(void **state) {
    (void)state;
    for (uint32_t entry = 0; entry < 2; ++entry) {
        build_t b;
        build_begin(&b, KEEL_FORMAT_HLO);
        keel_type_id_t single = f32(&b), wide = float_of(&b, KEEL_FLOAT_F64);
        for (uint32_t f = 0; f < 2; ++f) {
            begin_function(&b, (fn_t){"main", single, KEEL_NONE, true});
            b.program.functions.data[f].type = KEEL_NONE;
            add_op(&b, (op_t){"parameter", KEEL_NONE, single, {0}, 0});
            add_op(&b, (op_t){"parameter", KEEL_NONE, single, {0}, 0});
            add_op(&b, (op_t){"add", KEEL_NONE, wide, {0}, 0});
            b.program.functions.data[f].root = b.program.operations.count;
            add_op(&b, (op_t){"multiply", KEEL_NONE, wide, {0}, 0});
            add_op(&b, (op_t){"parameter", KEEL_NONE, KEEL_NONE, {0}, 0});
            end_function(&b, f);
        }
        b.program.entry = entry;
        keel_sketch_t sketch = sketch_of(&b);
        assert_int_equal(sketch.arguments, 3);
        assert_int_equal(counted(&sketch), 3); // one of the parameters has no value
        assert_int_equal(sketch.operations, 12);
        assert_int_equal(operations_counted(&sketch), 12);
    }
}

static void an_operations_count_ends_where_its_number_does(void **state) {
    (void)state;
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    b.program.entry = KEEL_NONE;
    for (uint32_t i = 0; i < UINT16_MAX + 2; ++i)
        add_op(&b, (op_t){"add", KEEL_NONE, KEEL_NONE, {0}, 0});
    add_op(&b, (op_t){"constant", KEEL_NONE, KEEL_NONE, {0}, 0});
    keel_sketch_t sketch = sketch_of(&b);
    assert_int_equal(sketch.operations, UINT16_MAX + 3);
    assert_int_equal(operations_counted(&sketch), UINT16_MAX);
    assert_int_equal(sketch.arguments, 0);
}

// ---- alike -------------------------------------------------------------------------------------

static void assert_alike(const keel_sketch_t *a, const keel_sketch_t *b, double expected) {
    assert_true(fabs(keel_sketch_alike(a, b) - expected) < 1e-9);
    assert_true(fabs(keel_sketch_alike(b, a) - expected) < 1e-9);
}

static void operations_decide_and_names_and_types_tell_equals_apart(void **state) {
    (void)state;
    keel_sketch_t a = {.signature = 1, .types = 0x3002, .names = 5}, b = a;
    assert_alike(&a, &b, 1); // nothing is computed in either
    a.counts[0] = b.counts[0] = 6;
    a.counts[KEEL_SKETCH_BUCKETS - 1] = 2;
    assert_alike(&a, &b, 0.9 * 6 / 8 + 0.1);
    b.counts[1] = 4;
    assert_alike(&a, &b, 0.9 * 6 / 12 + 0.1);
    b.names = 6;
    assert_alike(&a, &b, 0.9 * 6 / 12 + 0.05);
    b.signature = 2;
    assert_alike(&a, &b, 0.9 * 6 / 12 + 0.04);
    b.types = 0x1000000000000002u;
    assert_alike(&a, &b, 0.9 * 6 / 12 + 0.04 * 2 / 6);
    a.types = b.types = 0;
    assert_alike(&a, &b, 0.9 * 6 / 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_a_signature_of_its_own),
        cmocka_unit_test(arguments_and_results_count_in_their_order),
        cmocka_unit_test(an_entry_of_another_type_than_a_functions_has_no_signature),
        cmocka_unit_test(types_inside_of_six_others_do_not_count),
        cmocka_unit_test(types_that_expand_without_end_are_looked_at_for_a_while),
        cmocka_unit_test(names_of_arguments_count_in_their_order),
        cmocka_unit_test(a_computations_parameters_and_its_root_are_its_signature),
        cmocka_unit_test(an_operations_count_ends_where_its_number_does),
        cmocka_unit_test(operations_decide_and_names_and_types_tell_equals_apart),
    };
    return cmocka_run_group_tests_name("history_sketch", tests, NULL, NULL);
}
