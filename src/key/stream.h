// stream: hashes items in order. A node is written in full the first time and later as its number
// of appearance, so a digest depends on content and order, never on the tables' numbers.
//
// Most operations are one number and their operands: the name and attributes of an operation, its
// number of operands and the type of its result form its shape, and shapes are numbered like nodes.
// Operations with regions or with several results are written out. Room-internal.
#ifndef KEEL_KEY_STREAM_H_
#define KEEL_KEY_STREAM_H_

#include "key/canon.h"

typedef struct keel_shape_t {
    keel_node_id_t name, attributes, type;
    uint32_t counts; // operands << 1 | results
    uint32_t stream; // the stream that it belongs to; a slot of another stream counts as free
    uint32_t number;
} keel_shape_t;

typedef struct keel_stream_t {
    keel_canon_t *canon;
    uint32_t id;
    uint32_t nodes, shapes; // met so far
    size_t used;
    uint8_t data[4096];
    keel_hasher_t hasher;
} keel_stream_t;

// Begins with a text that says what is hashed. A second stream over one canon ends the first.
void keel_stream_begin(keel_stream_t *stream, keel_canon_t *canon, const char *what);
keel_digest_t keel_stream_end(keel_stream_t *stream);

void keel_stream_number(keel_stream_t *stream, uint64_t value);
void keel_stream_node(keel_stream_t *stream, keel_node_id_t node);
void keel_stream_digest(keel_stream_t *stream, const keel_digest_t *digest);
// The operations [first, end) and everything inside them; values are counted from `base`.
void keel_stream_operations(keel_stream_t *stream, keel_op_id_t first, keel_op_id_t end,
                            keel_value_id_t base);
void keel_stream_region(keel_stream_t *stream, const keel_region_t *region);

#endif // KEEL_KEY_STREAM_H_
