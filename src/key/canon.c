#include "key/canon.h"

static keel_status_t array(uint32_t count, size_t size, void **out) {
    return keel_calloc((size_t)count + 1, size, out);
}

static keel_status_t add_node(keel_canon_t *canon, uint32_t hash, const uint8_t *bytes,
                              uint32_t size) {
    if (canon->node_count == canon->node_capacity) {
        uint32_t capacity = canon->node_capacity ? canon->node_capacity * 2 : 256;
        KEEL_TRY(keel_realloc_array(capacity, sizeof *canon->nodes, (void **)&canon->nodes));
        canon->node_capacity = capacity;
    }
    void *copy;
    KEEL_TRY(keel_arena_alloc(&canon->arena, size, &copy));
    memcpy(copy, bytes, size);
    canon->nodes[canon->node_count++] = (keel_node_t){.bytes = copy, .size = size, .hash = hash};
    return NULL;
}

static keel_op_kind_t op_kind(const keel_program_t *program, const keel_op_name_t *name) {
    keel_str_t text = keel_program_str(program, name->name);
    if (keel_str_is(text, "custom_call") || keel_str_is(text, "custom-call"))
        return KEEL_OP_CUSTOM_CALL;
    if (keel_str_is(text, "mesh") && keel_str_is(keel_program_str(program, name->dialect), "sdy"))
        return KEEL_OP_MESH;
    return KEEL_OP_PLAIN;
}

static keel_status_t allocate(keel_canon_t *canon) {
    const keel_program_t *program = canon->program;
    KEEL_TRY(array(program->types.count, sizeof *canon->types, (void **)&canon->types));
    KEEL_TRY(array(program->attrs.count, sizeof *canon->attrs, (void **)&canon->attrs));
    KEEL_TRY(array(program->attrs.count, sizeof *canon->op_attrs, (void **)&canon->op_attrs));
    KEEL_TRY(array(program->op_names.count, sizeof *canon->op_names, (void **)&canon->op_names));
    KEEL_TRY(array(program->op_names.count, 1, (void **)&canon->op_kinds));
    KEEL_TRY(array(program->functions.count, sizeof *canon->digests, (void **)&canon->digests));
    KEEL_TRY(array(program->functions.count, 1, (void **)&canon->digested));
    canon->slot_count = 512;
    KEEL_TRY(array(canon->slot_count, sizeof *canon->slots, (void **)&canon->slots));
    const uint8_t absent[] = {0};
    return add_node(canon, 0, absent, sizeof absent);
}

keel_status_t keel_canon_initialize(keel_canon_t *canon, const keel_program_t *program,
                                    keel_partitioning_t partitioning) {
    *canon = (keel_canon_t){.program = program,
                            .is_hlo = program->format == KEEL_FORMAT_HLO,
                            .partitioning = partitioning};
    keel_arena_initialize(&canon->arena, 16 << 10);
    keel_map_initialize(&canon->symbols);
    KEEL_TRY(allocate(canon));
    for (uint32_t i = 0; i < program->op_names.count; ++i)
        canon->op_kinds[i] = (uint8_t)op_kind(program, &program->op_names.data[i]);
    return keel_symbols_initialize(canon);
}

void keel_canon_deinitialize(keel_canon_t *canon) {
    void *const owned[] = {canon->nodes,    canon->slots,    canon->types,    canon->attrs,
                           canon->op_attrs, canon->op_names, canon->op_kinds, canon->digests,
                           canon->digested, canon->meshes,   canon->mesh_ops, canon->shapes,
                           canon->form};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
        keel_free(owned[i]);
    keel_map_deinitialize(&canon->symbols);
    keel_arena_deinitialize(&canon->arena);
    keel_status_ignore(canon->status);
    canon->status = NULL;
}

void keel_canon_fail(keel_canon_t *canon, keel_status_t status) {
    if (canon->status)
        keel_status_ignore(status);
    else
        canon->status = status;
}

// ---- forms and nodes ---------------------------------------------------------------------------

uint8_t *keel_form_grow(keel_canon_t *canon, size_t size) {
    if (canon->status) return NULL;
    size_t capacity = canon->form_capacity ? canon->form_capacity : 4096;
    while (capacity - canon->form_size < size && capacity < KEEL_CANON_FORM_LIMIT)
        capacity *= 2;
    if (capacity - canon->form_size < size) {
        keel_canon_fail(canon, keel_status_make(KEEL_UNSUPPORTED,
                                                "an attribute of more than %zu bytes in its "
                                                "canonical form",
                                                KEEL_CANON_FORM_LIMIT));
        return NULL;
    }
    keel_status_t status = keel_realloc_array(capacity, 1, (void **)&canon->form);
    if (status) {
        keel_canon_fail(canon, status);
        return NULL;
    }
    canon->form_capacity = capacity;
    return canon->form + canon->form_size;
}

void keel_form_digest(keel_canon_t *canon, const keel_digest_t *digest) {
    keel_form_byte(canon, 1);
    keel_form_bytes(canon, digest->bytes, KEEL_DIGEST_SIZE);
}

void keel_form_content(keel_canon_t *canon, keel_bytes_t bytes) {
    if (bytes.size > KEEL_CANON_INLINE) {
        keel_digest_t digest = keel_digest(bytes);
        keel_form_digest(canon, &digest);
        return;
    }
    keel_form_number(canon, bytes.size << 1);
    keel_form_bytes(canon, bytes.data, bytes.size);
}

static keel_status_t grow_slots(keel_canon_t *canon) {
    uint32_t count = canon->slot_count * 2;
    uint32_t *slots;
    KEEL_TRY(array(count, sizeof *slots, (void **)&slots));
    for (uint32_t i = 1; i < canon->node_count; ++i) {
        uint32_t at = canon->nodes[i].hash & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i;
    }
    keel_free(canon->slots);
    canon->slots = slots;
    canon->slot_count = count;
    return NULL;
}

static keel_status_t intern(keel_canon_t *canon, const uint8_t *bytes, uint32_t size,
                            keel_node_id_t *out) {
    uint32_t hash = (uint32_t)keel_quick_hash(keel_bytes(bytes, size));
    uint32_t at = hash & (canon->slot_count - 1);
    for (; canon->slots[at]; at = (at + 1) & (canon->slot_count - 1)) {
        const keel_node_t *node = &canon->nodes[canon->slots[at]];
        if (node->hash == hash && node->size == size && memcmp(node->bytes, bytes, size) == 0) {
            *out = canon->slots[at];
            return NULL;
        }
    }
    KEEL_TRY(add_node(canon, hash, bytes, size));
    canon->slots[at] = *out = canon->node_count - 1;
    return canon->node_count * 2 > canon->slot_count ? grow_slots(canon) : NULL;
}

keel_node_id_t keel_form_end(keel_canon_t *canon, size_t begin) {
    if (canon->status) return 0;
    // The framed bytes are put behind the content, which then makes room.
    size_t end = canon->form_size;
    if (!keel_form_room(canon, end - begin + 10)) return 0;
    keel_form_content(canon, keel_bytes(canon->form + begin, end - begin));
    keel_node_id_t node = 0;
    keel_status_t status =
        intern(canon, canon->form + end, (uint32_t)(canon->form_size - end), &node);
    canon->form_size = begin;
    if (status) keel_canon_fail(canon, status);
    return status ? 0 : node;
}

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

static bool enter(keel_canon_t *canon) {
    if (canon->status) return false;
    if (canon->depth == KEEL_CANON_DEPTH) {
        keel_canon_fail(canon, keel_status_make(KEEL_UNSUPPORTED,
                                                "attributes or types more than %d deep in each "
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
    if (!enter(canon)) return 0;
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
        case KEEL_ATTR_DISTINCT: // equal content under two of them is two things
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
            break; // not here
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
    if (!enter(canon)) return 0;
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
