// Small programs built by hand, for the tests of keys.
#ifndef KEEL_TESTS_KEY_BUILD_H_
#define KEEL_TESTS_KEY_BUILD_H_

#include "key/key.h"

#define MUST(expression) assert_null(expression)

typedef struct build_t {
    keel_program_t program;
    uint32_t values;
} build_t;

static inline void build_begin(build_t *b, keel_format_t format) {
    keel_program_initialize(&b->program);
    b->program.format = format;
    b->values = 0;
}

static inline void push_op(build_t *b, keel_operation_t op) {
    keel_program_t *p = &b->program;
    MUST(keel_table_reserve(&p->operations, 1));
    p->operations.data[p->operations.count++] = op;
}

// The sentinel.
static inline void build_end(build_t *b) {
    push_op(b, (keel_operation_t){.first_operand = b->program.operands.count,
                                  .first_result = b->values});
}

static inline keel_string_id_t text(build_t *b, const char *s) {
    keel_string_id_t id = 0;
    MUST(keel_program_add_text(&b->program, keel_str(s), &id));
    return id;
}

static inline keel_type_id_t push_type(build_t *b, keel_type_t type) {
    keel_program_t *p = &b->program;
    MUST(keel_table_reserve(&p->types, 1));
    p->types.data[p->types.count++] = type;
    return p->types.count - 1;
}

static inline keel_type_id_t f32(build_t *b) {
    return push_type(b, (keel_type_t){.kind = KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F32});
}

static inline keel_type_id_t i1(build_t *b) {
    return push_type(b, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 1});
}

static inline keel_type_id_t tensor_of(build_t *b, keel_type_id_t element, int64_t dim) {
    uint32_t dims = 0;
    MUST(keel_program_add_ints(&b->program, &dim, 1, &dims));
    return push_type(
        b, (keel_type_t){.kind = KEEL_TYPE_TENSOR, .a = element, .b = dims, .c = KEEL_NONE});
}

static inline keel_attr_id_t push_attr(build_t *b, keel_attr_t attr) {
    keel_attr_id_t id = 0;
    MUST(keel_program_add_attr(&b->program, attr, &id));
    return id;
}

static inline keel_attr_id_t string_attr(build_t *b, const char *s) {
    return push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = text(b, s), .b = KEEL_NONE});
}

static inline keel_attr_id_t symbol_attr(build_t *b, const char *s) {
    return push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = text(b, s), .b = KEEL_NONE});
}

static inline keel_attr_id_t int_attr(build_t *b, int64_t value) {
    uint32_t at = 0;
    MUST(keel_program_add_int(&b->program, value, &at));
    keel_type_id_t type = push_type(b, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 32});
    return push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_INT, .a = type, .b = at});
}

static inline keel_attr_id_t list_attr(build_t *b, uint8_t kind, const uint32_t *items,
                                       uint32_t count) {
    uint32_t list = 0;
    MUST(keel_program_add_list(&b->program, items, count, &list));
    return push_attr(b, (keel_attr_t){.kind = kind, .b = list});
}

// Names and values in turn: dict(b, 2, "a", x, "b", y).
typedef struct member_t {
    const char *name;
    keel_attr_id_t value;
} member_t;

static inline keel_attr_id_t dict(build_t *b, const member_t *members, uint32_t count) {
    uint32_t pairs[32];
    assert_true(count <= 16);
    for (uint32_t i = 0; i < count; ++i) {
        pairs[2 * i] = text(b, members[i].name);
        pairs[2 * i + 1] = members[i].value;
    }
    return list_attr(b, KEEL_ATTR_DICT, pairs, 2 * count);
}
#define DICT(b, ...)                                                                               \
    dict((b), (const member_t[]){__VA_ARGS__},                                                     \
         sizeof((const member_t[]){__VA_ARGS__}) / sizeof(member_t))

static inline keel_attr_id_t tensor_attr(build_t *b, keel_type_id_t type, const void *data,
                                         size_t size) {
    uint32_t blob = 0;
    MUST(keel_program_add_blob(&b->program, keel_bytes(data, size), &blob));
    return push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = type, .b = blob});
}

static inline uint16_t op_name(build_t *b, const char *dialect, const char *name,
                               uint32_t version) {
    keel_program_t *p = &b->program;
    for (uint32_t i = 0; i < p->op_names.count; ++i)
        if (keel_str_is(keel_program_str(p, p->op_names.data[i].name), name) &&
            p->op_names.data[i].version == version)
            return (uint16_t)i;
    keel_op_name_t entry = {text(b, dialect), text(b, name), version};
    MUST(keel_table_reserve(&p->op_names, 1));
    p->op_names.data[p->op_names.count++] = entry;
    return (uint16_t)(p->op_names.count - 1);
}

static inline keel_value_id_t new_value(build_t *b, keel_type_id_t type) {
    keel_program_t *p = &b->program;
    MUST(keel_table_reserve(&p->value_types, 1));
    p->value_types.data[p->value_types.count++] = (uint16_t)type;
    return b->values++;
}

typedef struct op_t {
    const char *name;
    keel_attr_id_t attributes;
    keel_type_id_t type; // of its result; NONE where it has none
    uint32_t operands[6];
    uint32_t operand_count;
} op_t;

// Gives the result's value.
static inline keel_value_id_t add_op(build_t *b, op_t op) {
    keel_program_t *p = &b->program;
    keel_operation_t entry = {.first_operand = p->operands.count,
                              .first_result = b->values,
                              .location = KEEL_NONE,
                              .attributes = op.attributes,
                              .name = op_name(b, "vhlo", op.name, 1),
                              .result_count = op.type != KEEL_NONE};
    for (uint32_t i = 0; i < op.operand_count; ++i) {
        MUST(keel_table_reserve(&p->operands, 1));
        p->operands.data[p->operands.count++] = op.operands[i];
    }
    push_op(b, entry);
    return op.type == KEEL_NONE ? KEEL_NONE : new_value(b, op.type);
}

// Begins a function with one block and one argument of the type; gives its index.
typedef struct fn_t {
    const char *name;
    keel_type_id_t type;
    keel_attr_id_t argument_attributes; // ARRAY or NONE
    bool is_public;
} fn_t;

static inline uint32_t begin_function(build_t *b, fn_t fn) {
    keel_program_t *p = &b->program;
    keel_op_id_t op = p->operations.count;
    keel_attr_id_t attributes = DICT(b, {"sym_name", string_attr(b, fn.name)});
    push_op(b, (keel_operation_t){.first_operand = p->operands.count,
                                  .first_result = b->values,
                                  .location = KEEL_NONE,
                                  .attributes = attributes,
                                  .name = op_name(b, "vhlo", "func", 1) | KEEL_OP_HAS_REGIONS});
    uint32_t types = 0;
    MUST(keel_program_add_list(p, &fn.type, 1, &types));
    keel_type_id_t type =
        push_type(b, (keel_type_t){.kind = KEEL_TYPE_FUNCTION, .b = types, .c = types});
    keel_value_id_t argument = new_value(b, fn.type);
    MUST(keel_table_reserve(&p->blocks, 1));
    MUST(keel_table_reserve(&p->regions, 1));
    MUST(keel_table_reserve(&p->functions, 1));
    p->blocks.data[p->blocks.count++] = (keel_block_t){.first_op = p->operations.count,
                                                       .first_argument = argument,
                                                       .argument_count = 1,
                                                       .argument_locations = KEEL_NONE};
    p->regions.data[p->regions.count++] =
        (keel_region_t){.parent = op, .first_block = p->blocks.count - 1, .block_count = 1};
    p->functions.data[p->functions.count] =
        (keel_function_t){.name = text(b, fn.name),
                          .operation = op,
                          .region = p->regions.count - 1,
                          .type = type,
                          .argument_attributes = fn.argument_attributes,
                          .result_attributes = KEEL_NONE,
                          .first_value = argument,
                          .attributes = KEEL_NONE,
                          .root = KEEL_NONE,
                          .is_public = fn.is_public};
    return p->functions.count++;
}

static inline keel_value_id_t argument_of(const build_t *b, uint32_t function) {
    const keel_program_t *p = &b->program;
    return p->blocks.data[p->regions.data[p->functions.data[function].region].first_block]
        .first_argument;
}

static inline void end_function(build_t *b, uint32_t function) {
    keel_program_t *p = &b->program;
    keel_region_t *region = &p->regions.data[p->functions.data[function].region];
    region->end = p->operations.count;
    p->blocks.data[region->first_block].end_op = p->operations.count;
    p->functions.data[function].end_value = b->values;
}

// The digest; the program is released.
static inline keel_digest_t digest_of(build_t *b) {
    keel_digest_t digest;
    MUST(keel_key_program(&b->program, &digest));
    keel_program_deinitialize(&b->program);
    return digest;
}

#endif // KEEL_TESTS_KEY_BUILD_H_
