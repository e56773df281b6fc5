// form: the nodes that canonical forms consist of, and how they are written.
//
// Each distinct content is a node: a run of bytes that begins with a tag, followed by its parts in
// an order that depends only on the content. A run longer than KEEL_CANON_INLINE is replaced by its
// digest, from KEEL_CANON_BULK on by the one for large bytes. A node inside another is embedded
// with its frame (a varint: size << 1, or 1 for a digest), so two different contents never give the
// same bytes. Nodes are interned: within a canon, equal content is one node, whichever table
// entries it came from. Node 0 is "absent".
//
// Errors stick: after one, every call returns node 0; check `status` once. One thread at a time.
// Room-internal.
#ifndef KEEL_KEY_FORM_H_
#define KEEL_KEY_FORM_H_

#include "program/program.h"

enum { KEEL_CANON_INLINE = 256, KEEL_CANON_BULK = 1 << 20 };
// A form that takes more than this is not worth writing: the caller keys the bytes.
#define KEEL_CANON_FORM_LIMIT ((size_t)256 << 20)

typedef uint32_t keel_node_id_t;

typedef struct keel_node_t {
    const uint8_t *bytes; // frame and content
    uint32_t size;
    uint32_t hash;
    uint32_t stream; // the last stream that met it (stream.h)
    uint32_t number; // and its number there
} keel_node_t;

// What the compile options say about partitions.
typedef struct keel_partitioning_t {
    uint64_t partitions;
    bool is_searched; // the partitioner chooses unset shardings, or this is unknown
} keel_partitioning_t;

typedef struct keel_canon_t {
    const keel_program_t *program;
    keel_status_t status;
    keel_arena_t arena;
    keel_node_t *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *slots; // node numbers, 0 if free
    uint32_t slot_count;
    // Nodes of the program's tables, plus 1; 0: not made yet.
    keel_node_id_t *types, *attrs, *op_attrs, *op_names;
    uint8_t *op_kinds;      // by operation name: keel_op_kind_t
    keel_map_t symbols;     // name -> what it refers to, see symbols.h
    keel_digest_t *digests; // of functions, valid if `digested`
    uint8_t *digested;      // by function
    keel_node_id_t *meshes; // references to each mesh operation
    keel_op_id_t *mesh_ops;
    bool *mesh_named; // whether anything so far refers to it
    uint32_t mesh_count;
    // The output buffer: nested nodes are written one after the other.
    uint8_t *form;
    size_t form_size, form_capacity;
    unsigned depth;
    uint32_t distinct_count; // distinct attributes met so far
    // The streams over this canon (stream.h): how many were begun, and the shapes that they met.
    uint32_t streams;
    struct keel_shape_t *shapes;
    uint32_t shape_capacity;
    bool is_hlo;
    keel_partitioning_t partitioning;
    uint8_t replication; // sharding.c: what is known about it
} keel_canon_t;

// Makes room for nodes, and node 0. keel_canon_deinitialize frees what it allocates.
keel_status_t keel_form_initialize(keel_canon_t *canon) KEEL_MUST_CHECK;
void keel_canon_fail(keel_canon_t *canon, keel_status_t status);

// ---- writing -----------------------------------------------------------------------------------

// Room for `size` more bytes; NULL after a failure.
uint8_t *keel_form_grow(keel_canon_t *canon, size_t size);
static inline uint8_t *keel_form_room(keel_canon_t *canon, size_t size) {
    if (canon->form_capacity - canon->form_size >= size) return canon->form + canon->form_size;
    return keel_form_grow(canon, size);
}
static inline void keel_form_bytes(keel_canon_t *canon, const void *data, size_t size) {
    if (!size) return;
    uint8_t *room = keel_form_room(canon, size);
    if (!room) return;
    memcpy(room, data, size);
    canon->form_size += size;
}
static inline void keel_form_byte(keel_canon_t *canon, uint8_t byte) {
    keel_form_bytes(canon, &byte, 1);
}
static inline void keel_form_number(keel_canon_t *canon, uint64_t value) {
    uint8_t *room = keel_form_room(canon, 10);
    if (!room) return;
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        room[size++] = (uint8_t)value | 0x80;
    room[size++] = (uint8_t)value;
    canon->form_size += size;
}
static inline void keel_form_signed(keel_canon_t *canon, int64_t value) {
    keel_form_number(canon, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}
static inline void keel_form_node(keel_canon_t *canon, keel_node_id_t node) {
    if (!canon->status) keel_form_bytes(canon, canon->nodes[node].bytes, canon->nodes[node].size);
}
// Framed bytes, or their digest if there are many.
void keel_form_content(keel_canon_t *canon, keel_bytes_t bytes);
void keel_form_digest(keel_canon_t *canon, const keel_digest_t *digest);
static inline void keel_form_str(keel_canon_t *canon, keel_str_t text) {
    keel_form_content(canon, keel_str_bytes(text));
}

// Begins a node: everything written from here to keel_form_end is its content.
static inline size_t keel_form_begin(keel_canon_t *canon, uint8_t tag) {
    size_t at = canon->form_size;
    keel_form_byte(canon, tag);
    return at;
}
keel_node_id_t keel_form_end(keel_canon_t *canon, size_t begin);

// Tags that are not the number of a type's or an attribute's kind.
enum {
    KEEL_TAG_TYPE = 0x80, // plus the kind
    KEEL_TAG_OP_NAME = 0x40,
    KEEL_TAG_FUNCTION,
    KEEL_TAG_MESH,
    KEEL_TAG_DICT,
    KEEL_TAG_LOCATION,
    KEEL_TAG_TENSOR_RAW,
};

// The tensor's canonical form (canon_tensor.c), which follows its type.
void keel_form_tensor(keel_canon_t *canon, keel_type_id_t type, keel_bytes_t blob);
// Writes a kernel's configuration without the part that only debuggers read (kernel.c).
void keel_form_kernel(keel_canon_t *canon, keel_str_t json);

#endif // KEEL_KEY_FORM_H_
