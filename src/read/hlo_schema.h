// hlo_schema: the messages and fields of HloModuleProto, for the reader (hlo_reader.h) and the
// writer (hlo_writer.h). Every number of XLA's that either uses is here or in hlo_schema.c.
#ifndef KEEL_READ_HLO_SCHEMA_H_
#define KEEL_READ_HLO_SCHEMA_H_

#include "program/program.h"

// Source of numbers and names: the descriptors of xla/service/hlo.proto and xla/xla_data.proto in
// builds of XLA from 2025 and 2026.
typedef enum keel_hlo_message_id {
    KEEL_HLO_MODULE,
    KEEL_HLO_COMPUTATION,
    KEEL_HLO_INSTRUCTION,
    KEEL_HLO_PROGRAM_SHAPE,
    KEEL_HLO_SCHEDULE,
    KEEL_HLO_SCHEDULE_ENTRY,
    KEEL_HLO_SEQUENCE,
    KEEL_HLO_INPUT_OUTPUT_ALIAS,
    KEEL_HLO_ALIAS_ENTRY,
    KEEL_HLO_BUFFER_DONOR,
    KEEL_HLO_DONOR_ENTRY,
    KEEL_HLO_PREFETCH,
    KEEL_HLO_MODULE_PROFILE,
    KEEL_HLO_DEVICE_ASSIGNMENT,
    KEEL_HLO_COMPUTATION_DEVICE,
    KEEL_HLO_FRONTEND_ATTRIBUTES,
    KEEL_HLO_MAP_ENTRY,
    KEEL_HLO_DEBUG_ATTRIBUTE_ENTRY,
    KEEL_HLO_DEBUG_ATTRIBUTES,
    KEEL_HLO_X64_CONFIG,
    KEEL_HLO_ORIGINAL_ARRAY,
    KEEL_HLO_SHAPE,
    KEEL_HLO_LAYOUT,
    KEEL_HLO_TILE,
    KEEL_HLO_SPLIT_CONFIG,
    KEEL_HLO_LITERAL,
    KEEL_HLO_SLICE_DIMENSIONS,
    KEEL_HLO_WINDOW,
    KEEL_HLO_WINDOW_DIMENSION,
    KEEL_HLO_CONVOLUTION_NUMBERS,
    KEEL_HLO_PADDING,
    KEEL_HLO_PADDING_DIMENSION,
    KEEL_HLO_DOT_NUMBERS,
    KEEL_HLO_RAGGED_NUMBERS,
    KEEL_HLO_GATHER_NUMBERS,
    KEEL_HLO_SCATTER_NUMBERS,
    KEEL_HLO_PRECISION,
    KEEL_HLO_TRIANGULAR_SOLVE,
    KEEL_HLO_CHOLESKY,
    KEEL_HLO_PARAMETER_REPLICATION,
    KEEL_HLO_OUTPUT_ALIASING,
    KEEL_HLO_RESULT_ACCURACY,
    KEEL_HLO_TOLERANCE,
    KEEL_HLO_REPLICA_GROUP,
    KEEL_HLO_SOURCE_TARGET,
    KEEL_HLO_DEVICE_LIST,
    KEEL_HLO_IOTA_GROUPS,
    KEEL_HLO_MESH_GROUPS,
    KEEL_HLO_SPARSITY,
    KEEL_HLO_TENSOR_SPARSITY,
    KEEL_HLO_BLOCK_SCALING,
    KEEL_HLO_TENSOR_BLOCK_SCALING,
    KEEL_HLO_PAYLOAD,
    KEEL_HLO_SHUFFLE_MODE,
    KEEL_HLO_ROTATE,
    KEEL_HLO_SHARDING,
    KEEL_HLO_SHARDING_METADATA,
    KEEL_HLO_NAMED_SHARDING,
    KEEL_HLO_DIMENSION_SHARDING,
    KEEL_HLO_MESH,
    KEEL_HLO_MESH_AXIS,
    KEEL_HLO_IOTA_TRANSFORM,
    KEEL_HLO_AXIS_REF,
    KEEL_HLO_SUB_AXIS,
    KEEL_HLO_MESSAGE_COUNT,
} keel_hlo_message_id_t;

typedef enum keel_hlo_kind {
    KEEL_HLO_IS_MESSAGE_NAME, // not a field: the name of the message whose fields follow
    KEEL_HLO_IS_SKIPPED,      // does not matter to a key
    KEEL_HLO_IS_INT64,
    KEEL_HLO_IS_INT32,
    KEEL_HLO_IS_BOOL,
    KEEL_HLO_IS_FLOAT,
    KEEL_HLO_IS_DOUBLE,
    KEEL_HLO_IS_STRING, // and bytes
    KEEL_HLO_IS_ENUM,   // argument: keel_enum_class_t
    KEEL_HLO_IS_NESTED, // argument: keel_hlo_message_id_t
    KEEL_HLO_IS_MAP,    // a message that contains only a map from string to string
    KEEL_HLO_IS_SHAPE,
    KEEL_HLO_IS_LITERAL,
} keel_hlo_kind_t;

enum {
    KEEL_HLO_REPEATED = 1,
    KEEL_HLO_OPTIONAL = 2,    // the default differs from absent
    KEEL_HLO_ONE_OF = 4,      // a message has at most one such field
    KEEL_HLO_DROP_ONE = 8,    // 1 means the same as absent
    KEEL_HLO_APART = 16,      // not an attribute: read by special code
    KEEL_HLO_DROP_EMPTY = 32, // an empty message means the same as absent: XLA does not check
    KEEL_HLO_LEFT_OUT = 64, // skipped, although it has a meaning: a program with it is not written
};

// Messages, shapes and literals within each other.
enum { KEEL_HLO_DEPTH = 64 };

typedef struct keel_hlo_field_t {
    uint8_t kind; // keel_hlo_kind_t
    uint8_t flags;
    uint8_t argument;
    uint8_t number;
    const char *name; // of the field, or of the message
} keel_hlo_field_t;

// The tables of all messages, in the order of the enumeration: first the message's name, then its
// fields by number.
extern const keel_hlo_field_t keel_hlo_fields[];
extern const uint32_t keel_hlo_field_count;

// The numbers of the fields that are not attributes, and so are read and written by code of their
// own. The messages of the stack frames are not in the tables: unknown fields there do not matter.
enum {
    KEEL_HLO_AT_MODULE_NAME = 1,
    KEEL_HLO_AT_MODULE_ENTRY_NAME = 2,
    KEEL_HLO_AT_MODULE_COMPUTATIONS = 3,
    KEEL_HLO_AT_MODULE_ENTRY_ID = 6,
    KEEL_HLO_AT_MODULE_SCHEDULE = 7,
    KEEL_HLO_AT_MODULE_FRAMES = 17,

    KEEL_HLO_AT_COMPUTATION_NAME = 1,
    KEEL_HLO_AT_COMPUTATION_INSTRUCTIONS = 2,
    KEEL_HLO_AT_COMPUTATION_ID = 5,
    KEEL_HLO_AT_COMPUTATION_ROOT = 6,

    KEEL_HLO_AT_INSTRUCTION_NAME = 1,
    KEEL_HLO_AT_OPCODE = 2,
    KEEL_HLO_AT_INSTRUCTION_SHAPE = 3,
    KEEL_HLO_AT_METADATA = 7,
    KEEL_HLO_AT_INSTRUCTION_ID = 35,
    KEEL_HLO_AT_OPERANDS = 36,
    KEEL_HLO_AT_PREDECESSORS = 37,
    KEEL_HLO_AT_CALLEES = 38,

    KEEL_HLO_AT_PARAMETER_NAMES = 3,

    KEEL_HLO_AT_SEQUENCES = 1,
    KEEL_HLO_AT_SEQUENCE_IDS = 1,

    KEEL_HLO_AT_KEY = 1, // of an entry of any map
    KEEL_HLO_AT_VALUE = 2,
    KEEL_HLO_AT_MAP = 1,

    KEEL_HLO_AT_ELEMENT_TYPE = 2,
    KEEL_HLO_AT_DIMENSIONS = 3,
    KEEL_HLO_AT_TUPLE_SHAPES = 4,
    KEEL_HLO_AT_LAYOUT = 5,
    KEEL_HLO_AT_IS_DYNAMIC = 6,

    KEEL_HLO_AT_LITERAL_SHAPE = 1,
    KEEL_HLO_AT_TUPLE_LITERALS = 10,

    KEEL_HLO_AT_OP_TYPE = 1,
    KEEL_HLO_AT_OP_NAME = 2,
    KEEL_HLO_AT_SOURCE_FILE = 3,
    KEEL_HLO_AT_SOURCE_LINE = 4,
    KEEL_HLO_AT_STACK_FRAME = 15,
    KEEL_HLO_AT_SOURCE_END_LINE = 17,
    KEEL_HLO_AT_SOURCE_COLUMN = 18,
    KEEL_HLO_AT_SOURCE_END_COLUMN = 19,

    KEEL_HLO_AT_FILE_NAMES = 1, // StackFrameIndexProto
    KEEL_HLO_AT_FUNCTION_NAMES = 2,
    KEEL_HLO_AT_PLACES = 3,
    KEEL_HLO_AT_FRAMES = 4,
    KEEL_HLO_AT_PLACE_FILE = 1,
    KEEL_HLO_AT_PLACE_FUNCTION = 2,
    KEEL_HLO_AT_PLACE_LINE = 3,
    KEEL_HLO_AT_PLACE_COLUMN = 4,
    KEEL_HLO_AT_PLACE_END_LINE = 5,
    KEEL_HLO_AT_PLACE_END_COLUMN = 6,
    KEEL_HLO_AT_FRAME_PLACE = 1,
    KEEL_HLO_AT_FRAME_PARENT = 2,
};

// XLA's PrimitiveType, by number.
typedef enum keel_hlo_element_kind {
    KEEL_HLO_INVALID,
    KEEL_HLO_INTEGER,
    KEEL_HLO_FLOATING,
    KEEL_HLO_COMPLEX,
    KEEL_HLO_TUPLE,
    KEEL_HLO_OPAQUE,
    KEEL_HLO_TOKEN,
    KEEL_HLO_BUFFER,
} keel_hlo_element_kind_t;

// How a literal holds its elements.
typedef enum keel_hlo_storage {
    KEEL_HLO_IN_NOTHING,
    KEEL_HLO_IN_BYTES,
    KEEL_HLO_IN_BOOLS,
    KEEL_HLO_IN_INTEGERS,
    KEEL_HLO_IN_FLOATS,
} keel_hlo_storage_t;

typedef struct keel_hlo_element_t {
    uint8_t kind;    // keel_hlo_element_kind_t
    uint8_t sign;    // keel_sign_t
    uint8_t a;       // width of an integer, keel_float_t of a float or of a complex's parts
    uint8_t field;   // of LiteralProto, which holds the elements
    uint8_t storage; // keel_hlo_storage_t
    uint8_t size;    // bytes of one number
    uint8_t parts;   // numbers of one element
    uint8_t bits;    // of an integer below eight bits, which takes a byte; 0 for all others
} keel_hlo_element_t;

// One of kind INVALID for an unknown number.
const keel_hlo_element_t *keel_hlo_element(uint64_t number);

// The index in keel_hlo_fields of each message's name; one more entry ends the last message.
void keel_hlo_find_messages(uint32_t first[KEEL_HLO_MESSAGE_COUNT + 1]);
// The wire type of one value of a field; repeated numbers may also come packed.
keel_wire_type_t keel_hlo_wire(const keel_hlo_field_t *field);

#endif // KEEL_READ_HLO_SCHEMA_H_
