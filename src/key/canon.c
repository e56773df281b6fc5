#include "key/canon.h"

#include "key/symbols.h"

// ---- types -------------------------------------------------------------------------------------

static void form_types(keel_canon_t *canon, uint32_t list) {
    keel_list_t types = keel_program_list(canon->program, list);
    keel_form_number(canon, types.count);
    for (uint32_t i = 0; i < types.count && !canon->status; ++i) {
        keel_node_id_t node = keel_canon_type(canon, types.items[i]);
        keel_form_node(canon, node);
    }
}

static void form_ints(keel_canon_t *canon, uint32_t list) {
    keel_ints_t ints = keel_program_ints(canon->program, list);
    keel_form_number(canon, ints.count);
    for (uint32_t i = 0; i < ints.count; ++i)
        keel_form_signed(canon, ints.items[i]);
}

static void form_type(keel_canon_t *canon, const keel_type_t *type) {
    switch ((keel_type_kind_t)type->kind) {
        case KEEL_TYPE_INTEGER:
            keel_form_number(canon, type->a);
            keel_form_byte(canon, type->aux);
            break;
        case KEEL_TYPE_FLOAT:
            keel_form_number(canon, type->a);
            break;
        case KEEL_TYPE_INDEX:
        case KEEL_TYPE_NONE:
        case KEEL_TYPE_TOKEN:
        case KEEL_TYPE_WITNESS:
        case KEEL_TYPE_OPAQUE:
            break;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
            keel_form_node(canon, keel_canon_type(canon, type->a));
            break;
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            keel_form_node(canon, keel_canon_type(canon, type->a));
            form_ints(canon, type->b);
            keel_form_node(canon, keel_canon_attr(canon, type->c));
            break;
        case KEEL_TYPE_TUPLE:
            form_types(canon, type->b);
            keel_form_node(canon, keel_canon_attr(canon, type->c));
            break;
        case KEEL_TYPE_FUTURE:
            form_types(canon, type->b);
            break;
        case KEEL_TYPE_FUNCTION:
            form_types(canon, type->b);
            form_types(canon, type->c);
            break;
        case KEEL_TYPE_QUANTIZED:
            keel_form_node(canon, keel_canon_type(canon, type->a));
            keel_form_node(canon, keel_canon_type(canon, type->b));
            keel_form_node(canon, keel_canon_attr(canon, type->c));
            break;
    }
}

static bool enter_value(keel_canon_t *canon) {
    if (canon->status) return false;
    if (canon->depth == KEEL_CANON_DEPTH) {
        keel_canon_fail(canon,
                        keel_status_make(KEEL_UNSUPPORTED,
                                         "attributes or types nest more than %d deep in each "
                                         "other",
                                         KEEL_CANON_DEPTH));
        return false;
    }
    ++canon->depth;
    return true;
}

keel_node_id_t keel_canon_type(keel_canon_t *canon, keel_type_id_t id) {
    if (id == KEEL_NONE) return 0;
    if (canon->types[id]) return canon->types[id] - 1;
    if (!enter_value(canon)) return 0;
    const keel_type_t *type = &canon->program->types.data[id];
    size_t begin = keel_form_begin(canon, (uint8_t)(KEEL_TAG_TYPE + type->kind));
    form_type(canon, type);
    keel_node_id_t node = keel_form_end(canon, begin);
    canon->types[id] = node + 1;
    --canon->depth;
    return node;
}

// ---- attributes --------------------------------------------------------------------------------

static void form_attr_list(keel_canon_t *canon, uint32_t list) {
    keel_list_t attrs = keel_program_list(canon->program, list);
    keel_form_number(canon, attrs.count);
    for (uint32_t i = 0; i < attrs.count && !canon->status; ++i) {
        keel_node_id_t node = keel_canon_attr(canon, attrs.items[i]);
        keel_form_node(canon, node);
    }
}

static void form_symbol(keel_canon_t *canon, const keel_attr_t *attr) {
    keel_str_t name = keel_program_str(canon->program, attr->a);
    keel_node_id_t node;
    bool known = keel_symbols_reference(canon, name, &node);
    if (known && keel_program_list(canon->program, attr->b).count) {
        keel_canon_fail(canon, keel_status_make(KEEL_UNSUPPORTED, "a symbol inside '%.*s'",
                                                KEEL_STR_ARGS(name)));
        return;
    }
    keel_form_byte(canon, known);
    if (known) {
        keel_form_node(canon, node);
        return;
    }
    keel_form_str(canon, name);
    form_attr_list(canon, attr->b);
}

static void form_strings(keel_canon_t *canon, const keel_attr_t *attr) {
    keel_list_t strings = keel_program_list(canon->program, attr->b);
    keel_form_node(canon, keel_canon_type(canon, attr->a));
    keel_form_byte(canon, attr->aux);
    keel_form_number(canon, strings.count);
    for (uint32_t i = 0; i < strings.count; ++i)
        keel_form_str(canon, keel_program_str(canon->program, strings.items[i]));
}

static keel_bytes_t blob(const keel_canon_t *canon, uint32_t id) {
    return canon->program->blobs.data[id];
}

static void form_attr(keel_canon_t *canon, const keel_attr_t *attr) {
    const keel_program_t *program = canon->program;
    switch ((keel_attr_kind_t)attr->kind) {
        case KEEL_ATTR_NONE:
        case KEEL_ATTR_UNIT:
            break;
        case KEEL_ATTR_BOOL:
            keel_form_number(canon, attr->a);
            break;
        case KEEL_ATTR_INT:
        case KEEL_ATTR_FLOAT:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            keel_form_signed(canon, program->ints.data[attr->b]);
            break;
        case KEEL_ATTR_WIDE_INT:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            form_ints(canon, attr->b);
            break;
        case KEEL_ATTR_STRING:
            keel_form_str(canon, keel_program_str(program, attr->a));
            keel_form_node(canon, keel_canon_type(canon, attr->b));
            break;
        case KEEL_ATTR_TYPE:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            break;
        case KEEL_ATTR_ENUM:
            keel_form_str(canon, keel_str(keel_enum_class_name(attr->klass)));
            keel_form_number(canon, attr->a);
            break;
        case KEEL_ATTR_ARRAY:
            form_attr_list(canon, attr->b);
            break;
        case KEEL_ATTR_INTS:
            keel_form_str(canon, keel_str(keel_record_name(attr->klass)));
            form_ints(canon, attr->b);
            break;
        case KEEL_ATTR_SYMBOL:
            form_symbol(canon, attr);
            break;
        case KEEL_ATTR_TENSOR:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            keel_form_tensor(canon, attr->a, blob(canon, attr->b));
            break;
        case KEEL_ATTR_DENSE_ARRAY:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            keel_form_content(canon, blob(canon, attr->b));
            break;
        case KEEL_ATTR_STRINGS:
            form_strings(canon, attr);
            break;
        case KEEL_ATTR_SPARSE:
            keel_form_node(canon, keel_canon_type(canon, attr->a));
            form_attr_list(canon, attr->b);
            break;
        case KEEL_ATTR_DISTINCT: // two with equal content are different
            keel_form_number(canon, canon->distinct_count++);
            keel_form_node(canon, keel_canon_attr(canon, attr->a));
            break;
        case KEEL_ATTR_BYTES:
            keel_form_str(canon, keel_program_str(program, attr->a));
            keel_form_content(canon, blob(canon, attr->b));
            break;
        case KEEL_ATTR_DICT:
        case KEEL_ATTR_LOC_UNKNOWN:
        case KEEL_ATTR_LOC_FILE:
        case KEEL_ATTR_LOC_NAME:
        case KEEL_ATTR_LOC_CALLSITE:
        case KEEL_ATTR_LOC_FUSED:
            break; // handled elsewhere
    }
}

static keel_node_id_t make_attr(keel_canon_t *canon, keel_attr_id_t id) {
    const keel_attr_t *attr = &canon->program->attrs.data[id];
    if (attr->kind == KEEL_ATTR_DICT)
        return keel_canon_dict(canon, id, KEEL_PLACE_VALUE, KEEL_NONE);
    bool location = keel_attr_is_location(attr->kind);
    size_t begin = keel_form_begin(canon, location ? KEEL_TAG_LOCATION : attr->kind);
    if (!location) form_attr(canon, attr);
    return keel_form_end(canon, begin);
}

keel_node_id_t keel_canon_attr(keel_canon_t *canon, keel_attr_id_t id) {
    if (id == KEEL_NONE) return 0;
    if (canon->attrs[id]) return canon->attrs[id] - 1;
    if (!enter_value(canon)) return 0;
    keel_node_id_t node = make_attr(canon, id);
    canon->attrs[id] = node + 1;
    --canon->depth;
    return node;
}

keel_node_id_t keel_canon_op_name(keel_canon_t *canon, uint32_t id) {
    if (canon->op_names[id]) return canon->op_names[id] - 1;
    const keel_op_name_t *name = &canon->program->op_names.data[id];
    size_t begin = keel_form_begin(canon, KEEL_TAG_OP_NAME);
    keel_form_str(canon, keel_program_str(canon->program, name->dialect));
    keel_form_str(canon, keel_program_str(canon->program, name->name));
    keel_form_number(canon, name->version);
    keel_node_id_t node = keel_form_end(canon, begin);
    canon->op_names[id] = node + 1;
    return node;
}
