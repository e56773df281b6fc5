#include "read/mlir_merge.h"

#include "read/mlir_entry.h"

void keel_mlir_merger_initialize(keel_mlir_merger_t *merger, keel_mlir_t *m) {
    *merger = (keel_mlir_merger_t){.m = m};
}

void keel_mlir_merger_deinitialize(keel_mlir_merger_t *merger) {
    keel_free(merger->slots);
    *merger = (keel_mlir_merger_t){0};
}

static keel_mlir_merge_slot_t *locate(keel_mlir_merge_slot_t *slots, uint32_t mask, uint32_t name,
                                      uint32_t properties, uint32_t dictionary) {
    uint64_t hash = (properties * UINT64_C(0x9e3779b97f4a7c15)) ^
                    ((uint64_t)dictionary << 16 ^ name) * UINT64_C(0xc2b2ae3d27d4eb4f);
    for (uint32_t i = (uint32_t)(hash >> 32);; ++i) {
        keel_mlir_merge_slot_t *slot = &slots[i & mask];
        if (slot->name == KEEL_NONE || (slot->name == name && slot->properties == properties &&
                                        slot->dictionary == dictionary))
            return slot;
    }
}

static keel_status_t grow_merger(keel_mlir_merger_t *merger) {
    uint32_t capacity = merger->slots ? (merger->mask + 1) * 2 : 64;
    void *slots;
    KEEL_TRY(keel_alloc(capacity * sizeof(keel_mlir_merge_slot_t), &slots));
    memset(slots, 0xff, capacity * sizeof(keel_mlir_merge_slot_t));
    for (uint32_t i = 0; merger->slots && i <= merger->mask; ++i) {
        const keel_mlir_merge_slot_t *old = &merger->slots[i];
        if (old->name != KEEL_NONE)
            *locate(slots, capacity - 1, old->name, old->properties, old->dictionary) = *old;
    }
    keel_free(merger->slots);
    merger->slots = slots;
    merger->mask = capacity - 1;
    return NULL;
}

// ---- one dictionary ----------------------------------------------------------------------------

static bool is_dictionary(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = &program->attrs.data[id];
    return attr->kind == KEEL_ATTR_DICT && attr->klass == KEEL_RECORD_DICTIONARY;
}

static keel_status_t wrong_properties(const keel_mlir_t *m, uint32_t name) {
    keel_str_t text = keel_program_str(m->program, m->ops.data[name].name);
    return keel_status_make(KEEL_CORRUPT, "operation %.*s does not have the properties it should",
                            KEEL_STR_ARGS(text));
}

static keel_status_t push_pair(keel_mlir_t *m, keel_string_id_t name, keel_attr_id_t value) {
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, 2));
    m->program->pool.data[m->program->pool.count++] = name;
    m->program->pool.data[m->program->pool.count++] = value;
    return NULL;
}

static keel_status_t push_dictionary(keel_mlir_t *m, keel_attr_id_t dictionary) {
    uint32_t offset = m->program->attrs.data[dictionary].b;
    uint32_t count = keel_program_list(m->program, offset).count;
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, count));
    if (count)
        memcpy(m->program->pool.data + m->program->pool.count, m->program->pool.data + offset + 1,
               count * sizeof *m->program->pool.data);
    m->program->pool.count += count;
    return NULL;
}

// Properties of an operation that its writer did not know are in one dictionary.
static keel_status_t push_unregistered(keel_mlir_t *m, uint32_t name, keel_cursor_t *c) {
    keel_attr_id_t dictionary = keel_mlir_attr(m, c);
    if (c->failed || !is_dictionary(m->program, dictionary)) return wrong_properties(m, name);
    return push_dictionary(m, dictionary);
}

static keel_status_t push_properties(keel_mlir_t *m, uint32_t name, uint32_t properties) {
    const uint32_t *at = m->properties.data + properties;
    keel_bytes_t section = m->sections[KEEL_MLIR_PROPERTIES];
    // The blob's size comes first; the blob ends where the next one begins.
    keel_cursor_t c = keel_cursor(keel_bytes(section.data + at[0], at[1] - at[0]));
    keel_mlir_varint(&c);
    const keel_mlir_op_entry_t *entry = &m->ops.data[name];
    if (!entry->is_registered)
        KEEL_TRY(push_unregistered(m, name, &c));
    else
        for (const uint8_t *p = entry->op->properties; *p; ++p) {
            keel_attr_id_t value =
                *p & KEEL_MLIR_OPTIONAL ? keel_mlir_optional_attr(m, &c) : keel_mlir_attr(m, &c);
            if (c.failed) break;
            if (value == KEEL_NONE) continue;
            keel_string_id_t string;
            KEEL_TRY(keel_mlir_name_string(m, *p & ~KEEL_MLIR_OPTIONAL, &string));
            KEEL_TRY(push_pair(m, string, value));
        }
    return c.failed || c.at != c.end ? wrong_properties(m, name) : NULL;
}

// Makes a dictionary of the entries pushed after `offset`.
static keel_status_t close_dictionary(keel_mlir_t *m, uint32_t offset, keel_attr_id_t *out) {
    uint32_t count = m->program->pool.count - offset - 1;
    *out = KEEL_NONE;
    if (count == 0) {
        m->program->pool.count = offset;
        return NULL;
    }
    m->program->pool.data[offset] = count;
    keel_attr_t attr = {.kind = KEEL_ATTR_DICT, .b = offset};
    *out = m->program->attrs.count;
    KEEL_MLIR_PUSH(&m->program->attrs, attr);
    return NULL;
}

static keel_status_t build(keel_mlir_t *m, uint32_t name, uint32_t properties,
                           keel_attr_id_t dictionary, keel_attr_id_t *out) {
    uint32_t offset = m->program->pool.count;
    KEEL_MLIR_PUSH(&m->program->pool, 0);
    KEEL_TRY(push_properties(m, name, properties));
    if (dictionary != KEEL_NONE) KEEL_TRY(push_dictionary(m, dictionary));
    return close_dictionary(m, offset, out);
}

// The slot of these, which is free if they were not merged yet: whoever fills it counts it.
static keel_status_t find_slot(keel_mlir_merger_t *merger, uint32_t name, uint32_t properties,
                               uint32_t dictionary, keel_mlir_merge_slot_t **out) {
    if (merger->count * 4 >= (merger->slots ? merger->mask + 1 : 0) * 3)
        KEEL_TRY(grow_merger(merger));
    *out = locate(merger->slots, merger->mask, name, properties, dictionary);
    return NULL;
}

keel_status_t keel_mlir_merge(keel_mlir_merger_t *merger, uint32_t name, uint32_t properties,
                              keel_attr_id_t dictionary, keel_attr_id_t *out) {
    keel_mlir_t *m = merger->m;
    if (dictionary != KEEL_NONE) {
        if (!is_dictionary(m->program, dictionary))
            return keel_status_make(KEEL_CORRUPT, "attribute %u is not a dictionary", dictionary);
        if (!keel_program_list(m->program, m->program->attrs.data[dictionary].b).count)
            dictionary = KEEL_NONE;
    }
    const keel_mlir_op_entry_t *entry = &m->ops.data[name];
    if (properties == KEEL_NONE) {
        *out = dictionary;
        bool needs = m->version >= 5 && entry->is_registered && entry->op->properties[0] &&
                     !(entry->op->properties[0] & KEEL_MLIR_OPTIONAL);
        return needs ? wrong_properties(m, name) : NULL;
    }
    keel_mlir_merge_slot_t *slot;
    KEEL_TRY(find_slot(merger, name, properties, dictionary, &slot));
    if (slot->name == KEEL_NONE) {
        keel_attr_id_t merged;
        KEEL_TRY(build(m, name, properties, dictionary, &merged));
        *slot = (keel_mlir_merge_slot_t){name, properties, dictionary, merged};
        ++merger->count;
    }
    *out = slot->attribute;
    return NULL;
}

keel_status_t keel_mlir_without(keel_mlir_t *m, keel_attr_id_t dictionary,
                                const keel_mlir_name_t *names, size_t name_count,
                                keel_attr_id_t *out) {
    *out = KEEL_NONE;
    if (dictionary == KEEL_NONE) return NULL;
    uint32_t offset = m->program->pool.count, from = m->program->attrs.data[dictionary].b;
    uint32_t count = keel_program_list(m->program, from).count;
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, (uint64_t)count + 1));
    m->program->pool.data[m->program->pool.count++] = 0;
    for (uint32_t i = 0; i < count; i += 2) {
        const uint32_t *pair = m->program->pool.data + from + 1 + i;
        bool is_left_out = false;
        for (size_t n = 0; n < name_count; ++n)
            is_left_out |=
                keel_str_is(keel_program_str(m->program, pair[0]), keel_mlir_name(names[n]));
        if (!is_left_out) KEEL_TRY(push_pair(m, pair[0], pair[1]));
    }
    return close_dictionary(m, offset, out);
}

keel_status_t keel_mlir_merge_without(keel_mlir_merger_t *merger, uint32_t name,
                                      keel_attr_id_t dictionary, keel_mlir_name_t property,
                                      keel_attr_id_t *out) {
    keel_mlir_merge_slot_t *slot;
    KEEL_TRY(find_slot(merger, name, dictionary, KEEL_NONE, &slot));
    if (slot->name == KEEL_NONE) {
        keel_attr_id_t left;
        KEEL_TRY(keel_mlir_without(merger->m, dictionary, &property, 1, &left));
        *slot = (keel_mlir_merge_slot_t){name, dictionary, KEEL_NONE, left};
        ++merger->count;
    }
    *out = slot->attribute;
    return NULL;
}
