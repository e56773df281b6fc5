#include "needs/emit.h"

#include <stdio.h>

keel_status_t needs_new_value(needs_emit_t *e, keel_type_id_t type, keel_value_id_t *out) {
    if (type > UINT16_MAX)
        return keel_status_make(KEEL_UNSUPPORTED, "a value of one of %u types; the limit is %u",
                                e->to->types.count, UINT16_MAX + 1u);
    *out = e->to->value_types.count;
    KEEL_PUSH(&e->to->value_types, (uint16_t)type);
    return NULL;
}

keel_status_t needs_new_type(needs_emit_t *e, keel_type_t type, keel_type_id_t *out) {
    keel_list_t b = keel_program_list(e->to, type.b), c = {NULL, 0};
    keel_buffer_t key;
    if (type.kind == KEEL_TYPE_FUNCTION) c = keel_program_list(e->to, type.c);
    keel_buffer_initialize(&key, 0);
    keel_buffer_byte(&key, type.kind);
    keel_buffer_u32(&key, type.kind == KEEL_TYPE_FUNCTION ? b.count : type.c);
    if (b.count) keel_buffer_append(&key, b.items, b.count * sizeof *b.items);
    if (c.count) keel_buffer_append(&key, c.items, c.count * sizeof *c.items);
    keel_status_t status = keel_buffer_status(&key);
    const uint64_t *known = status ? NULL : keel_map_find(&e->types, keel_buffer_bytes(&key));
    *out = known ? (keel_type_id_t)*known : e->to->types.count;
    if (!status && !known) status = keel_table_reserve(&e->to->types, 1);
    if (!status && !known) {
        e->to->types.data[e->to->types.count++] = type;
        status = keel_map_put(&e->types, keel_buffer_bytes(&key), *out);
    }
    keel_buffer_deinitialize(&key);
    return status;
}

// ---- the tables that both programs have --------------------------------------------------------

// All of them: they are small beside constants, which are borrowed, and every index stays valid.
static keel_status_t copy_tables(const keel_program_t *from, keel_program_t *to) {
#define COPY(table)                                                                                \
    do {                                                                                           \
        KEEL_TRY(keel_table_reserve(&to->table, from->table.count));                               \
        if (from->table.count)                                                                     \
            memcpy(to->table.data, from->table.data,                                               \
                   from->table.count * sizeof *from->table.data);                                  \
        to->table.count = from->table.count;                                                       \
    } while (0)
    COPY(strings);
    COPY(types);
    COPY(attrs);
    COPY(blobs);
    COPY(ints);
    COPY(pool);
    COPY(op_names);
    COPY(text);
#undef COPY
    to->format = from->format;
    to->source = from->source;
    to->producer = from->producer;
    to->bytecode_version = from->bytecode_version;
    to->name = from->name;
    to->attributes = from->attributes;
    to->left_out = from->left_out;
    return NULL;
}

// ---- which parts, and their names --------------------------------------------------------------

// Marks the parts that a part calls. No deeper than the visit that found them.
static keel_status_t use(keel_needs_t *needs, needs_part_t *part) {
    const needs_function_t *function = needs_function_of(needs, part);
    uint32_t count = function->end_op - function->first_op;
    if (part->is_used) return NULL;
    part->is_used = true;
    for (uint32_t at = needs_next(part->live, 0, count); at < count;
         at = needs_next(part->live, at + 1, count)) {
        keel_op_id_t op = function->first_op + at;
        needs_rule_t rule = needs_rule_of(needs, op);
        if (rule == NEEDS_PLAIN || rule == NEEDS_TUPLE || rule == NEEDS_ELEMENT) continue;
        uint32_t callees = needs_callee_count(needs, op);
        for (uint32_t i = 0; i < callees; ++i) {
            needs_part_t *called;
            if (needs_callee(needs, op, i) == KEEL_NONE) continue;
            KEEL_TRY(needs_part_called(needs, part, op, i, &called));
            KEEL_TRY(use(needs, called));
        }
    }
    return NULL;
}

static keel_status_t new_name(needs_emit_t *e, keel_str_t base, uint32_t *number,
                              keel_string_id_t *out) {
    char end[32];
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    do {
        snprintf(end, sizeof end, "_%u", ++*number);
        name.size = 0;
        keel_buffer_str(&name, base);
        keel_buffer_text(&name, end);
    } while (!name.failed && (keel_map_find(&e->needs->names, keel_buffer_bytes(&name)) ||
                              keel_map_find(&e->names, keel_buffer_bytes(&name))));
    keel_status_t status = keel_buffer_status(&name);
    if (!status) status = keel_map_put(&e->names, keel_buffer_bytes(&name), 0);
    if (!status)
        status = keel_program_add_text(e->to, keel_bytes_str(keel_buffer_bytes(&name)), out);
    keel_buffer_deinitialize(&name);
    return status;
}

// A whole function keeps its name, since any operation may name it; otherwise one part does.
static keel_status_t name_parts(needs_emit_t *e, uint32_t function) {
    keel_string_id_t own = e->from->functions.data[function].name;
    needs_part_t *named = NULL, *parts = e->needs->functions[function].parts;
    uint32_t number = 0;
    for (needs_part_t *part = parts; part; part = part->next)
        if (part->is_used && (!named || part->kind == NEEDS_OF_WHOLE)) named = part;
    for (needs_part_t *part = parts; part; part = part->next) {
        if (!part->is_used) continue;
        part->name = own;
        if (part != named)
            KEEL_TRY(new_name(e, keel_program_str(e->from, own), &number, &part->name));
    }
    return NULL;
}

// ---- the program -------------------------------------------------------------------------------

static keel_status_t emit_functions(needs_emit_t *e) {
    keel_needs_t *needs = e->needs;
    for (uint32_t i = 0; i < e->from->functions.count; ++i)
        KEEL_TRY(name_parts(e, i));
    for (uint32_t i = 0; i < e->from->functions.count; ++i)
        for (needs_part_t *part = needs->functions[i].parts; part; part = part->next) {
            if (!part->is_used) continue;
            if (part == needs->entry) e->to->entry = e->to->functions.count;
            KEEL_TRY(needs->is_hlo ? needs_emit_hlo(e, part) : needs_emit_mlir(e, part));
        }
    return NULL;
}

static keel_status_t emit_all(needs_emit_t *e) {
    size_t size = e->from->value_types.count * sizeof *e->values;
    void *memory;
    KEEL_TRY(copy_tables(e->from, e->to));
    KEEL_TRY(use(e->needs, e->needs->entry));
    KEEL_TRY(keel_alloc(size, &memory));
    e->values = memset(memory, 0xff, size);
    if (!e->needs->is_hlo) KEEL_TRY(needs_emit_module(e));
    KEEL_TRY(emit_functions(e));
    KEEL_TRY(e->needs->is_hlo ? needs_emit_hlo_attributes(e) : needs_emit_mlir_attributes(e));
    keel_operation_t end = {.first_operand = e->to->operands.count,
                            .first_result = e->to->value_types.count,
                            .location = KEEL_NONE,
                            .attributes = KEEL_NONE};
    KEEL_PUSH(&e->to->operations, end);
    return NULL;
}

keel_status_t keel_needs_program(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                                 keel_program_t *out) {
    needs_emit_t e = {.needs = needs,
                      .from = needs->program,
                      .to = out,
                      .tuple = KEEL_NONE,
                      .element = KEEL_NONE,
                      .slice = KEEL_NONE,
                      .join = KEEL_NONE,
                      .copies = 1};
    keel_program_initialize(out);
    keel_map_initialize(&e.types);
    keel_map_initialize(&e.names);
    keel_status_t status = needs_find(needs, results, count, UINT32_MAX);
    if (!status) status = emit_all(&e);
    keel_map_deinitialize(&e.types);
    keel_map_deinitialize(&e.names);
    keel_free(e.values);
    keel_free(e.list.data);
    if (status) keel_program_deinitialize(out);
    return status;
}
