// What a key means, without a golden: programs that differ in any one thing have different keys,
// and programs that do not differ share one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "key_differ.h"

// ---- types -------------------------------------------------------------------------------------

// clang-format off
static keel_type_id_t nth_type(build_t *b, unsigned n) {
    keel_type_id_t f = f32(b), i = integer(b, 32, KEEL_SIGNLESS);
    keel_attr_id_t layout = ATTR(.kind = KEEL_ATTR_INTS, .b = INTS(b, 0, 1));
    keel_attr_id_t other = ATTR(.kind = KEEL_ATTR_INTS, .b = INTS(b, 1, 0));
    switch (n) {
        case 0: return i;
        case 1: return integer(b, 32, KEEL_SIGNED);
        case 2: return integer(b, 32, KEEL_UNSIGNED);
        case 3: return integer(b, 64, KEEL_SIGNLESS);
        case 4: return f;
        case 5: return TYPE(.kind = KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_TF32);
        case 6: return TYPE(.kind = KEEL_TYPE_INDEX);
        case 7: return TYPE(.kind = KEEL_TYPE_NONE);
        case 8: return TYPE(.kind = KEEL_TYPE_TOKEN);
        case 9: return TYPE(.kind = KEEL_TYPE_WITNESS);
        case 10: return TYPE(.kind = KEEL_TYPE_OPAQUE);
        case 11: return TYPE(.kind = KEEL_TYPE_COMPLEX, .a = f);
        case 12: return TYPE(.kind = KEEL_TYPE_COMPLEX, .a = i);
        case 13: return TYPE(.kind = KEEL_TYPE_UNRANKED_TENSOR, .a = f);
        case 14: return TYPE(.kind = KEEL_TYPE_UNRANKED_TENSOR, .a = i);
        case 15: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2, 3), .c = KEEL_NONE);
        case 16: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 3, 2), .c = KEEL_NONE);
        case 17: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2), .c = KEEL_NONE);
        case 18: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, -2), .c = KEEL_NONE);
        case 19: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = i, .b = INTS(b, 2, 3), .c = KEEL_NONE);
        case 20: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2, 3), .c = layout);
        case 21: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2, 3), .c = other);
        case 22: return TYPE(.kind = KEEL_TYPE_BUFFER, .a = f, .b = INTS(b, 2, 3), .c = KEEL_NONE);
        case 23: return TYPE(.kind = KEEL_TYPE_BUFFER, .a = f, .b = INTS(b, 2, 3), .c = layout);
        case 24: return TYPE(.kind = KEEL_TYPE_TUPLE, .b = LIST(b, f, i), .c = KEEL_NONE);
        case 25: return TYPE(.kind = KEEL_TYPE_TUPLE, .b = LIST(b, i, f), .c = KEEL_NONE);
        case 26: return TYPE(.kind = KEEL_TYPE_TUPLE, .b = LIST(b, f), .c = KEEL_NONE);
        case 27: return TYPE(.kind = KEEL_TYPE_TUPLE, .b = LIST(b, f, i), .c = layout);
        case 28: return TYPE(.kind = KEEL_TYPE_FUTURE, .b = LIST(b, f, i));
        case 29: return TYPE(.kind = KEEL_TYPE_FUTURE, .b = LIST(b, f));
        case 30: return TYPE(.kind = KEEL_TYPE_FUNCTION, .b = LIST(b, f, f), .c = KEEL_NONE);
        case 31: return TYPE(.kind = KEEL_TYPE_FUNCTION, .b = LIST(b, f), .c = LIST(b, f));
        case 32: return TYPE(.kind = KEEL_TYPE_FUNCTION, .b = KEEL_NONE, .c = LIST(b, f, f));
        case 33: return TYPE(.kind = KEEL_TYPE_QUANTIZED, .a = i, .b = f, .c = layout);
        case 34: return TYPE(.kind = KEEL_TYPE_QUANTIZED, .a = i, .b = f, .c = other);
        case 35: return TYPE(.kind = KEEL_TYPE_QUANTIZED, .a = f, .b = i, .c = layout);
        case 36: return TYPE(.kind = KEEL_TYPE_QUANTIZED, .a = i, .b = i, .c = layout);
        case 37: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2, 3, 1),
             .c = KEEL_NONE);
        case 38: return TYPE(.kind = KEEL_TYPE_TUPLE, .b = KEEL_NONE, .c = KEEL_NONE);
        case 39: return TYPE(.kind = KEEL_TYPE_TENSOR, .a = f, .b = INTS(b, 2, 3),
             .c = ATTR(.kind = KEEL_ATTR_NONE)); // written as one more dimension would be
        default: return KEEL_NONE;
    }
}
// clang-format on

// As the type of an attribute.
static bool carries_type(build_t *b, unsigned n) {
    keel_type_id_t type = nth_type(b, n);
    b->program.attributes = DICT(b, {"v", ATTR(.kind = KEEL_ATTR_TYPE, .a = type)});
    return type != KEEL_NONE;
}

// As the type of the one argument, of an argument's attribute, and of what an operation gives.
static bool takes_type(build_t *b, unsigned n) {
    keel_type_id_t type = nth_type(b, n);
    if (type == KEEL_NONE) return false;
    b->program.entry = begin_function(b, (fn_t){"main", type, KEEL_NONE, true});
    add_op(b, (op_t){"return", KEEL_NONE, KEEL_NONE, {argument_of(b, b->program.entry)}, 1});
    end_function(b, b->program.entry);
    return true;
}

static bool gives_type(build_t *b, unsigned n) {
    keel_type_id_t type = nth_type(b, n);
    if (type == KEEL_NONE) return false;
    b->program.entry = begin_function(b, (fn_t){"main", f32(b), KEEL_NONE, true});
    add_op(b, (op_t){"constant", KEEL_NONE, type, {0}, 0});
    end_function(b, b->program.entry);
    return true;
}

static void every_part_of_a_type_counts(void **state) {
    (void)state;
    assert_all_differ(carries_type, 40);
    assert_all_differ(takes_type, 40);
    assert_all_differ(gives_type, 40);
}

// ---- attributes --------------------------------------------------------------------------------

static uint32_t number_of(build_t *b, int64_t value) {
    uint32_t at = 0;
    MUST(keel_program_add_int(&b->program, value, &at));
    return at;
}

static uint32_t blob_of(build_t *b, const void *data, size_t size) {
    uint32_t at = 0;
    MUST(keel_program_add_blob(&b->program, keel_bytes(data, size), &at));
    return at;
}

static keel_attr_id_t enumerated(build_t *b, uint16_t klass, uint32_t value) {
    return ATTR(.kind = KEEL_ATTR_ENUM, .klass = klass, .a = value);
}

static keel_attr_id_t texts(build_t *b, keel_type_id_t type, const char *one, const char *two,
                            uint8_t splat) {
    return ATTR(.kind = KEEL_ATTR_STRINGS, .aux = splat, .a = type,
                .b = LIST(b, text(b, one), text(b, two)));
}

static keel_attr_id_t record(build_t *b, uint16_t klass, const char *name, keel_attr_id_t value) {
    return ATTR(.kind = KEEL_ATTR_DICT, .klass = klass, .b = LIST(b, text(b, name), value));
}

// clang-format off
static keel_attr_id_t nth_attr(build_t *b, unsigned n) {
    static const uint8_t zeros[400] = {0}, bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static uint8_t nearly[400];
    nearly[399] = 1;
    keel_type_id_t f = f32(b), i = integer(b, 32, KEEL_SIGNLESS);
    keel_attr_id_t x = string_attr(b, "x"), y = string_attr(b, "y");
    switch (n) {
        case 0: return x;
        case 1: return y;
        case 2: return ATTR(.kind = KEEL_ATTR_STRING, .a = text(b, "x"), .b = f);
        case 3: return ATTR(.kind = KEEL_ATTR_STRING, .a = text(b, "x"), .b = i);
        case 4: return symbol_attr(b, "x");
        case 5: return ATTR(.kind = KEEL_ATTR_SYMBOL, .a = text(b, "x"), .b = LIST(b, x));
        case 6: return ATTR(.kind = KEEL_ATTR_SYMBOL, .a = text(b, "x"), .b = LIST(b, y));
        case 7: return ATTR(.kind = KEEL_ATTR_NONE);
        case 8: return ATTR(.kind = KEEL_ATTR_UNIT);
        case 9: return ATTR(.kind = KEEL_ATTR_BOOL, .a = 0);
        case 10: return ATTR(.kind = KEEL_ATTR_BOOL, .a = 1);
        case 11: return ATTR(.kind = KEEL_ATTR_INT, .a = i, .b = number_of(b, 1));
        case 12: return ATTR(.kind = KEEL_ATTR_INT, .a = i, .b = number_of(b, -1));
        case 13: return ATTR(.kind = KEEL_ATTR_INT, .a = KEEL_NONE, .b = number_of(b, 1));
        case 14: return ATTR(.kind = KEEL_ATTR_FLOAT, .a = f, .b = number_of(b, 1));
        case 15: return ATTR(.kind = KEEL_ATTR_FLOAT, .a = f, .b = number_of(b, INT64_MIN));
        case 16: return ATTR(.kind = KEEL_ATTR_WIDE_INT, .a = i, .b = INTS(b, 1, 2));
        case 17: return ATTR(.kind = KEEL_ATTR_WIDE_INT, .a = i, .b = INTS(b, 2, 1));
        case 18: return ATTR(.kind = KEEL_ATTR_WIDE_INT, .a = f, .b = INTS(b, 1, 2));
        case 19: return ATTR(.kind = KEEL_ATTR_TYPE, .a = f);
        case 20: return ATTR(.kind = KEEL_ATTR_TYPE, .a = i);
        case 21: return enumerated(b, KEEL_ENUM_PRECISION, 1);
        case 22: return enumerated(b, KEEL_ENUM_PRECISION, 2);
        case 23: return enumerated(b, KEEL_ENUM_FFT_TYPE, 1);
        case 24: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = KEEL_NONE);
        case 25: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, x));
        case 26: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, x, y));
        case 27: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, y, x));
        case 28: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, x, x));
        case 29: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, ATTR(.kind = KEEL_ATTR_ARRAY,
             .b = LIST(b, x))));
        case 30: return ATTR(.kind = KEEL_ATTR_INTS, .b = INTS(b, 1, 2));
        case 31: return ATTR(.kind = KEEL_ATTR_INTS, .b = INTS(b, 1, -2));
        case 32: return ATTR(.kind = KEEL_ATTR_INTS, .b = INTS(b, 1));
        case 33: return ATTR(.kind = KEEL_ATTR_INTS, .klass = KEEL_RECORD_TYPE_EXTENSIONS,
             .b = INTS(b, 1));
        case 34: return tensor_attr(b, tensor_of(b, f, 2), bytes, 8);
        case 35: return tensor_attr(b, tensor_of(b, i, 2), bytes, 8);
        case 36: return tensor_attr(b, tensor_of(b, f, 2), zeros, 8);
        case 37: return tensor_attr(b, tensor_of(b, f, 100), zeros, 400);
        case 38: return tensor_attr(b, tensor_of(b, f, 100), nearly, 400);
        case 39: return ATTR(.kind = KEEL_ATTR_DENSE_ARRAY, .a = f, .b = blob_of(b, bytes, 8));
        case 40: return ATTR(.kind = KEEL_ATTR_DENSE_ARRAY, .a = i, .b = blob_of(b, bytes, 8));
        case 41: return ATTR(.kind = KEEL_ATTR_DENSE_ARRAY, .a = f, .b = blob_of(b, bytes, 4));
        case 42: return ATTR(.kind = KEEL_ATTR_DENSE_ARRAY, .a = f, .b = blob_of(b, zeros, 400));
        case 43: return ATTR(.kind = KEEL_ATTR_DENSE_ARRAY, .a = f, .b = blob_of(b, nearly, 400));
        case 44: return texts(b, f, "ab", "c", 0);
        case 45: return texts(b, f, "a", "bc", 0);
        case 46: return texts(b, f, "ab", "c", 1);
        case 47: return texts(b, i, "ab", "c", 0);
        case 48: return ATTR(.kind = KEEL_ATTR_SPARSE, .a = f, .b = LIST(b, x, y));
        case 49: return ATTR(.kind = KEEL_ATTR_SPARSE, .a = f, .b = LIST(b, y, x));
        case 50: return ATTR(.kind = KEEL_ATTR_SPARSE, .a = i, .b = LIST(b, x, y));
        case 51: return ATTR(.kind = KEEL_ATTR_DISTINCT, .a = x);
        case 52: return ATTR(.kind = KEEL_ATTR_DISTINCT, .a = y);
        case 53: return ATTR(.kind = KEEL_ATTR_BYTES, .a = text(b, "x"), .b = blob_of(b, bytes, 8));
        case 54: return ATTR(.kind = KEEL_ATTR_BYTES, .a = text(b, "y"), .b = blob_of(b, bytes, 8));
        case 55: return ATTR(.kind = KEEL_ATTR_BYTES, .a = text(b, "x"), .b = blob_of(b, bytes, 7));
        case 56: return DICT(b, {"a", x});
        case 57: return DICT(b, {"a", y});
        case 58: return DICT(b, {"b", x});
        case 59: return DICT(b, {"a", x}, {"b", y});
        case 60: return DICT(b, {"a", y}, {"b", x});
        case 61: return record(b, KEEL_RECORD_SUB_AXIS, "a", x);
        case 62: return record(b, KEEL_RECORD_AXIS_REF, "a", x);
        case 63: return ATTR(.kind = KEEL_ATTR_DICT, .b = KEEL_NONE);
        case 64: return ATTR(.kind = KEEL_ATTR_LOC_UNKNOWN);
        case 65: return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, ATTR(.kind = KEEL_ATTR_DISTINCT,
             .a = x), ATTR(.kind = KEEL_ATTR_DISTINCT, .a = x)));
        case 66: { keel_attr_id_t one = ATTR(.kind = KEEL_ATTR_DISTINCT,
             .a = x); return ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, one, one)); }
        case 67: return ATTR(.kind = KEEL_ATTR_WIDE_INT, .a = i, .b = INTS(b, 1));
        default: return KEEL_NONE;
    }
}
// clang-format on

static bool carries_attr(build_t *b, unsigned n) {
    keel_attr_id_t attr = nth_attr(b, n);
    if (attr == KEEL_NONE) return false;
    b->program.attributes = DICT(b, {"v", attr});
    return true;
}

// What an operation carries is hashed in its own way.
static bool operation_carries_attr(build_t *b, unsigned n) {
    keel_attr_id_t attr = nth_attr(b, n);
    if (attr == KEEL_NONE) return false;
    b->program.entry = begin_function(b, (fn_t){"main", f32(b), KEEL_NONE, true});
    add_op(b, (op_t){"constant", DICT(b, {"v", attr}), f32(b), {0}, 0});
    end_function(b, b->program.entry);
    return true;
}

static bool argument_carries_attr(build_t *b, unsigned n) {
    keel_attr_id_t attr = nth_attr(b, n);
    if (attr == KEEL_NONE) return false;
    keel_attr_id_t carried = DICT(b, {"v", attr});
    keel_attr_id_t all = list_attr(b, KEEL_ATTR_ARRAY, &carried, 1);
    b->program.entry = begin_function(b, (fn_t){"main", f32(b), all, true});
    end_function(b, b->program.entry);
    return true;
}

static void every_part_of_an_attribute_counts(void **state) {
    (void)state;
    assert_all_differ(carries_attr, 68);
    assert_all_differ(operation_carries_attr, 68);
    assert_all_differ(argument_carries_attr, 68);
}

// Where the program says the same with other entries of its tables.
static bool says_the_same(build_t *b, unsigned n) {
    for (unsigned i = 0; i < n; ++i) { // so that all that follows has other numbers
        text(b, "unused");
        integer(b, 7 + i, KEEL_SIGNLESS);
        int_attr(b, (int64_t)i);
    }
    keel_type_id_t f = f32(b), again = f32(b);
    keel_attr_id_t x = string_attr(b, "x"), another_x = string_attr(b, "x");
    keel_attr_id_t list = n == 1 ? ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, x, another_x))
                                 : ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, x, x));
    keel_attr_id_t type = ATTR(.kind = KEEL_ATTR_TYPE, .a = n == 2 ? again : f);
    keel_attr_id_t wide = DICT(b, {"a", x}, {"b", type}), reversed = DICT(b, {"b", type}, {"a", x});
    b->program.attributes =
        n == 3 ? DICT(b, {"v", list}, {"w", reversed}) : DICT(b, {"w", wide}, {"v", list});
    b->program.entry = begin_function(b, (fn_t){"main", n == 4 ? again : f, KEEL_NONE, true});
    keel_value_id_t v = argument_of(b, b->program.entry);
    keel_attr_id_t empty = ATTR(.kind = KEEL_ATTR_DICT, .b = KEEL_NONE);
    add_op(b, (op_t){"negate", n == 5 ? empty : KEEL_NONE, n == 6 ? again : f, {v}, 1});
    add_op(b, (op_t){"negate", KEEL_NONE, f, {v}, 1});
    // Attributes and a name that several operations share, and those that each has of its own.
    keel_attr_id_t shared = DICT(b, {"c", x});
    for (unsigned i = 0; i < 3; ++i) {
        keel_op_id_t op = b->program.operations.count;
        add_op(b, (op_t){"abs", n == 7 ? DICT(b, {"c", x}) : shared, f, {v}, 1});
        if (n != 8) continue;
        uint16_t name = b->program.operations.data[op].name;
        keel_op_name_t copy = b->program.op_names.data[name];
        MUST(keel_table_reserve(&b->program.op_names, 1));
        b->program.op_names.data[b->program.op_names.count] = copy;
        b->program.operations.data[op].name = (uint16_t)b->program.op_names.count++;
    }
    end_function(b, b->program.entry);
    uint32_t other = begin_function(b, (fn_t){"other", f, KEEL_NONE, false});
    end_function(b, other);
    if (n == 9) { // the operation that is the function, too
        keel_operation_t *own =
            &b->program.operations.data[b->program.functions.data[other].operation];
        keel_op_name_t copy = b->program.op_names.data[own->name & ~(unsigned)KEEL_OP_HAS_REGIONS];
        MUST(keel_table_reserve(&b->program.op_names, 1));
        b->program.op_names.data[b->program.op_names.count] = copy;
        own->name = (uint16_t)(b->program.op_names.count++ | KEEL_OP_HAS_REGIONS);
    }
    return n < 10;
}

static void the_same_program_in_other_tables_has_the_same_key(void **state) {
    (void)state;
    assert_all_the_same(says_the_same, 10);
}

// ---- functions ---------------------------------------------------------------------------------

static bool has_functions(build_t *b, unsigned n) {
    keel_program_t *p = &b->program;
    keel_type_id_t f = f32(b);
    keel_attr_id_t x = DICT(b, {"v", string_attr(b, "x")}), none = DICT(b, {"jax.arg_info", x});
    const uint32_t first[] = {x, none}, second[] = {none, x};
    uint32_t main = begin_function(b, (fn_t){"main", f, KEEL_NONE, n != 1});
    keel_function_t *function = &p->functions.data[main];
    if (n != 2) p->entry = main;
    if (n == 3) function->argument_attributes = list_attr(b, KEEL_ATTR_ARRAY, first, 2);
    if (n == 4) function->argument_attributes = list_attr(b, KEEL_ATTR_ARRAY, second, 2);
    if (n == 5) function->result_attributes = list_attr(b, KEEL_ATTR_ARRAY, first, 2);
    if (n == 6) function->argument_attributes = x;
    if (n == 7) function->attributes = x;
    if (n == 8) function->root = p->operations.count;
    if (n == 9) function->root = p->operations.count + 1;
    if (n == 10) function->type = KEEL_NONE;
    keel_value_id_t v = argument_of(b, main);
    add_op(b, (op_t){"sine", KEEL_NONE, f, {v}, 1});
    add_op(b, (op_t){"sine", KEEL_NONE, f, {v}, 1});
    end_function(b, main);
    if (n == 11 || n == 12) {
        uint32_t other = begin_function(b, (fn_t){"other", f, KEEL_NONE, n == 12});
        end_function(b, other);
    }
    if (n == 13) p->format = KEEL_FORMAT_HLO;
    if (n == 14) p->attributes = x;
    if (n == 15) p->functions.data[main].argument_attributes = DICT(b, {"v", string_attr(b, "y")});
    return n < 16;
}

// A call that names its functions by strings, in a list of lists; they are changed, and stand
// before it or behind it.
static bool calls_by_strings(build_t *b, unsigned n, bool callees_first) {
    keel_program_t *p = &b->program;
    keel_type_id_t f = f32(b);
    for (int part = 0; part < 2; ++part) {
        if (part == callees_first) {
            p->entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
            keel_value_id_t x = argument_of(b, p->entry);
            keel_attr_id_t one = string_attr(b, "one"), two = string_attr(b, "two");
            keel_attr_id_t list = n == 1 ? ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, two, one))
                                         : ATTR(.kind = KEEL_ATTR_ARRAY, .b = LIST(b, one, two));
            const char *name = n == 2 ? "comment" : "called_computations";
            add_op(b, (op_t){"case", DICT(b, {name, n == 3 ? one : list}), f, {x}, 1});
            end_function(b, p->entry);
            continue;
        }
        for (int i = 0; i < 2; ++i) {
            uint32_t callee = begin_function(b, (fn_t){i ? "two" : "one", f, KEEL_NONE, false});
            keel_value_id_t x = argument_of(b, callee);
            const char *op = i ? n == 4 ? "tan" : "cosine" : n == 5 ? "tan" : "sine";
            add_op(b, (op_t){op, KEEL_NONE, f, {x}, 1});
            end_function(b, callee);
        }
    }
    return n < 6;
}

static bool calls_later_functions(build_t *b, unsigned n) {
    return calls_by_strings(b, n, false);
}

static bool calls_earlier_functions(build_t *b, unsigned n) {
    return calls_by_strings(b, n, true);
}

static bool calls_either(build_t *b, unsigned n) {
    calls_by_strings(b, 0, n);
    return n < 2;
}

static void functions_named_by_strings_count_by_what_they_do(void **state) {
    (void)state;
    assert_all_differ(calls_later_functions, 6);
    assert_all_differ(calls_earlier_functions, 6);
    assert_all_the_same(calls_either, 2);
}

// The last function and, behind it, what is not an operation: a reference there is none of its own.
static bool ends_with_a_callee(build_t *b, unsigned n) {
    keel_attr_id_t callee = symbol_attr(b, "last"); // number 0, as what was never set
    keel_type_id_t f = f32(b);
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    keel_value_id_t x = argument_of(b, b->program.entry);
    add_op(b, (op_t){"call", DICT(b, {"callee", callee}), f, {x}, 1});
    end_function(b, b->program.entry);
    uint32_t last = begin_function(b, (fn_t){"last", f, KEEL_NONE, false});
    x = argument_of(b, last);
    add_op(b, (op_t){n == 1 ? "cosine" : "sine", KEEL_NONE, f, {x}, 1});
    end_function(b, last);
    return n < 2;
}

static void every_part_of_a_function_counts(void **state) {
    (void)state;
    assert_all_differ(has_functions, 16);
    assert_all_differ(ends_with_a_callee, 2);
}

// ---- the whole key -----------------------------------------------------------------------------

static keel_digest_t key_with(int changed, const char *bytes, size_t size) {
    keel_key_t key;
    keel_key_initialize(&key);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        MUST(keel_key_set(&key, (keel_component_t)i,
                          i == changed ? keel_bytes(bytes, size) : keel_bytes("same", 4),
                          KEEL_STR("for people")));
    MUST(keel_key_finish(&key));
    keel_digest_t digest = key.digest;
    keel_key_deinitialize(&key);
    return digest;
}

static void every_component_counts_in_its_own_place(void **state) {
    (void)state;
    keel_digest_t digests[2 * KEEL_COMPONENT_COUNT + 1];
    size_t count = 0;
    digests[count++] = key_with(-1, NULL, 0);
    for (int i = 0; i < KEEL_COMPONENT_KEY_VERSION; ++i) {
        digests[count++] = key_with(i, "other", 5);
        digests[count++] = key_with(i, NULL, 0);
    }
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < i; ++k)
            assert_false(keel_digest_equal(&digests[i], &digests[k]));
    keel_digest_t again = key_with(0, "other", 5);
    assert_true(keel_digest_equal(&again, &digests[1]));
}

static void what_is_read_by_people_is_no_part_of_a_key(void **state) {
    (void)state;
    keel_key_t a, b;
    keel_key_initialize(&a);
    keel_key_initialize(&b);
    MUST(keel_key_set(&a, KEEL_COMPONENT_CPU, keel_bytes("x", 1), KEEL_STR("one")));
    MUST(keel_key_set(&b, KEEL_COMPONENT_CPU, keel_bytes("x", 1), KEEL_STR("other")));
    MUST(keel_key_finish(&a));
    MUST(keel_key_finish(&b));
    assert_true(keel_digest_equal(&a.digest, &b.digest));
    assert_string_equal(a.values[KEEL_COMPONENT_CPU], "one");
    keel_key_deinitialize(&a);
    keel_key_deinitialize(&b);
}

// A long text is cut between characters, at most three bytes short of the limit.
static void a_long_text_is_cut_between_characters(void **state) {
    (void)state;
    char *text = malloc(KEEL_KEY_VALUE_LIMIT + 10);
    assert_non_null(text);
    for (size_t size = KEEL_KEY_VALUE_LIMIT - 1; size < KEEL_KEY_VALUE_LIMIT + 5; ++size) {
        for (size_t shift = 0; shift < 3; ++shift) {
            memset(text, 'a', shift);
            for (size_t i = shift; i < size; ++i)
                text[i] = "\xe2\x82\xac"[(i - shift) % 3];
            keel_key_t key;
            keel_key_initialize(&key);
            MUST(keel_key_set(&key, KEEL_COMPONENT_CPU, keel_bytes("x", 1),
                              (keel_str_t){text, size}));
            size_t kept = strlen(key.values[KEEL_COMPONENT_CPU]);
            if (size <= KEEL_KEY_VALUE_LIMIT) assert_int_equal(kept, size);
            if (size > KEEL_KEY_VALUE_LIMIT) {
                assert_in_range(kept, KEEL_KEY_VALUE_LIMIT - 2, KEEL_KEY_VALUE_LIMIT);
                assert_int_equal((kept - shift) % 3, 0);
            }
            keel_key_deinitialize(&key);
        }
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_a_type_counts),
        cmocka_unit_test(every_part_of_an_attribute_counts),
        cmocka_unit_test(the_same_program_in_other_tables_has_the_same_key),
        cmocka_unit_test(every_part_of_a_function_counts),
        cmocka_unit_test(functions_named_by_strings_count_by_what_they_do),
        cmocka_unit_test(every_component_counts_in_its_own_place),
        cmocka_unit_test(what_is_read_by_people_is_no_part_of_a_key),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
    };
    return cmocka_run_group_tests_name("key_meaning", tests, NULL, NULL);
}
