// What each place leaves out of its dictionary, and the order of the rest.
#include <stdlib.h>

#include "key/canon.h"
#include "key/sharding.h"
#include "key/symbols.h"

typedef struct dict_entry_t {
    keel_str_t name;
    keel_attr_id_t value;
    uint32_t at;
} dict_entry_t;

// The signature is hashed from the function itself, its name does not count (but see stream.c), and
// is_public gives its visibility.
static bool is_signature(const keel_program_t *program, const keel_function_t *function,
                         keel_str_t name, keel_attr_id_t value) {
    static const char *const names[] = {"sym_name", "sym_visibility", NULL};
    if (keel_str_is_one_of(name, names)) return true;
    if (keel_str_is(name, "arg_attrs")) return value == function->argument_attributes;
    if (keel_str_is(name, "res_attrs")) return value == function->result_attributes;
    const keel_attr_t *attr = &program->attrs.data[value];
    return keel_str_is(name, "function_type") && attr->kind == KEEL_ATTR_TYPE &&
           attr->a == function->type;
}

static bool is_left_out(keel_canon_t *canon, keel_dict_place_t place, uint32_t function,
                        keel_str_t name, keel_attr_id_t value) {
    // Names of arguments and results, and where an argument came from.
    static const char *const argument[] = {"jax.result_info", "jax.arg_info", "jax.const",
                                           "jax.global_constant", NULL};
    // stablehlo.mesh repeats the mesh itself.
    static const char *const mesh[] = {"sym_name", "stablehlo.mesh", NULL};
    static const char *const module[] = {"sym_name", NULL};
    switch (place) {
        case KEEL_PLACE_VALUE:
            return false;
        case KEEL_PLACE_OPERATION:
        case KEEL_PLACE_KERNEL:
            return keel_sharding_says_nothing(canon, name, value);
        case KEEL_PLACE_ARGUMENT:
            return keel_str_is_one_of(name, argument) ||
                   keel_sharding_says_nothing(canon, name, value);
        case KEEL_PLACE_FUNCTION:
            return is_signature(canon->program, &canon->program->functions.data[function], name,
                                value);
        case KEEL_PLACE_MESH:
            return keel_str_is_one_of(name, mesh);
        case KEEL_PLACE_MODULE:
            return keel_str_is_one_of(name, module);
    }
    return false;
}

// What a string refers to, as if it were a symbol.
static keel_node_id_t reference(keel_canon_t *canon, keel_attr_id_t id) {
    const keel_attr_t *attr = &canon->program->attrs.data[id];
    keel_node_id_t what;
    if (attr->kind == KEEL_ATTR_STRING &&
        keel_symbols_reference(canon, keel_program_str(canon->program, attr->a), &what)) {
        size_t begin = keel_form_begin(canon, KEEL_ATTR_SYMBOL);
        keel_form_byte(canon, 1);
        keel_form_node(canon, what);
        return keel_form_end(canon, begin);
    }
    if (attr->kind != KEEL_ATTR_ARRAY) return keel_canon_attr(canon, id);
    keel_list_t items = keel_program_list(canon->program, attr->b);
    size_t begin = keel_form_begin(canon, KEEL_ATTR_ARRAY);
    keel_form_number(canon, items.count);
    for (uint32_t i = 0; i < items.count && !canon->status; ++i) {
        bool flat = canon->program->attrs.data[items.items[i]].kind != KEEL_ATTR_ARRAY;
        keel_form_node(canon, flat ? reference(canon, items.items[i])
                                   : keel_canon_attr(canon, items.items[i]));
    }
    return keel_form_end(canon, begin);
}

static keel_node_id_t kernel(keel_canon_t *canon, keel_str_t json) {
    size_t begin = keel_form_begin(canon, KEEL_ATTR_STRING);
    keel_form_kernel(canon, json);
    return keel_form_end(canon, begin);
}

// VHLO writes a mesh's name as a plain string.
static bool is_reference(keel_dict_place_t place, uint16_t klass, keel_str_t name) {
    if (klass == KEEL_RECORD_REPLICA_GROUP_MESH_AXES || klass == KEEL_RECORD_SDY_SHARDING)
        return keel_str_is(name, "mesh");
    bool operation = place == KEEL_PLACE_OPERATION || place == KEEL_PLACE_KERNEL;
    return operation && !klass && keel_symbols_is_callee(name);
}

static void form_entry(keel_canon_t *canon, keel_dict_place_t place, uint16_t klass,
                       const dict_entry_t *entry) {
    const keel_attr_t *attr = &canon->program->attrs.data[entry->value];
    keel_form_byte(canon, 1);
    keel_form_str(canon, entry->name);
    keel_node_id_t node;
    if (is_reference(place, klass, entry->name))
        node = reference(canon, entry->value);
    else if (place == KEEL_PLACE_KERNEL && attr->kind == KEEL_ATTR_STRING &&
             keel_str_is(entry->name, "backend_config"))
        node = kernel(canon, keel_program_str(canon->program, attr->a));
    else
        node = keel_canon_attr(canon, entry->value);
    keel_form_node(canon, node);
}

static int by_entry_name(const void *left, const void *right) {
    const dict_entry_t *a = left, *b = right;
    int order = keel_str_compare(a->name, b->name);
    if (order) return order;
    return a->at < b->at ? -1 : a->at > b->at;
}

static dict_entry_t entry_of(const keel_program_t *program, keel_list_t pairs, uint32_t i) {
    return (dict_entry_t){keel_program_str(program, pairs.items[i]), pairs.items[i + 1], i};
}

static bool is_sorted(const keel_program_t *program, keel_list_t pairs) {
    for (uint32_t i = 2; i + 1 < pairs.count; i += 2)
        if (keel_str_compare(keel_program_str(program, pairs.items[i - 2]),
                             keel_program_str(program, pairs.items[i])) > 0)
            return false;
    return true;
}

static void form_sorted(keel_canon_t *canon, keel_list_t pairs, keel_dict_place_t place,
                        uint32_t function) {
    dict_entry_t *entries;
    uint32_t count = 0;
    keel_status_t status = keel_calloc(pairs.count / 2 + 1, sizeof *entries, (void **)&entries);
    if (status) {
        keel_canon_fail(canon, status);
        return;
    }
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2)
        entries[count++] = entry_of(canon->program, pairs, i);
    qsort(entries, count, sizeof *entries, by_entry_name);
    for (uint32_t i = 0; i < count && !canon->status; ++i)
        if (!is_left_out(canon, place, function, entries[i].name, entries[i].value))
            form_entry(canon, place, 0, &entries[i]);
    keel_free(entries);
}

static void form_in_order(keel_canon_t *canon, keel_list_t pairs, keel_dict_place_t place,
                          uint32_t function, uint16_t klass) {
    for (uint32_t i = 0; i + 1 < pairs.count && !canon->status; i += 2) {
        dict_entry_t entry = entry_of(canon->program, pairs, i);
        if (!is_left_out(canon, place, function, entry.name, entry.value))
            form_entry(canon, place, klass, &entry);
    }
}

keel_node_id_t keel_canon_dict(keel_canon_t *canon, keel_attr_id_t id, keel_dict_place_t place,
                               uint32_t function) {
    if (id == KEEL_NONE || canon->status) return 0;
    const keel_attr_t *attr = &canon->program->attrs.data[id];
    if (attr->kind != KEEL_ATTR_DICT) return keel_canon_attr(canon, id);
    keel_list_t pairs = keel_program_list(canon->program, attr->b);
    size_t begin = keel_form_begin(canon, KEEL_TAG_DICT);
    keel_form_str(canon, keel_str(keel_record_name(attr->klass)));
    size_t head = canon->form_size;
    if (attr->klass || is_sorted(canon->program, pairs))
        form_in_order(canon, pairs, place, function, attr->klass);
    else
        form_sorted(canon, pairs, place, function);
    if (place != KEEL_PLACE_VALUE && !canon->status && canon->form_size == head) {
        canon->form_size = begin;
        return 0; // no attributes
    }
    keel_form_byte(canon, 0);
    return keel_form_end(canon, begin);
}

static bool is_kernel(const keel_program_t *program, keel_attr_id_t dict) {
    keel_attr_id_t id = keel_program_dict_find(program, dict, "call_target_name");
    if (id == KEEL_NONE) id = keel_program_dict_find(program, dict, "custom_call_target");
    return id != KEEL_NONE && program->attrs.data[id].kind == KEEL_ATTR_STRING &&
           keel_str_is(keel_program_str(program, program->attrs.data[id].a), "tpu_custom_call");
}

keel_node_id_t keel_canon_op_attrs(keel_canon_t *canon, keel_op_id_t op) {
    const keel_operation_t *operation = &canon->program->operations.data[op];
    keel_attr_id_t id = operation->attributes;
    if (id == KEEL_NONE) return 0;
    if (canon->op_attrs[id]) return canon->op_attrs[id] - 1;
    uint8_t kind = canon->op_kinds[operation->name & ~(unsigned)KEEL_OP_HAS_REGIONS];
    if (kind == KEEL_OP_MESH) return keel_canon_dict(canon, id, KEEL_PLACE_MESH, KEEL_NONE);
    if (kind == KEEL_OP_CUSTOM_CALL && is_kernel(canon->program, id))
        return keel_canon_dict(canon, id, KEEL_PLACE_KERNEL, KEEL_NONE);
    keel_node_id_t node = keel_canon_dict(canon, id, KEEL_PLACE_OPERATION, KEEL_NONE);
    canon->op_attrs[id] = node + 1;
    return node;
}
