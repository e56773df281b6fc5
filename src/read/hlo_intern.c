// Stores equal items of a table once. An item is appended, then searched for among the earlier
// ones, and removed again if it is found.
#include "read/hlo_reader.h"

typedef bool same_t(const keel_program_t *program, uint32_t a, uint32_t b);

static keel_status_t grow_set(keel_hlo_set_t *set) {
    uint32_t capacity = set->capacity ? set->capacity * 2 : 64;
    void *fresh;
    if (set->capacity >= KEEL_IN_TEXT)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: %u different items of one kind",
                                set->count);
    KEEL_TRY(keel_calloc(capacity, sizeof *set->slots, &fresh));
    uint64_t *slots = fresh;
    for (uint32_t i = 0; i < set->capacity; ++i) {
        if (!set->slots[i]) continue;
        uint32_t at = (uint32_t)(set->slots[i] >> 32) & (capacity - 1);
        while (slots[at])
            at = (at + 1) & (capacity - 1);
        slots[at] = set->slots[i];
    }
    keel_free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return NULL;
}

void keel_hlo_set_deinitialize(keel_hlo_set_t *set) {
    keel_free(set->slots);
    *set = (keel_hlo_set_t){0};
}

// The index of an item equal to `item`, which may be itself.
static keel_status_t intern(keel_hlo_reader_t *reader, keel_hlo_set_t *set, const void *bytes,
                            size_t size, same_t *same, uint32_t item, uint32_t *out) {
    if ((uint64_t)set->count * 4 >= (uint64_t)set->capacity * 3) KEEL_TRY(grow_set(set));
    uint32_t hash = (uint32_t)keel_quick_hash(keel_bytes(bytes, size));
    uint32_t at = hash & (set->capacity - 1);
    for (; set->slots[at]; at = (at + 1) & (set->capacity - 1)) {
        if (set->slots[at] >> 32 != hash) continue;
        *out = (uint32_t)set->slots[at] - 1;
        if (same(reader->program, *out, item)) return NULL;
    }
    set->slots[at] = (uint64_t)hash << 32 | ((uint64_t)item + 1);
    ++set->count;
    *out = item;
    return NULL;
}

static bool same_string(const keel_program_t *program, uint32_t a, uint32_t b) {
    return keel_str_equal(keel_program_str(program, a), keel_program_str(program, b));
}

static keel_status_t intern_string(keel_hlo_reader_t *reader, keel_string_id_t item,
                                   keel_string_id_t *out) {
    keel_str_t text = keel_program_str(reader->program, item);
    KEEL_TRY(intern(reader, &reader->strings, text.data, text.size, same_string, item, out));
    if (*out != item) --reader->program->strings.count;
    return NULL;
}

keel_status_t keel_hlo_string(keel_hlo_reader_t *reader, keel_bytes_t bytes,
                              keel_string_id_t *out) {
    keel_program_t *program = reader->program;
    uint32_t at = bytes.size ? (uint32_t)(bytes.data - program->source.data) : 0;
    uint32_t item = program->strings.count;
    KEEL_PUSH(&program->strings, ((keel_slice_t){at, (uint32_t)bytes.size}));
    return intern_string(reader, item, out);
}

keel_status_t keel_hlo_field_name(keel_hlo_reader_t *reader, uint32_t field,
                                  keel_string_id_t *out) {
    if (reader->names[field] == KEEL_NONE) {
        keel_string_id_t item;
        KEEL_TRY(
            keel_program_add_text(reader->program, keel_str(keel_hlo_fields[field].name), &item));
        KEEL_TRY(intern_string(reader, item, &reader->names[field]));
    }
    *out = reader->names[field];
    return NULL;
}

static bool same_attr(const keel_program_t *program, uint32_t a, uint32_t b) {
    return memcmp(&program->attrs.data[a], &program->attrs.data[b], sizeof(keel_attr_t)) == 0;
}

keel_status_t keel_hlo_attr(keel_hlo_reader_t *reader, keel_attr_t attr, keel_attr_id_t *out) {
    keel_program_t *program = reader->program;
    uint32_t item = program->attrs.count;
    KEEL_PUSH(&program->attrs, attr);
    KEEL_TRY(intern(reader, &reader->attrs, &program->attrs.data[item], sizeof attr, same_attr,
                    item, out));
    if (*out != item) --program->attrs.count;
    return NULL;
}

static bool same_int(const keel_program_t *program, uint32_t a, uint32_t b) {
    return program->ints.data[a] == program->ints.data[b];
}

keel_status_t keel_hlo_int(keel_hlo_reader_t *reader, int64_t value, uint32_t *out) {
    keel_program_t *program = reader->program;
    uint32_t item = program->ints.count;
    KEEL_PUSH(&program->ints, value);
    KEEL_TRY(intern(reader, &reader->numbers, &value, sizeof value, same_int, item, out));
    if (*out != item) --program->ints.count;
    return NULL;
}

static bool same_ints(const keel_program_t *program, uint32_t a, uint32_t b) {
    const int64_t *data = program->ints.data;
    return data[a] == data[b] &&
           memcmp(data + a, data + b, ((size_t)data[a] + 1) * sizeof *data) == 0;
}

keel_status_t keel_hlo_close_ints(keel_hlo_reader_t *reader, uint32_t start, uint32_t *out) {
    keel_program_t *program = reader->program;
    uint32_t size = program->ints.count - start;
    program->ints.data[start] = size - 1;
    KEEL_TRY(intern(reader, &reader->int_lists, program->ints.data + start,
                    (size_t)size * sizeof(int64_t), same_ints, start, out));
    if (*out != start) program->ints.count = start;
    return NULL;
}

static bool same_list(const keel_program_t *program, uint32_t a, uint32_t b) {
    const uint32_t *data = program->pool.data;
    return data[a] == data[b] &&
           memcmp(data + a, data + b, ((size_t)data[a] + 1) * sizeof *data) == 0;
}

keel_status_t keel_hlo_list(keel_hlo_reader_t *reader, const uint32_t *items, uint32_t count,
                            uint32_t *out) {
    keel_program_t *program = reader->program;
    uint32_t start;
    KEEL_TRY(keel_program_add_list(program, items, count, &start));
    KEEL_TRY(intern(reader, &reader->lists, program->pool.data + start,
                    ((size_t)count + 1) * sizeof(uint32_t), same_list, start, out));
    if (*out != start) program->pool.count = start;
    return NULL;
}

static bool same_type(const keel_program_t *program, uint32_t a, uint32_t b) {
    const keel_type_t *x = &program->types.data[a], *y = &program->types.data[b];
    return x->kind == y->kind && x->aux == y->aux && x->a == y->a && x->b == y->b && x->c == y->c;
}

keel_status_t keel_hlo_add_type(keel_hlo_reader_t *reader, keel_type_t type, keel_type_id_t *out) {
    keel_program_t *program = reader->program;
    uint32_t item = program->types.count;
    KEEL_PUSH(&program->types, type);
    const uint32_t parts[] = {type.kind, type.aux, type.a, type.b, type.c};
    KEEL_TRY(intern(reader, &reader->types, parts, sizeof parts, same_type, item, out));
    if (*out != item) --program->types.count;
    if (*out > UINT16_MAX)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: more than %d types", UINT16_MAX + 1);
    return NULL;
}

keel_status_t keel_hlo_push_pair(keel_hlo_reader_t *reader, keel_string_id_t name,
                                 keel_attr_id_t attr) {
    KEEL_PUSH(&reader->stack, name);
    KEEL_PUSH(&reader->stack, attr);
    return NULL;
}

keel_status_t keel_hlo_close(keel_hlo_reader_t *reader, uint32_t mark, keel_attr_kind_t kind,
                             keel_record_t klass, keel_attr_id_t *out) {
    uint32_t list;
    KEEL_TRY(keel_hlo_list(reader, reader->stack.data ? reader->stack.data + mark : NULL,
                           reader->stack.count - mark, &list));
    reader->stack.count = mark;
    return keel_hlo_attr(
        reader, (keel_attr_t){.kind = (uint8_t)kind, .klass = (uint16_t)klass, .b = list}, out);
}

keel_hlo_seen_t *keel_hlo_seen(const keel_hlo_reader_t *reader, const keel_hlo_pieces_t *pieces) {
    if (pieces->count != 1 || pieces->items[0].size > 4096) return NULL;
    return &reader->seen[keel_quick_hash(pieces->items[0]) % KEEL_HLO_SEEN];
}

bool keel_hlo_is_seen(const keel_hlo_seen_t *seen, keel_hlo_message_id_t message,
                      const keel_hlo_pieces_t *pieces) {
    return seen && seen->bytes.data && seen->message == message &&
           keel_bytes_equal(seen->bytes, pieces->items[0]);
}

void keel_hlo_remember(keel_hlo_seen_t *seen, keel_hlo_message_id_t message,
                       const keel_hlo_pieces_t *pieces, uint32_t id) {
    if (seen) *seen = (keel_hlo_seen_t){pieces->items[0], message, id};
}
