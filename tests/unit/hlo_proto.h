// Writing HloModuleProto by hand, and looking at what was read: for the tests of the HLO reader.
#ifndef KEEL_TESTS_HLO_PROTO_H_
#define KEEL_TESTS_HLO_PROTO_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/read.h"

// ---- writing protos ----------------------------------------------------------------------------

typedef keel_buffer_t proto_t;

static inline proto_t proto(void) {
    proto_t p;
    keel_buffer_initialize(&p, 0);
    return p;
}

static inline void varint(proto_t *p, uint64_t value) {
    for (; value > 127; value >>= 7)
        keel_buffer_byte(p, (uint8_t)(value | 128));
    keel_buffer_byte(p, (uint8_t)value);
}

static inline void put_int(proto_t *p, unsigned number, int64_t value) {
    varint(p, number << 3);
    varint(p, (uint64_t)value);
}

static inline void put_bytes(proto_t *p, unsigned number, const void *data, size_t size) {
    varint(p, number << 3 | 2);
    varint(p, size);
    keel_buffer_append(p, data, size);
}

static inline void put_text(proto_t *p, unsigned number, const char *text) {
    put_bytes(p, number, text, strlen(text));
}

static inline void put_packed(proto_t *p, unsigned number, const int64_t *values, size_t count) {
    proto_t list = proto();
    for (size_t i = 0; i < count; ++i)
        varint(&list, (uint64_t)values[i]);
    put_bytes(p, number, list.data, list.size);
    keel_buffer_deinitialize(&list);
}

// Adds the child to its parent and empties it.
static inline void put_message(proto_t *p, unsigned number, proto_t *child) {
    put_bytes(p, number, child->data, child->size);
    keel_buffer_deinitialize(child);
}

enum { PRED = 1, S32 = 4, F32 = 11, TUPLE = 13, S4 = 21 };

static inline proto_t shape(int element, const int64_t *dims, size_t rank) {
    proto_t p = proto(), layout = proto();
    int64_t order[8];
    for (size_t i = 0; i < rank; ++i)
        order[i] = (int64_t)(rank - 1 - i);
    put_int(&p, 2, element);
    if (rank) put_packed(&p, 3, dims, rank);
    if (rank) put_packed(&layout, 1, order, rank);
    put_message(&p, 5, &layout);
    return p;
}

static inline proto_t instruction(const char *opcode, int64_t id, const int64_t *operands,
                                  size_t count) {
    static const int64_t dims[] = {2, 3};
    proto_t p = proto(), type = shape(F32, dims, 2);
    put_text(&p, 1, opcode);
    put_text(&p, 2, opcode);
    put_message(&p, 3, &type);
    put_int(&p, 35, id);
    if (count) put_packed(&p, 36, operands, count);
    return p;
}

// A module of one computation `main` (id 7) around these instructions.
static inline proto_t module_of(proto_t *body, int64_t root) {
    proto_t p = proto(), computation = proto();
    put_text(&computation, 1, "main");
    keel_buffer_append(&computation, body->data, body->size);
    keel_buffer_deinitialize(body);
    put_int(&computation, 5, 7);
    put_int(&computation, 6, root);
    put_text(&p, 1, "module.1");
    put_message(&p, 3, &computation);
    put_int(&p, 6, 7);
    return p;
}

// A module of one instruction, which is given without its id.
static inline proto_t module_of_one(proto_t *one) {
    proto_t body = proto();
    put_int(one, 35, 1);
    put_message(&body, 2, one);
    return module_of(&body, 1);
}

static inline keel_bytes_t bytes_of(const proto_t *p) {
    assert_null(keel_buffer_status(p));
    return keel_buffer_bytes(p);
}

// ---- looking at what was read ------------------------------------------------------------------

static inline void assert_read(const proto_t *p, keel_program_t *program) {
    keel_status_t status = keel_read_hlo(bytes_of(p), program);
    if (status) fail_msg("%s", keel_status_message(status));
}

// Reads the module, which must be refused with that code and those words; frees it.
static inline void assert_refused(proto_t *p, keel_code_t code, const char *words) {
    keel_program_t program;
    keel_status_t status = keel_read_hlo(bytes_of(p), &program);
    assert_int_equal(keel_status_code(status), code);
    if (!strstr(keel_status_message(status), words))
        fail_msg("%s: does not say %s", keel_status_message(status), words);
    keel_status_ignore(status);
    assert_int_equal(program.operations.count, 0);
    keel_buffer_deinitialize(p);
}

static inline keel_attr_t attr_of(const keel_program_t *program, keel_attr_id_t dict,
                                  const char *name) {
    keel_attr_id_t found = keel_program_dict_find(program, dict, name);
    if (found == KEEL_NONE) fail_msg("no attribute %s", name);
    return program->attrs.data[found];
}

static inline keel_attr_t op_attr(const keel_program_t *program, keel_op_id_t op,
                                  const char *name) {
    return attr_of(program, program->operations.data[op].attributes, name);
}

static inline bool has_attr(const keel_program_t *program, keel_op_id_t op, const char *name) {
    keel_attr_id_t dict = program->operations.data[op].attributes;
    return keel_program_dict_find(program, dict, name) != KEEL_NONE;
}

static inline int64_t int_of(const keel_program_t *program, keel_attr_t attr) {
    assert_int_equal(attr.kind, KEEL_ATTR_INT);
    return program->ints.data[attr.b];
}

static inline keel_ints_t ints_of(const keel_program_t *program, keel_attr_t attr) {
    assert_int_equal(attr.kind, KEEL_ATTR_INTS);
    return keel_program_ints(program, attr.b);
}

static inline void assert_text(const keel_program_t *program, keel_string_id_t id,
                               const char *text) {
    keel_str_t got = keel_program_str(program, id);
    if (!keel_str_is(got, text)) fail_msg("%.*s is not %s", KEEL_STR_ARGS(got), text);
}

static inline void assert_op(const keel_program_t *program, keel_op_id_t op, const char *name) {
    assert_text(program, keel_program_op_name(program, op)->name, name);
}

static inline keel_op_id_t find_op(const keel_program_t *program, const char *name) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op)
        if (keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name), name))
            return op;
    fail_msg("no %s", name);
    return KEEL_NONE;
}

#endif // KEEL_TESTS_HLO_PROTO_H_
