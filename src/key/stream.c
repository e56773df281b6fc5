#include "key/stream.h"

void keel_stream_begin(keel_stream_t *stream, keel_canon_t *canon, const char *what) {
    stream->canon = canon;
    stream->id = ++canon->streams;
    stream->nodes = 0;
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

// `size` bytes at stream->data + stream->used; at most the whole of it.
static inline uint8_t *room(keel_stream_t *stream, size_t size) {
    if (sizeof stream->data - stream->used < size) flush(stream);
    return stream->data + stream->used;
}

static inline void number(keel_stream_t *stream, uint64_t value) {
    uint8_t *out = room(stream, 10);
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        out[size++] = (uint8_t)value | 0x80;
    out[size++] = (uint8_t)value;
    stream->used += size;
}

void keel_stream_number(keel_stream_t *stream, uint64_t value) {
    number(stream, value);
}

static inline void put(keel_stream_t *stream, const void *data, size_t size) {
    memcpy(room(stream, size), data, size);
    stream->used += size;
}

static inline void node(keel_stream_t *stream, keel_node_id_t id) {
    keel_node_t *n = &stream->canon->nodes[id];
    if (n->stream == stream->id) {
        number(stream, n->number);
        return;
    }
    n->stream = stream->id;
    n->number = ++stream->nodes;
    number(stream, 0);
    put(stream, n->bytes, n->size);
}

void keel_stream_node(keel_stream_t *stream, keel_node_id_t id) {
    if (!stream->canon->status) node(stream, id);
}

void keel_stream_digest(keel_stream_t *stream, const keel_digest_t *digest) {
    put(stream, digest->bytes, KEEL_DIGEST_SIZE);
}

static inline void type_of(keel_stream_t *stream, keel_value_id_t value) {
    keel_canon_t *canon = stream->canon;
    uint32_t type = canon->program->value_types.data[value];
    keel_node_id_t made = canon->types[type];
    keel_stream_node(stream, made ? made - 1 : keel_canon_type(canon, type));
}

void keel_stream_region(keel_stream_t *stream, const keel_region_t *region) {
    number(stream, region->block_count);
    for (uint32_t b = 0; b < region->block_count; ++b) {
        const keel_block_t *block = &stream->canon->program->blocks.data[region->first_block + b];
        number(stream, block->end_op - block->first_op);
        number(stream, block->argument_count);
        for (uint32_t i = 0; i < block->argument_count && !stream->canon->status; ++i)
            type_of(stream, block->first_argument + i);
    }
}

// Regions stand in the order of the operations they belong to; `*at` follows.
static void regions_of(keel_stream_t *stream, keel_op_id_t op, uint32_t *at) {
    const keel_program_t *program = stream->canon->program;
    while (*at < program->regions.count && program->regions.data[*at].parent < op)
        ++*at;
    uint32_t first = *at;
    while (*at < program->regions.count && program->regions.data[*at].parent == op)
        ++*at;
    number(stream, *at - first);
    for (uint32_t i = first; i < *at; ++i)
        keel_stream_region(stream, &program->regions.data[i]);
}

static uint32_t first_region(const keel_program_t *program, keel_op_id_t op) {
    uint32_t low = 0, high = program->regions.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (program->regions.data[middle].parent < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void keel_stream_operations(keel_stream_t *stream, keel_op_id_t first, keel_op_id_t end,
                            keel_value_id_t base) {
    keel_canon_t *canon = stream->canon;
    const keel_program_t *program = canon->program;
    uint32_t region = first_region(program, first);
    // Operands count back from the results met so far, so that most of them take one byte.
    int64_t results = base;
    for (keel_op_id_t op = first; op < end && !canon->status; ++op) {
        const keel_operation_t *o = &program->operations.data[op];
        unsigned name = o->name & ~(unsigned)KEEL_OP_HAS_REGIONS;
        keel_node_id_t made = canon->op_names[name];
        keel_stream_node(stream, made ? made - 1 : keel_canon_op_name(canon, name));
        made = o->attributes == KEEL_NONE ? 1 : canon->op_attrs[o->attributes];
        keel_stream_node(stream, made ? made - 1 : keel_canon_op_attrs(canon, op));

        bool has_regions = o->name & KEEL_OP_HAS_REGIONS;
        number(stream, (uint64_t)o->result_count << 1 | has_regions);
        for (uint32_t i = 0; i < o->result_count; ++i)
            type_of(stream, o->first_result + i);
        uint32_t operand_count = o[1].first_operand - o->first_operand;
        number(stream, operand_count);
        for (uint32_t i = 0; i < operand_count; ++i) {
            int64_t back = results - program->operands.data[o->first_operand + i];
            number(stream, ((uint64_t)back << 1) ^ (uint64_t)(back >> 63));
        }
        if (has_regions) regions_of(stream, op, &region);
        results += o->result_count;
    }
}
