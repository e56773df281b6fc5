// hlo_reader: shared by the parts of the reader of HloModuleProto (read/read.h is for its users).
// Which fields there are is in hlo_schema.h.
//
//   hlo_wire.c        messages on the wire, checked against the tables
//   hlo_intern.c      every table of the program holds equal things once
//   hlo_type.c        shapes and layouts
//   hlo_attribute.c   fields -> attributes
//   hlo_literal.c     constants
//   hlo_location.c    metadata and stack frames -> locations
//   hlo.c             module, computations, instructions
//
// How a module maps to the model. A computation is a function of one block without arguments; an
// instruction is an operation of the dialect "hlo" with one result. So a value's number is its
// operation's, and a parameter is an operation with `parameter_number`. Attributes have the names
// of the proto's fields; a nested message is a DICT of class HLO_MESSAGE with its fields ordered by
// number. A field that holds its default is left out, as it would be on the wire, unless the proto
// distinguishes "absent" from "default".
//
// Attributes leave out names, ids, metadata (except a sharding's, unless it is a position),
// statistics and original values. References by id are resolved:
//   called_computations    ARRAY of SYMBOL, the names of functions
//   control_predecessors   INTS, indices of instructions in their computation, from 0
//   schedule               of a function: INTS, the same indices in the order of the schedule
//
// Shardings (`sharding`, `spmd_output_sharding`, ...) are the OpSharding as the client wrote it:
// DICT with `type` (ENUM, absent: REPLICATED), `tile_assignment_dimensions`, and the devices either
// as `tile_assignment_devices` or as `iota_reshape_dims` and `iota_transpose_perm`; or
// `named_sharding`, which overrides all others. {} is {replicated}. An instruction without a
// sharding has no such attribute. Nothing is canonicalized here.
#ifndef KEEL_READ_HLO_READER_H_
#define KEEL_READ_HLO_READER_H_

#include "read/hlo_schema.h"

// A set of indices into one of the program's tables, to find equal items.
typedef struct keel_hlo_set_t {
    uint64_t *slots; // hash << 32 | index + 1; 0: free
    uint32_t capacity, count;
} keel_hlo_set_t;

typedef struct keel_hlo_stack_frame_t {
    uint32_t location, parent; // numbers from 1, as on the wire
    keel_attr_id_t attr;       // of the frame with its outer frames
    uint8_t state;
} keel_hlo_stack_frame_t;

// Programs repeat the same shapes and dimension numbers many times: what such bytes were read as.
enum { KEEL_HLO_SEEN = 256 };
typedef struct keel_hlo_seen_t {
    keel_bytes_t bytes;
    uint32_t message; // keel_hlo_message_id_t
    uint32_t id;      // type of a shape, attribute of any other message
} keel_hlo_seen_t;

typedef struct keel_hlo_reader_t {
    keel_program_t *program;
    keel_hlo_seen_t *seen;                      // KEEL_HLO_SEEN of them, by hash
    uint32_t first[KEEL_HLO_MESSAGE_COUNT + 1]; // index of a message's name in keel_hlo_fields
    keel_string_id_t *names;                    // the string of each field's name, or NONE
    KEEL_TABLE(uint32_t) stack;                 // lists under construction
    keel_hlo_set_t strings, numbers, int_lists, lists, attrs, types;
    KEEL_TABLE(keel_string_id_t) files;
    KEEL_TABLE(keel_string_id_t) functions;
    KEEL_TABLE(keel_attr_id_t) places;
    KEEL_TABLE(keel_hlo_stack_frame_t) frames;
    keel_attr_id_t unknown_location;
    bool is_called; // the computation at hand is one that others call
    unsigned depth;
} keel_hlo_reader_t;

// ---- wire --------------------------------------------------------------------------------------

// A message as it is in the file. If it comes in several pieces, they are merged.
enum { KEEL_HLO_PIECES = 8 };
typedef struct keel_hlo_pieces_t {
    keel_bytes_t items[KEEL_HLO_PIECES];
    unsigned count;
} keel_hlo_pieces_t;

static inline keel_hlo_pieces_t keel_hlo_piece(keel_bytes_t bytes) {
    return (keel_hlo_pieces_t){.items = {bytes}, .count = 1};
}

// Walks the fields of one number, or all if the number is 0. The pieces must outlive it.
typedef struct keel_hlo_walk_t {
    const keel_hlo_pieces_t *pieces;
    keel_cursor_t cursor;
    uint32_t number;
    unsigned piece;
} keel_hlo_walk_t;

keel_hlo_walk_t keel_hlo_walk(const keel_hlo_pieces_t *pieces, uint32_t number);
bool keel_hlo_next(keel_hlo_walk_t *walk, keel_proto_field_t *out);

// Which fields of a message are present: bit i for keel_hlo_fields[first + i].
typedef struct keel_hlo_present_t {
    uint64_t bits[2];
} keel_hlo_present_t;

// Checks that the message is well-formed and that all its fields are known. Call it before any
// other function reads the message.
keel_status_t keel_hlo_scan(const keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                            const keel_hlo_pieces_t *pieces,
                            keel_hlo_present_t *out) KEEL_MUST_CHECK;

// Writes the last fields of these numbers, and zeros (wire type VARINT) for absent ones.
void keel_hlo_lasts(const keel_hlo_pieces_t *pieces, const uint8_t *numbers, uint32_t count,
                    keel_proto_field_t *out);
// The last field of that number, which is the valid one.
bool keel_hlo_last(const keel_hlo_pieces_t *pieces, uint32_t number, keel_proto_field_t *out);
uint64_t keel_hlo_last_value(const keel_hlo_pieces_t *pieces, uint32_t number);
keel_bytes_t keel_hlo_last_bytes(const keel_hlo_pieces_t *pieces, uint32_t number);
// All pieces of a nested message; count 0 if it is absent.
keel_status_t keel_hlo_nested(const keel_hlo_pieces_t *pieces, uint32_t number,
                              keel_hlo_pieces_t *out) KEEL_MUST_CHECK;

// The numbers of a repeated field, packed or not.
typedef struct keel_hlo_numbers_t {
    keel_hlo_walk_t walk;
    keel_cursor_t run;
    keel_wire_type_t wire; // of one number
    bool failed;
} keel_hlo_numbers_t;

keel_hlo_numbers_t keel_hlo_numbers(const keel_hlo_pieces_t *pieces, uint32_t number,
                                    keel_wire_type_t wire);
// False at the end, or at an impossible number (`failed`).
bool keel_hlo_next_number(keel_hlo_numbers_t *numbers, uint64_t *out);

// Enters one level of nesting; KEEL_UNSUPPORTED if that is too deep. Leave by --reader->depth.
keel_status_t keel_hlo_enter(keel_hlo_reader_t *reader) KEEL_MUST_CHECK;

// ---- interning ---------------------------------------------------------------------------------

void keel_hlo_set_deinitialize(keel_hlo_set_t *set);
// A string of the source.
keel_status_t keel_hlo_string(keel_hlo_reader_t *reader, keel_bytes_t bytes,
                              keel_string_id_t *out) KEEL_MUST_CHECK;
// The name of the field at that index in keel_hlo_fields.
keel_status_t keel_hlo_field_name(keel_hlo_reader_t *reader, uint32_t field,
                                  keel_string_id_t *out) KEEL_MUST_CHECK;
keel_status_t keel_hlo_attr(keel_hlo_reader_t *reader, keel_attr_t attr,
                            keel_attr_id_t *out) KEEL_MUST_CHECK;
keel_status_t keel_hlo_int(keel_hlo_reader_t *reader, int64_t value, uint32_t *out) KEEL_MUST_CHECK;
// Turns the ints from `start` on (its count first) into a list, or returns an equal one.
keel_status_t keel_hlo_close_ints(keel_hlo_reader_t *reader, uint32_t start,
                                  uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_hlo_list(keel_hlo_reader_t *reader, const uint32_t *items, uint32_t count,
                            uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_hlo_add_type(keel_hlo_reader_t *reader, keel_type_t type,
                                keel_type_id_t *out) KEEL_MUST_CHECK;
// The slot for such a message; NULL if remembering it is not worthwhile. It holds that very message
// if keel_hlo_is_seen says so; otherwise call keel_hlo_remember after reading it.
keel_hlo_seen_t *keel_hlo_seen(const keel_hlo_reader_t *reader, const keel_hlo_pieces_t *pieces);
bool keel_hlo_is_seen(const keel_hlo_seen_t *seen, keel_hlo_message_id_t message,
                      const keel_hlo_pieces_t *pieces);
void keel_hlo_remember(keel_hlo_seen_t *seen, keel_hlo_message_id_t message,
                       const keel_hlo_pieces_t *pieces, uint32_t id);

// Pushes a pair for a DICT under construction.
keel_status_t keel_hlo_push_pair(keel_hlo_reader_t *reader, keel_string_id_t name,
                                 keel_attr_id_t attr) KEEL_MUST_CHECK;
// Makes a DICT (or an ARRAY) of the stack above `mark`, and pops it.
keel_status_t keel_hlo_close(keel_hlo_reader_t *reader, uint32_t mark, keel_attr_kind_t kind,
                             keel_record_t klass, keel_attr_id_t *out) KEEL_MUST_CHECK;

// ---- parts -------------------------------------------------------------------------------------

// The list (in ints) of a repeated field of numbers.
keel_status_t keel_hlo_ints(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *pieces,
                            uint32_t number, keel_hlo_kind_t kind, uint32_t *out) KEEL_MUST_CHECK;

keel_status_t keel_hlo_type(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                            keel_type_id_t *out) KEEL_MUST_CHECK;
// XLA's number of the shape's element type.
uint64_t keel_hlo_shape_element(const keel_hlo_pieces_t *shape);

keel_status_t keel_hlo_literal(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *literal,
                               keel_attr_id_t *out) KEEL_MUST_CHECK;

// Pushes a pair for each field that is present and not a default.
keel_status_t keel_hlo_push_fields(keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                                   const keel_hlo_pieces_t *pieces) KEEL_MUST_CHECK;
keel_status_t keel_hlo_message(keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                               const keel_hlo_pieces_t *pieces,
                               keel_attr_id_t *out) KEEL_MUST_CHECK;

// Reads the module's frames; there are none if `index` has no pieces.
keel_status_t keel_hlo_read_frames(keel_hlo_reader_t *reader,
                                   const keel_hlo_pieces_t *index) KEEL_MUST_CHECK;
keel_status_t keel_hlo_location(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *metadata,
                                keel_attr_id_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_HLO_READER_H_
