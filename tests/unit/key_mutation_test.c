// Parsed programs, changed in one place at a time: a change that matters must change the key; one
// that does not must not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "key/key.h"
#include "read/read.h"

#define MUST(expression) assert_null(expression)

typedef struct subject_t {
    const char *name;
    uint8_t *bytes;
    size_t size;
    keel_program_t program;
    keel_digest_t digest;
    uint32_t moved, stride, turn;
    uint8_t *seen; // attributes that were changed already
    uint32_t attr_count;
} subject_t;

static const char *const samples[] = {"mlir/composite.v1_20.mlir",
                                      "mlir/cond_case.mlir",
                                      "mlir/consts_packed.v1_20.mlir",
                                      "mlir/donate.mlir",
                                      "mlir/dtypes.mlir",
                                      "mlir/gpt_step.mlir",
                                      "mlir/gspmd_spmd_auto.mlir",
                                      "mlir/linalg.mlir",
                                      "mlir/loc_none.mlir",
                                      "mlir/locations.mlir",
                                      "mlir/nested_jit.mlir",
                                      "mlir/nested_jit.v0_9.mlir",
                                      "mlir/ordered_callback.mlir",
                                      "mlir/pure_callback.mlir",
                                      "mlir/scan_while.mlir",
                                      "mlir/shard_map.v1_13.mlir",
                                      "mlir/shard_map.v1_20.mlir",
                                      "mlir/spmd_auto.mlir",
                                      "hlo/conv_pool.hlo",
                                      "hlo/linear_step.hlo",
                                      "hlo/linear_step_nodebug.hlo",
                                      "hlo/spmd.hlo",
                                      "hlo/where.hlo"};

static keel_digest_t key_of(const keel_program_t *program) {
    keel_digest_t digest = {0};
    keel_status_t status = keel_key_program(program, &digest);
    // A change may make a program that cannot be keyed; its bytes are keyed then, which differ.
    if (status) memset(&digest, 0xee, sizeof digest);
    keel_status_ignore(status);
    return digest;
}

// A type that no value has. Made when the program is loaded, so that no table moves later.
static keel_type_id_t new_type(keel_program_t *p) {
    for (uint32_t i = 0; i < p->types.count; ++i)
        if (p->types.data[i].kind == KEEL_TYPE_INTEGER && p->types.data[i].a == 77) return i;
    MUST(keel_table_reserve(&p->types, 1));
    p->types.data[p->types.count] = (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 77};
    return p->types.count++;
}

static void load(subject_t *s, const char *name) {
    *s = (subject_t){.name = name};
    char *path;
    MUST(keel_path(&path, "%s/%s", KEEL_TEST_SAMPLES, name));
    MUST(keel_file_read(path, 16 << 20, &s->bytes, &s->size));
    keel_free(path);
    MUST(keel_read(keel_bytes(s->bytes, s->size), &s->program));
    new_type(&s->program);
    s->digest = key_of(&s->program);
    s->attr_count = s->program.attrs.count;
    s->seen = calloc(s->attr_count + 1, 1);
    s->stride = s->program.operations.count / 300 + 1;
}

static void release(subject_t *s) {
    keel_program_deinitialize(&s->program);
    keel_free(s->bytes);
    free(s->seen);
}

// Large programs are changed at every n-th place only.
static bool is_turn(subject_t *s) {
    return ++s->turn % s->stride == 0;
}

static void assert_moved(subject_t *s, const char *what, uint32_t at) {
    keel_digest_t digest = key_of(&s->program);
    if (keel_digest_equal(&digest, &s->digest))
        fail_msg("%s: the key did not move with %s %u", s->name, what, at);
    ++s->moved;
}

static void assert_stayed(subject_t *s, const char *what) {
    keel_digest_t digest = key_of(&s->program);
    if (!keel_digest_equal(&digest, &s->digest))
        fail_msg("%s: the key moved with %s", s->name, what);
}

// Sets a place, looks at the key, sets it back.
#define CHANGE(s, place, value, what, at)                                                          \
    do {                                                                                           \
        __typeof__(place) kept_ = (place);                                                         \
        (place) = (value);                                                                         \
        assert_moved((s), (what), (uint32_t)(at));                                                 \
        (place) = kept_;                                                                           \
    } while (0)

// ---- attributes --------------------------------------------------------------------------------

static uint32_t new_int(keel_program_t *p, int64_t value) {
    uint32_t at = 0;
    MUST(keel_program_add_int(p, value, &at));
    return at;
}

static keel_string_id_t new_text(keel_program_t *p, const char *text) {
    keel_string_id_t id = 0;
    MUST(keel_program_add_text(p, keel_str(text), &id));
    return id;
}

static void change_list(subject_t *s, uint32_t *list, keel_attr_id_t id) {
    uint32_t count = list[0];
    if (!count) return;
    CHANGE(s, list[0], count - 1, "one item less of attribute", id);
    for (uint32_t i = 1; i < count; ++i) {
        if (keel_bytes_equal(keel_bytes(&s->program.attrs.data[list[i]], sizeof(keel_attr_t)),
                             keel_bytes(&s->program.attrs.data[list[i + 1]], sizeof(keel_attr_t))))
            continue;
        uint32_t kept = list[i];
        list[i] = list[i + 1];
        assert_moved(s, "items repeated in attribute", id);
        list[i] = kept;
    }
}

static void change_blob(subject_t *s, keel_attr_id_t id) {
    keel_bytes_t *blob = &s->program.blobs.data[s->program.attrs.data[id].b], kept = *blob;
    if (!blob->size) return;
    uint8_t *copy = malloc(blob->size);
    assert_non_null(copy);
    memcpy(copy, blob->data, blob->size);
    *blob = keel_bytes(copy, blob->size);
    size_t step = blob->size / 16 + 1;
    for (size_t i = 0; i < blob->size; i += step) {
        copy[i] ^= 1;
        assert_moved(s, "a bit of the constant", id);
        copy[i] ^= 1;
    }
    *blob = kept;
    free(copy);
}

static void change_ints(subject_t *s, keel_attr_id_t id) {
    int64_t *list = &s->program.ints.data[s->program.attrs.data[id].b];
    for (int64_t i = 1; i <= list[0]; ++i)
        CHANGE(s, list[i], list[i] + 1, "a number of attribute", id);
    if (list[0]) CHANGE(s, list[0], list[0] - 1, "one number less of attribute", id);
}

static void change_attr(subject_t *s, keel_attr_id_t id);

static bool is_named(const keel_program_t *p, keel_string_id_t id, const char *const *names) {
    for (; *names; ++names)
        if (keel_str_is(keel_program_str(p, id), *names)) return true;
    return false;
}

// All entries but those of the given names; the dictionary's own list is changed in place.
static void change_dict(subject_t *s, keel_attr_id_t id, const char *const *but) {
    keel_program_t *p = &s->program;
    uint32_t list = p->attrs.data[id].b, count = p->pool.data[list];
    for (uint32_t i = 1; i < count; i += 2) {
        keel_string_id_t name = p->pool.data[list + i];
        if (is_named(p, name, but)) continue;
        CHANGE(s, p->pool.data[list + i], new_text(p, "another name"), "an entry's name in", id);
        change_attr(s, p->pool.data[list + i + 1]);
    }
    if (count && !is_named(p, p->pool.data[list + count - 1], but))
        CHANGE(s, p->pool.data[list], count - 2, "one entry less of dictionary", id);
}

static void change_each(subject_t *s, keel_attr_id_t id) {
    uint32_t list = s->program.attrs.data[id].b;
    change_list(s, &s->program.pool.data[list], id);
    for (uint32_t i = 1; i <= s->program.pool.data[list]; ++i)
        change_attr(s, s->program.pool.data[list + i]);
}

static void change_attr(subject_t *s, keel_attr_id_t id) {
    static const char *const none[] = {NULL};
    keel_program_t *p = &s->program;
    if (id >= s->attr_count || s->seen[id]) return;
    s->seen[id] = 1;
    keel_attr_t *attr = &p->attrs.data[id];
    switch (attr->kind) {
        case KEEL_ATTR_BOOL:
        case KEEL_ATTR_ENUM:
            CHANGE(s, attr->a, attr->a ^ 1, "the value of attribute", id);
            break;
        case KEEL_ATTR_INT:
        case KEEL_ATTR_FLOAT:
            CHANGE(s, attr->b, new_int(p, p->ints.data[attr->b] ^ 1), "the value of attribute", id);
            CHANGE(s, attr->a, new_type(p), "the type of attribute", id);
            break;
        case KEEL_ATTR_STRING:
        case KEEL_ATTR_SYMBOL:
            CHANGE(s, attr->a, new_text(p, "another text"), "the text of attribute", id);
            break;
        case KEEL_ATTR_TYPE:
            CHANGE(s, attr->a, new_type(p), "the type in attribute", id);
            break;
        case KEEL_ATTR_ARRAY:
        case KEEL_ATTR_SPARSE:
            change_each(s, id);
            break;
        case KEEL_ATTR_DICT:
            change_dict(s, id, none);
            break;
        case KEEL_ATTR_INTS:
        case KEEL_ATTR_WIDE_INT:
            change_ints(s, id);
            break;
        case KEEL_ATTR_TENSOR:
            CHANGE(s, attr->a, new_type(p), "the type of constant", id);
            change_blob(s, id);
            break;
        case KEEL_ATTR_DENSE_ARRAY:
        case KEEL_ATTR_BYTES:
            change_blob(s, id);
            break;
        case KEEL_ATTR_UNIT:
            CHANGE(s, attr->kind, KEEL_ATTR_NONE, "attribute", id);
            break;
        default:
            break;
    }
}

// ---- operations --------------------------------------------------------------------------------

// A name that no operation has.
static uint16_t other_name(keel_program_t *p, uint16_t name) {
    uint16_t regions = name & KEEL_OP_HAS_REGIONS;
    for (uint32_t i = 0; i < p->op_names.count; ++i)
        if (p->op_names.data[i].version == 99) return (uint16_t)i | regions;
    MUST(keel_table_reserve(&p->op_names, 1));
    p->op_names.data[p->op_names.count] =
        (keel_op_name_t){p->op_names.data[0].dialect, p->op_names.data[0].name, 99};
    return (uint16_t)p->op_names.count++ | regions;
}

static void change_operation(subject_t *s, keel_op_id_t op) {
    keel_program_t *p = &s->program;
    keel_operation_t *o = &p->operations.data[op];
    CHANGE(s, o->name, other_name(p, o->name), "the name of operation", op);
    uint32_t end = o[1].first_operand;
    for (uint32_t i = o->first_operand; i < end; ++i)
        CHANGE(s, p->operands.data[i], p->operands.data[i] ? p->operands.data[i] - 1 : 1,
               "an operand of operation", op);
    if (end > o->first_operand) // the next operation takes this one's last operand
        CHANGE(s, o[1].first_operand, end - 1, "one operand less of operation", op);
    for (uint32_t i = 0; i < o->result_count; ++i)
        CHANGE(s, p->value_types.data[o->first_result + i], (uint16_t)new_type(p),
               "the type of a result of operation", op);
    if (o->result_count) CHANGE(s, o->result_count, o->result_count - 1, "a result of", op);
    keel_str_t name = keel_program_str(p, keel_program_op_name(p, op)->name);
    if (o->attributes != KEEL_NONE && !keel_str_is(name, "func"))
        CHANGE(s, o->attributes, KEEL_NONE, "all attributes of operation", op);
}

static void what_operations_are_moves_the_key(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        subject_t s;
        load(&s, samples[i]);
        uint32_t count = keel_program_op_count(&s.program);
        for (keel_op_id_t op = 0; op < count; ++op)
            if (is_turn(&s)) change_operation(&s, op);
        assert_true(s.moved >= 10);
        release(&s);
    }
}

static bool has_one_partition(const keel_program_t *p) {
    keel_attr_id_t id = keel_program_dict_find(p, p->attributes, "mhlo.num_partitions");
    return id != KEEL_NONE && p->ints.data[p->attrs.data[id].b] == 1;
}

static void what_operations_carry_moves_the_key(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    // On one partition a sharding may say nothing.
    static const char *const one[] = {"sdy.sharding", NULL};
    static const char *const mesh[] = {"sym_name", "stablehlo.mesh", NULL};
    static const char *const function[] = {"sym_name",  "sym_visibility", "arg_attrs",
                                           "res_attrs", "function_type",  NULL};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        subject_t s;
        load(&s, samples[i]);
        keel_program_t *p = &s.program;
        uint32_t count = keel_program_op_count(p);
        for (keel_op_id_t op = 0; op < count; ++op) {
            keel_attr_id_t attributes = p->operations.data[op].attributes;
            keel_str_t name = keel_program_str(p, keel_program_op_name(p, op)->name);
            if (attributes == KEEL_NONE || s.seen[attributes] || !is_turn(&s)) continue;
            s.seen[attributes] = 1;
            change_dict(&s, attributes,
                        keel_str_is(name, "mesh")   ? mesh
                        : keel_str_is(name, "func") ? function
                        : has_one_partition(p)      ? one
                                                    : none);
        }
        if (p->attributes != KEEL_NONE) change_attr(&s, p->attributes);
        release(&s);
    }
}

// ---- functions ---------------------------------------------------------------------------------

static void change_signature(subject_t *s, keel_attr_id_t list) {
    static const char *const names[] = {"jax.result_info", "jax.arg_info", NULL};
    if (list == KEEL_NONE) return;
    keel_program_t *p = &s->program;
    keel_list_t items = keel_program_list(p, p->attrs.data[list].b);
    for (uint32_t i = 0; i < items.count; ++i)
        if (is_turn(s)) change_dict(s, items.items[i], names);
}

static void change_blocks(subject_t *s, const keel_function_t *function) {
    keel_program_t *p = &s->program;
    keel_region_t *region = &p->regions.data[function->region];
    for (uint32_t b = 0; b < region->block_count; ++b) {
        keel_block_t *block = &p->blocks.data[region->first_block + b];
        for (uint32_t i = 0; i < block->argument_count; ++i)
            CHANGE(s, p->value_types.data[block->first_argument + i], (uint16_t)new_type(p),
                   "the type of argument", i);
        if (block->argument_count)
            CHANGE(s, block->argument_count, block->argument_count - 1, "arguments of block", b);
    }
}

static void what_functions_are_moves_the_key(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        subject_t s;
        load(&s, samples[i]);
        keel_program_t *p = &s.program;
        s.stride = 1;
        for (uint32_t f = 0; f < p->functions.count; ++f) {
            keel_function_t *function = &p->functions.data[f];
            change_signature(&s, function->argument_attributes);
            change_signature(&s, function->result_attributes);
            if (f < 8) change_blocks(&s, function);
            CHANGE(&s, function->is_public, !function->is_public, "the visibility of function", f);
            if (function->type != KEEL_NONE)
                CHANGE(&s, function->type, new_type(p), "the type of function", f);
            if (function->root != KEEL_NONE)
                CHANGE(&s, function->root, function->root ^ 1, "the root of computation", f);
        }
        if (p->functions.count > 1)
            CHANGE(&s, p->entry, p->entry ? 0 : 1, "the entry, function", p->entry);
        release(&s);
    }
}

static void regions_are_told_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        subject_t s;
        load(&s, samples[i]);
        keel_program_t *p = &s.program;
        for (uint32_t r = 0; r < p->regions.count; ++r) {
            keel_block_t *block = &p->blocks.data[p->regions.data[r].first_block];
            if (block->end_op > block->first_op)
                CHANGE(&s, block->end_op, block->end_op - 1, "the end of region", r);
            if (r + 1 < p->regions.count && p->regions.data[r + 1].parent != KEEL_NONE &&
                p->regions.data[r].parent == p->regions.data[r + 1].parent)
                CHANGE(&s, p->regions.data[r].block_count, 0, "the blocks of region", r);
        }
        release(&s);
    }
}

static void dimensions_and_elements_of_types_move_the_key(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        subject_t s;
        load(&s, samples[i]);
        keel_program_t *p = &s.program;
        for (uint32_t v = 0; v < p->value_types.count; ++v) {
            keel_type_t *type = &p->types.data[p->value_types.data[v]];
            if (type->kind != KEEL_TYPE_TENSOR || !is_turn(&s)) continue;
            int64_t *dims = &p->ints.data[type->b];
            for (int64_t d = 1; d <= dims[0]; ++d)
                CHANGE(&s, dims[d], dims[d] + 1, "a dimension of value", v);
            CHANGE(&s, type->a, new_type(p), "the element type of value", v);
            CHANGE(&s, type->kind, KEEL_TYPE_BUFFER, "the kind of type of value", v);
        }
        release(&s);
    }
}

// ---- what means nothing ------------------------------------------------------------------------

static void drop_locations(keel_program_t *p) {
    for (uint32_t i = 0; i < p->operations.count; ++i)
        p->operations.data[i].location = KEEL_NONE;
    for (uint32_t i = 0; i < p->blocks.count; ++i)
        p->blocks.data[i].argument_locations = KEEL_NONE;
}

static void reverse_dictionaries(keel_program_t *p) {
    for (uint32_t i = 0; i < p->attrs.count; ++i) {
        if (p->attrs.data[i].kind != KEEL_ATTR_DICT || p->attrs.data[i].klass) continue;
        uint32_t *list = &p->pool.data[p->attrs.data[i].b];
        for (uint32_t a = 1, b = list[0] - 1; list[0] && a < b; a += 2, b -= 2)
            for (uint32_t k = 0; k < 2; ++k) {
                uint32_t kept = list[a + k];
                list[a + k] = list[b + k];
                list[b + k] = kept;
            }
    }
}

// Fields of replica groups name their mesh by a plain string.
static bool is_mesh_name(const keel_program_t *p, keel_attr_id_t id) {
    for (uint32_t i = 0; i < p->attrs.count; ++i)
        if (p->attrs.data[i].kind == KEEL_ATTR_DICT &&
            p->attrs.data[i].klass == KEEL_RECORD_REPLICA_GROUP_MESH_AXES &&
            keel_program_dict_find(p, i, "mesh") == id)
            return true;
    return false;
}

// The value of an entry that names `from`, as a symbol or as a string, now names `to`.
static void rename_entry(keel_program_t *p, uint32_t *value, keel_string_id_t from,
                         keel_string_id_t to) {
    keel_attr_t attr = p->attrs.data[*value];
    if (!keel_str_equal(keel_program_str(p, attr.a), keel_program_str(p, from))) return;
    if (attr.kind != KEEL_ATTR_STRING && attr.kind != KEEL_ATTR_SYMBOL) return;
    attr.a = to;
    MUST(keel_program_add_attr(p, attr, value)); // others may use the old one as a mere text
}

static void rename_references(keel_program_t *p, keel_string_id_t from, keel_string_id_t to) {
    static const char *const names[] = {"callee", "decomposition", "called_computations", NULL};
    for (uint32_t i = 0, count = p->attrs.count; i < count; ++i) {
        if (p->attrs.data[i].kind != KEEL_ATTR_DICT) continue;
        uint32_t *list = &p->pool.data[p->attrs.data[i].b];
        for (uint32_t k = 1; k < list[0]; k += 2) {
            if (!is_named(p, list[k], names)) continue;
            const keel_attr_t *value = &p->attrs.data[list[k + 1]];
            uint32_t *items = value->kind == KEEL_ATTR_ARRAY ? &p->pool.data[value->b] : NULL;
            for (uint32_t n = 1; items && n <= items[0]; ++n)
                rename_entry(p, &items[n], from, to);
            if (!items) rename_entry(p, &list[k + 1], from, to);
        }
    }
}

// Functions, and what refers to them.
static void rename_functions(keel_program_t *p) {
    for (uint32_t f = 0; f < p->functions.count; ++f) {
        keel_str_t name = keel_program_str(p, p->functions.data[f].name);
        if (f == p->entry || p->functions.data[f].is_public || keel_str_is(name, "shmap_body"))
            continue;
        char text[32];
        snprintf(text, sizeof text, "renamed_%u", f);
        keel_string_id_t from = p->functions.data[f].name, to = new_text(p, text);
        rename_references(p, from, to);
        p->functions.data[f].name = to;
    }
}

// Meshes, and what refers to them.
static void rename_meshes(keel_program_t *p) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(p); ++op) {
        if (!keel_str_is(keel_program_str(p, keel_program_op_name(p, op)->name), "mesh")) continue;
        keel_attr_id_t id =
            keel_program_dict_find(p, p->operations.data[op].attributes, "sym_name");
        char text[32];
        snprintf(text, sizeof text, "another_mesh_%u", op);
        keel_string_id_t from = p->attrs.data[id].a, to = new_text(p, text);
        p->attrs.data[id].a = to;
        for (uint32_t i = 0; i < p->attrs.count; ++i) {
            keel_attr_t *attr = &p->attrs.data[i];
            bool refers = attr->kind == KEEL_ATTR_SYMBOL ||
                          (attr->kind == KEEL_ATTR_STRING && is_mesh_name(p, i));
            if (refers && keel_str_equal(keel_program_str(p, attr->a), keel_program_str(p, from)))
                attr->a = to;
        }
    }
}

static void copy_attributes(keel_program_t *p) {
    uint32_t count = p->attrs.count;
    for (uint32_t i = 0; i < p->operations.count; ++i) {
        keel_attr_id_t *id = &p->operations.data[i].attributes, copy;
        if (*id == KEEL_NONE || *id >= count) continue;
        MUST(keel_program_add_attr(p, p->attrs.data[*id], &copy));
        *id = copy;
    }
}

static void what_means_nothing_does_not_move_the_key(void **state) {
    (void)state;
    static const struct {
        const char *what;
        void (*apply)(keel_program_t *p);
    } edits[] = {{"locations", drop_locations},
                 {"the order of dictionaries", reverse_dictionaries},
                 {"the names of functions", rename_functions},
                 {"the names of meshes", rename_meshes},
                 {"the sharing of attributes", copy_attributes}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        for (size_t e = 0; e < sizeof edits / sizeof *edits; ++e) {
            subject_t s;
            load(&s, samples[i]);
            edits[e].apply(&s.program);
            assert_stayed(&s, edits[e].what);
            release(&s);
        }
        subject_t s;
        load(&s, samples[i]);
        s.program.name = new_text(&s.program, "jit_other");
        s.program.producer = KEEL_STR("somebody else");
        assert_stayed(&s, "the names of module and producer");
        release(&s);
    }
}

static void metadata_does_not_move_the_key(void **state) {
    (void)state;
    subject_t with, without;
    load(&with, "hlo/linear_step.hlo");
    load(&without, "hlo/linear_step_nodebug.hlo");
    assert_true(keel_digest_equal(&with.digest, &without.digest));
    release(&with);
    release(&without);
}

static void no_two_samples_share_a_key(void **state) {
    (void)state;
    enum { COUNT = sizeof samples / sizeof *samples };
    keel_digest_t digests[COUNT];
    for (size_t i = 0; i < COUNT; ++i) {
        subject_t s;
        load(&s, samples[i]);
        digests[i] = s.digest;
        release(&s);
        if (strcmp(samples[i], "hlo/linear_step_nodebug.hlo") == 0) continue;
        for (size_t k = 0; k < i; ++k)
            assert_false(keel_digest_equal(&digests[i], &digests[k]));
    }
}

static void samples_with_host_code_are_told(void **state) {
    (void)state;
    keel_cacheable_t out;
    subject_t s;
    load(&s, "mlir/custom_partitioning.mlir");
    keel_key_cacheable(&s.program, NULL, &out);
    assert_false(out.yes);
    assert_string_equal(out.target, "CustomSPMDPartitioning");
    release(&s);
    static const char *const kept[] = {"mlir/ordered_callback.mlir", "mlir/pure_callback.mlir",
                                       "mlir/linalg.mlir", "mlir/gspmd_spmd_auto.mlir",
                                       "hlo/spmd.hlo"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        load(&s, kept[i]);
        keel_key_cacheable(&s.program, NULL, &out);
        assert_true(out.yes);
        release(&s);
    }
}

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported(void **state) {
    (void)state;
    static const char *const some[] = {"mlir/shard_map.v1_20.mlir", "mlir/nested_jit.mlir",
                                       "hlo/linear_step.hlo"};
    for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
        subject_t s;
        load(&s, some[i]);
        for (uint64_t n = 1;; ++n) {
            keel_digest_t digest;
            keel_fault_arm(KEEL_FAULT_ALLOC, n);
            keel_status_t status = keel_key_program(&s.program, &digest);
            bool failed = keel_fault_count(KEEL_FAULT_ALLOC) >= n;
            keel_fault_arm(KEEL_FAULT_ALLOC, 0);
            assert_int_equal(keel_status_code(status), failed ? KEEL_NO_MEMORY : KEEL_OK);
            keel_status_ignore(status);
            if (!failed) break;
        }
        release(&s);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_operations_are_moves_the_key),
        cmocka_unit_test(what_operations_carry_moves_the_key),
        cmocka_unit_test(what_functions_are_moves_the_key),
        cmocka_unit_test(regions_are_told_apart),
        cmocka_unit_test(dimensions_and_elements_of_types_move_the_key),
        cmocka_unit_test(what_means_nothing_does_not_move_the_key),
        cmocka_unit_test(metadata_does_not_move_the_key),
        cmocka_unit_test(no_two_samples_share_a_key),
        cmocka_unit_test(samples_with_host_code_are_told),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_that_fails_is_reported),
#endif
    };
    return cmocka_run_group_tests_name("key_mutation", tests, NULL, NULL);
}
