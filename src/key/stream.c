#include "key/stream.h"

void keel_stream_begin(keel_stream_t *stream, keel_canon_t *canon, const char *what) {
    stream->canon = canon;
    stream->id = ++canon->streams;
    stream->nodes = stream->shapes = 0;
    stream->used = 0;
    keel_hasher_initialize(&stream->hasher);
    keel_hasher_update(&stream->hasher, what, strlen(what) + 1);
}

static void flush(keel_stream_t *stream) {
    keel_hasher_update(&stream->hasher, stream->data, stream->used);
    stream->used = 0;
}

keel_digest_t keel_stream_end(keel_stream_t *stream) {
    flush(stream);
    return keel_hasher_finish(&stream->hasher);
}

// `size` bytes at stream->data + stream->used; at most the whole buffer.
static inline uint8_t *room(keel_stream_t *stream, size_t size) {
    if (sizeof stream->data - stream->used < size) flush(stream);
    return stream->data + stream->used;
}

static inline uint8_t *write_number(uint8_t *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *out++ = (uint8_t)value | 0x80;
    *out++ = (uint8_t)value;
    return out;
}

static inline void hash_number(keel_stream_t *stream, uint64_t value) {
    uint8_t *out = room(stream, 10);
    stream->used += (size_t)(write_number(out, value) - out);
}

void keel_stream_number(keel_stream_t *stream, uint64_t value) {
    hash_number(stream, value);
}

static inline void put(keel_stream_t *stream, const void *data, size_t size) {
    memcpy(room(stream, size), data, size);
    stream->used += size;
}

static inline void node(keel_stream_t *stream, keel_node_id_t id) {
    keel_node_t *n = &stream->canon->nodes[id];
    if (n->stream == stream->id) {
        hash_number(stream, n->number);
        return;
    }
    n->stream = stream->id;
    n->number = ++stream->nodes;
    hash_number(stream, 0);
    put(stream, n->bytes, n->size);
}

void keel_stream_node(keel_stream_t *stream, keel_node_id_t id) {
    if (!stream->canon->status) node(stream, id);
}

void keel_stream_digest(keel_stream_t *stream, const keel_digest_t *digest) {
    put(stream, digest->bytes, KEEL_DIGEST_SIZE);
}

static inline keel_node_id_t type_of(keel_canon_t *canon, keel_value_id_t value) {
    uint32_t type = canon->program->value_types.data[value];
    keel_node_id_t made = canon->types[type];
    return made ? made - 1 : keel_canon_type(canon, type);
}

void keel_stream_region(keel_stream_t *stream, const keel_region_t *region) {
    hash_number(stream, region->block_count);
    for (uint32_t b = 0; b < region->block_count; ++b) {
        const keel_block_t *block = &stream->canon->program->blocks.data[region->first_block + b];
        hash_number(stream, block->end_op - block->first_op);
        hash_number(stream, block->argument_count);
        for (uint32_t i = 0; i < block->argument_count && !stream->canon->status; ++i)
            keel_stream_node(stream, type_of(stream->canon, block->first_argument + i));
    }
}

// Regions are in the order of the operations they belong to; `*at` advances.
static void regions_of(keel_stream_t *stream, keel_op_id_t op, uint32_t *at) {
    const keel_program_t *program = stream->canon->program;
    while (*at < program->regions.count && program->regions.data[*at].parent < op)
        ++*at;
    uint32_t first = *at;
    while (*at < program->regions.count && program->regions.data[*at].parent == op)
        ++*at;
    hash_number(stream, *at - first);
    for (uint32_t i = first; i < *at; ++i)
        keel_stream_region(stream, &program->regions.data[i]);
}

// ---- operations --------------------------------------------------------------------------------

// How an operation begins; numbers from FIRST_SHAPE on are shapes.
enum { NEW_SHAPE, WRITTEN_OUT, FIRST_SHAPE };

static inline uint32_t slot_of(const keel_shape_t *shape, uint32_t capacity) {
    uint64_t hash =
        ((uint64_t)shape->name << 32 | shape->attributes) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= ((uint64_t)shape->type << 32 | shape->counts) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 32 ^ hash >> 48) & (capacity - 1);
}

static inline bool is_shape(const keel_shape_t *a, const keel_shape_t *b) {
    return a->name == b->name && a->attributes == b->attributes && a->type == b->type &&
           a->counts == b->counts;
}

// Its slot, or the free one where it would go.
static inline keel_shape_t *find_shape(keel_shape_t *shapes, uint32_t capacity, uint32_t stream,
                                       const keel_shape_t *shape) {
    uint32_t at = slot_of(shape, capacity);
    while (shapes[at].stream == stream && !is_shape(&shapes[at], shape))
        at = (at + 1) & (capacity - 1);
    return &shapes[at];
}

static keel_status_t grow_shapes(keel_canon_t *canon, uint32_t stream) {
    uint32_t capacity = canon->shape_capacity ? canon->shape_capacity * 2 : 512;
    void *shapes = NULL;
    KEEL_TRY(keel_calloc(capacity, sizeof(keel_shape_t), &shapes));
    for (uint32_t i = 0; i < canon->shape_capacity; ++i)
        if (canon->shapes[i].stream == stream)
            *find_shape(shapes, capacity, stream, &canon->shapes[i]) = canon->shapes[i];
    keel_free(canon->shapes);
    canon->shapes = shapes;
    canon->shape_capacity = capacity;
    return NULL;
}

static void put_new_shape(keel_stream_t *stream, const keel_shape_t *shape) {
    hash_number(stream, NEW_SHAPE);
    keel_stream_node(stream, shape->name);
    keel_stream_node(stream, shape->attributes);
    hash_number(stream, shape->counts);
    if (shape->counts & 1) keel_stream_node(stream, shape->type);
}

static void put_shape(keel_stream_t *stream, keel_shape_t *shape) {
    keel_canon_t *canon = stream->canon;
    if (stream->shapes * 2 >= canon->shape_capacity) {
        keel_status_t status = grow_shapes(canon, stream->id);
        if (status) {
            keel_canon_fail(canon, status);
            return;
        }
    }
    keel_shape_t *slot = find_shape(canon->shapes, canon->shape_capacity, stream->id, shape);
    if (slot->stream == stream->id) {
        hash_number(stream, slot->number);
        return;
    }
    shape->stream = stream->id;
    shape->number = FIRST_SHAPE + stream->shapes++;
    *slot = *shape;
    put_new_shape(stream, shape);
}

static void put_written_out(keel_stream_t *stream, const keel_operation_t *operation,
                            const keel_shape_t *shape) {
    bool has_regions = operation->name & KEEL_OP_HAS_REGIONS;
    hash_number(stream, WRITTEN_OUT);
    keel_stream_node(stream, shape->name);
    keel_stream_node(stream, shape->attributes);
    hash_number(stream, (uint64_t)operation->result_count << 1 | has_regions);
    for (uint32_t i = 0; i < operation->result_count && !stream->canon->status; ++i)
        keel_stream_node(stream, type_of(stream->canon, operation->first_result + i));
    hash_number(stream, shape->counts >> 1);
}

// Operands count back from the results met so far, so most of them take one byte.
static inline void put_operands(keel_stream_t *stream, const keel_value_id_t *operands,
                                uint32_t count, int64_t results) {
    enum { AT_ONCE = 16 };
    while (count) {
        uint32_t some = count < AT_ONCE ? count : AT_ONCE;
        uint8_t *begin = room(stream, 10 * AT_ONCE), *out = begin;
        for (uint32_t i = 0; i < some; ++i) {
            int64_t back = results - operands[i];
            out = write_number(out, ((uint64_t)back << 1) ^ (uint64_t)(back >> 63));
        }
        stream->used += (size_t)(out - begin);
        operands += some;
        count -= some;
    }
}

void keel_stream_operations(keel_stream_t *stream, keel_op_id_t first, keel_op_id_t end,
                            keel_value_id_t base) {
    keel_canon_t *canon = stream->canon;
    const keel_program_t *program = canon->program;
    uint32_t region = keel_program_first_region(program, first);
    int64_t results = base;
    // Local copies: writing bytes would otherwise force the compiler to reload these each time.
    const keel_operation_t *const operations = program->operations.data;
    const keel_node_id_t *const op_names = canon->op_names, *const op_attrs = canon->op_attrs;
    const keel_node_id_t *const types = canon->types;
    const uint16_t *const value_types = program->value_types.data;
    const keel_value_id_t *const operands = program->operands.data;
    for (keel_op_id_t op = first; op < end && !canon->status; ++op) {
        const keel_operation_t *o = &operations[op];
        unsigned name = o->name & ~(unsigned)KEEL_OP_HAS_REGIONS;
        uint32_t operand_count = o[1].first_operand - o->first_operand;
        bool is_plain = o->result_count <= 1 && !(o->name & KEEL_OP_HAS_REGIONS);
        keel_node_id_t made = op_names[name];
        keel_shape_t shape = {.counts = operand_count << 1 | (o->result_count & 1)};
        shape.name = made ? made - 1 : keel_canon_op_name(canon, name);
        made = o->attributes == KEEL_NONE ? 1 : op_attrs[o->attributes];
        shape.attributes = made ? made - 1 : keel_canon_op_attrs(canon, op);
        if (is_plain) {
            if (o->result_count) {
                made = types[value_types[o->first_result]];
                shape.type = made ? made - 1 : type_of(canon, o->first_result);
            }
            put_shape(stream, &shape);
        } else {
            put_written_out(stream, o, &shape);
        }
        if (operand_count)
            put_operands(stream, operands + o->first_operand, operand_count, results);
        if (o->name & KEEL_OP_HAS_REGIONS) regions_of(stream, op, &region);
        results += o->result_count;
    }
}
