// program: the neutral model of an XLA program. Readers fill it, the key hashes it, the printer
// shows it, a diff compares it.
//
// Everything is an index into a table: strings, types, attributes, operations, values, regions,
// blocks, functions. Tables are packed, because reading a program may take at most three times its
// own size. Nothing points back into a reader.
//
//   module  = functions + module-level operations (operations in no function: sdy.mesh, ...)
//   function= a symbol with one region;   HLO: a computation
//   region  = blocks (VHLO: always one);  block = arguments + operations
//   operation = name, operands, results, attributes, location, regions
//
// Operations are in pre-order: an operation, then everything in its regions, then its next sibling.
// So one pass over the table visits a program in the order it reads. Values are numbered over the
// whole program in order of definition: an operation's results, then its regions' block arguments
// and results.
//
// Ownership: a program owns its tables and borrows the bytes it was read from (`source`): large
// constants and strings stay there. The bytes must outlive the program.
// Threads: one thread builds; afterwards any number may read.
#ifndef KEEL_PROGRAM_PROGRAM_H_
#define KEEL_PROGRAM_PROGRAM_H_

#include "base/base.h"

typedef uint32_t keel_string_id_t;
typedef uint32_t keel_type_id_t;
typedef uint32_t keel_attr_id_t;
typedef uint32_t keel_value_id_t;
typedef uint32_t keel_op_id_t;

// ---- types -------------------------------------------------------------------------------------

// float name as StableHLO writes it, bits of storage
#define KEEL_FLOATS(X)                                                                             \
    X(BF16, "bf16", 16)                                                                            \
    X(F16, "f16", 16)                                                                              \
    X(F32, "f32", 32)                                                                              \
    X(F64, "f64", 64)                                                                              \
    X(F80, "f80", 80)                                                                              \
    X(F128, "f128", 128)                                                                           \
    X(TF32, "tf32", 32)                                                                            \
    X(F8E5M2, "f8E5M2", 8)                                                                         \
    X(F8E4M3, "f8E4M3", 8)                                                                         \
    X(F8E4M3FN, "f8E4M3FN", 8)                                                                     \
    X(F8E5M2FNUZ, "f8E5M2FNUZ", 8)                                                                 \
    X(F8E4M3FNUZ, "f8E4M3FNUZ", 8)                                                                 \
    X(F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8)                                                           \
    X(F8E3M4, "f8E3M4", 8)                                                                         \
    X(F4E2M1FN, "f4E2M1FN", 8)                                                                     \
    X(F6E2M3FN, "f6E2M3FN", 8)                                                                     \
    X(F6E3M2FN, "f6E3M2FN", 8)                                                                     \
    X(F8E8M0FNU, "f8E8M0FNU", 8)

typedef enum keel_float {
#define KEEL_FLOAT_ENUM(name, text, bits) KEEL_FLOAT_##name,
    KEEL_FLOATS(KEEL_FLOAT_ENUM)
#undef KEEL_FLOAT_ENUM
        KEEL_FLOAT_COUNT,
} keel_float_t;

// What `a`, `b` and the lists of a type mean. `dims` is a list in the ints table; `list` is a list
// in `pool`.
typedef enum keel_type_kind {
    KEEL_TYPE_INTEGER,         // a: width in bits; aux: keel_sign_t. bool is signless, width 1
    KEEL_TYPE_FLOAT,           // a: keel_float_t
    KEEL_TYPE_INDEX,           //
    KEEL_TYPE_NONE,            //
    KEEL_TYPE_TOKEN,           //
    KEEL_TYPE_WITNESS,         //
    KEEL_TYPE_OPAQUE,          // HLO's opaque
    KEEL_TYPE_COMPLEX,         // a: element type
    KEEL_TYPE_TENSOR,          // a: element type, b: dims, c: encoding or layout attribute or NONE
    KEEL_TYPE_UNRANKED_TENSOR, // a: element type
    KEEL_TYPE_BUFFER,          // a: element type, b: dims, c: layout attribute or NONE
    KEEL_TYPE_TUPLE,           // b: list of types, c: layout attribute or NONE
    KEEL_TYPE_FUTURE,          // b: list of types
    KEEL_TYPE_FUNCTION,        // b: list of inputs, c: list of results
    KEEL_TYPE_QUANTIZED,       // a: storage, b: expressed, c: attribute with the rest
} keel_type_kind_t;

typedef enum keel_sign { KEEL_SIGNLESS, KEEL_SIGNED, KEEL_UNSIGNED } keel_sign_t;

// The size of a dimension that is not known.
#define KEEL_DYNAMIC INT64_MIN

typedef struct keel_type_t {
    uint8_t kind; // keel_type_kind_t
    uint8_t aux;
    uint32_t a, b, c;
} keel_type_t;

// ---- attributes --------------------------------------------------------------------------------

// Enumerations that occur in attributes: class, name, values in numeric order from 0 ("" = none).
#define KEEL_ENUM_CLASSES(X)                                                                       \
    X(COMPARISON_DIRECTION, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")            \
    X(COMPARISON_TYPE, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")   \
    X(API_VERSION, "api_version", "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",               \
      "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",                      \
      "API_VERSION_TYPED_FFI")                                                                     \
    X(FFT_TYPE, "fft_type", "FFT", "IFFT", "RFFT", "IRFFT")                                        \
    X(PRECISION, "precision", "DEFAULT", "HIGH", "HIGHEST")                                        \
    X(RNG_ALGORITHM, "rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")                            \
    X(RNG_DISTRIBUTION, "rng_distribution", "", "UNIFORM", "NORMAL")                               \
    X(TRANSPOSE, "transpose", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")         \
    X(RESULT_ACCURACY_MODE, "result_accuracy_mode", "DEFAULT", "HIGHEST", "TOLERANCE")             \
    X(PADDING_TYPE, "padding_type", "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")            \
    X(CUSTOM_CALL_SCHEDULE, "custom_call_schedule", "SCHEDULE_NONE", "SCHEDULE_LATEST",            \
      "SCHEDULE_EARLIEST")                                                                         \
    X(ALIAS_KIND, "alias_kind", "UNDEFINED_ALIAS", "MAY_ALIAS", "MUST_ALIAS")                      \
    X(SHARDING_TYPE, "sharding_type", "REPLICATED", "MAXIMAL", "TUPLE", "OTHER", "MANUAL",         \
      "UNKNOWN", "UNREDUCED")                                                                      \
    X(SHARD_GROUP_TYPE, "shard_group_type", "AS", "LIKE")                                          \
    X(SHARDING_REDUCTION, "sharding_reduction", "SUM", "MAX", "MIN")                               \
    X(DOT_ALGORITHM, "dot_algorithm", "ALG_UNSET", "ALG_DOT_ANY_F8_ANY_F8_F32",                    \
      "ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM", "ALG_DOT_F16_F16_F16", "ALG_DOT_F16_F16_F32",        \
      "ALG_DOT_BF16_BF16_BF16", "ALG_DOT_BF16_BF16_F32", "ALG_DOT_BF16_BF16_F32_X3",               \
      "ALG_DOT_BF16_BF16_F32_X6", "ALG_DOT_TF32_TF32_F32", "ALG_DOT_TF32_TF32_F32_X3",             \
      "ALG_DOT_F32_F32_F32", "ALG_DOT_F64_F64_F64", "ALG_DOT_BF16_BF16_F32_X9",                    \
      "ALG_DOT_BF16_BF16_FP8X3", "ALG_DOT_BF16_BF16_FP8X4")                                        \
    X(DIM_LEVEL_TYPE, "dim_level_type", "DIM_DENSE", "DIM_COMPRESSED", "DIM_SINGLETON",            \
      "DIM_LOOSE_COMPRESSED")                                                                      \
    X(TRI_STATE, "tri_state", "TRI_STATE_UNSPECIFIED", "TRI_STATE_TRUE", "TRI_STATE_FALSE")        \
    X(CONVOLUTION_KIND, "convolution_kind", "CONVOLUTION_KIND_UNSET", "CONVOLUTION_KIND_FPROP",    \
      "CONVOLUTION_KIND_DGRAD", "CONVOLUTION_KIND_WGRAD")

typedef enum keel_enum_class {
#define KEEL_ENUM_CLASS(name, text, ...) KEEL_ENUM_##name,
    KEEL_ENUM_CLASSES(KEEL_ENUM_CLASS)
#undef KEEL_ENUM_CLASS
        KEEL_ENUM_CLASS_COUNT,
} keel_enum_class_t;

// The value's name, or NULL if the class has no such value.
const char *keel_enum_name(keel_enum_class_t enumeration, uint32_t value);
const char *keel_enum_class_name(keel_enum_class_t enumeration);

// Attributes are 12 bytes: kind, aux, klass, a, b. A "list" is an offset into `pool`: the count is
// there, followed by the items.
typedef enum keel_attr_kind {
    KEEL_ATTR_NONE,     // an optional value that is absent
    KEEL_ATTR_UNIT,     //
    KEEL_ATTR_BOOL,     // a: 0 or 1
    KEEL_ATTR_INT,      // a: type or NONE, b: index into ints (sign-extended from the type's width,
                        // zero-extended if the type is unsigned or a bool)
    KEEL_ATTR_WIDE_INT, // a: type, b: list in ints of 64-bit words, low first
    KEEL_ATTR_FLOAT,    // a: type, b: index into ints (the bit pattern)
    KEEL_ATTR_STRING,   // a: string, b: type or NONE
    KEEL_ATTR_TYPE,     // a: type
    KEEL_ATTR_ENUM,     // klass: keel_enum_class_t, a: value
    KEEL_ATTR_ARRAY,    // b: list of attributes
    KEEL_ATTR_DICT,     // b: list of name string, attribute, ... (count = 2 * entries).
                        // klass 0: a dictionary without order; otherwise keel_record_name(klass) is
                        // the record's name and the entries are its fields in order
    KEEL_ATTR_INTS,     // b: list in ints; klass as for DICT may name it
    KEEL_ATTR_SYMBOL,   // a: string; b: list of attributes of a nested symbol or NONE
    KEEL_ATTR_TENSOR,   // a: type, b: the raw blob; see keel_tensor_* below
    KEEL_ATTR_DENSE_ARRAY, // a: element type, b: blob; klass unused
    KEEL_ATTR_STRINGS,     // a: type, b: list of strings; aux 1: a splat
    KEEL_ATTR_SPARSE,      // a: type, b: list of two attributes: indices, values
    KEEL_ATTR_DISTINCT,    // a: attribute
    KEEL_ATTR_BYTES,       // b: blob that the reader does not interpret; a: string that names it
    // Locations are attributes too, as in MLIR.
    KEEL_ATTR_LOC_UNKNOWN,  //
    KEEL_ATTR_LOC_FILE,     // a: file name string, b: list in pool: line, column, end line, end
                            // column, as many as are known (0 to 4)
    KEEL_ATTR_LOC_NAME,     // a: string, b: child location; klass: 1 if it is the name that HLO
                            // gives what it stands at, and not its kind or a function
    KEEL_ATTR_LOC_CALLSITE, // a: callee location, b: caller location
    KEEL_ATTR_LOC_FUSED,    // a: metadata attribute or NONE, b: list of locations
} keel_attr_kind_t;

static inline bool keel_attr_is_location(uint8_t kind) {
    return kind >= KEEL_ATTR_LOC_UNKNOWN;
}

typedef struct keel_attr_t {
    uint8_t kind; // keel_attr_kind_t
    uint8_t aux;
    uint16_t klass;
    uint32_t a, b;
} keel_attr_t;

// Structured attributes: class, name.
#define KEEL_RECORDS(X)                                                                            \
    X(DICTIONARY, "")                                                                              \
    X(OUTPUT_OPERAND_ALIAS, "output_operand_alias")                                                \
    X(TYPE_EXTENSIONS, "type_extensions")                                                          \
    X(RESULT_ACCURACY, "result_accuracy")                                                          \
    X(SUB_AXIS, "sub_axis")                                                                        \
    X(AXIS_REF, "axis_ref")                                                                        \
    X(REPLICA_GROUP_MESH_AXES, "replica_group_mesh_axes")                                          \
    X(MESH_AXIS, "mesh_axis")                                                                      \
    X(MESH, "mesh")                                                                                \
    X(SDY_MANUAL_AXES, "sdy.manual_axes")                                                          \
    X(SDY_MESH_AXIS, "sdy.mesh_axis")                                                              \
    X(SDY_MESH, "sdy.mesh")                                                                        \
    X(SDY_SUB_AXIS, "sdy.sub_axis")                                                                \
    X(SDY_AXIS_REF, "sdy.axis_ref")                                                                \
    X(SDY_DIMENSION_SHARDING, "sdy.dimension_sharding")                                            \
    X(SDY_SHARDING, "sdy.sharding")                                                                \
    X(SDY_SHARDING_PER_VALUE, "sdy.sharding_per_value")                                            \
    X(SDY_DIM_MAPPING, "sdy.dim_mapping")                                                          \
    X(SDY_TENSOR_MAPPING, "sdy.tensor_mapping")                                                    \
    X(SDY_SHARDING_RULE, "sdy.sharding_rule")                                                      \
    X(SDY_AXIS_REF_LIST, "sdy.axis_ref_list")                                                      \
    X(SDY_LIST_OF_AXIS_REF_LISTS, "sdy.list_of_axis_ref_lists")                                    \
    X(SDY_ALL_TO_ALL_PARAM, "sdy.all_to_all_param")                                                \
    X(SDY_ALL_TO_ALL_PARAM_LIST, "sdy.all_to_all_param_list")                                      \
    X(QUANTIZATION, "quantization")                                                                \
    X(HLO_MESSAGE, "hlo.message")                                                                  \
    X(DENSE_RESOURCE, "dense_resource")

typedef enum keel_record {
#define KEEL_RECORD_ENUM(name, text) KEEL_RECORD_##name,
    KEEL_RECORDS(KEEL_RECORD_ENUM)
#undef KEEL_RECORD_ENUM
        KEEL_RECORD_COUNT,
} keel_record_t;

const char *keel_record_name(uint16_t klass);

// ---- structure ---------------------------------------------------------------------------------

typedef struct keel_op_name_t {
    keel_string_id_t dialect; // "vhlo", "builtin", "sdy", "hlo"
    keel_string_id_t name;    // without dialect and version: "dot_general"
    uint32_t version;         // 2 for dot_general_v2; 0 if the name has none
} keel_op_name_t;

enum { KEEL_OP_HAS_REGIONS = 1u << 15 };

typedef struct keel_operation_t {
    uint32_t first_operand; // into operands; the next operation's first_operand ends them
    uint32_t first_result;  // value
    keel_attr_id_t location;
    keel_attr_id_t attributes; // a DICT of all of them, properties included; NONE if empty
    uint16_t name;             // into op_names; bit 15: KEEL_OP_HAS_REGIONS
    uint16_t result_count;
} keel_operation_t;

// The regions of one operation are consecutive; the whole table is sorted by `parent`.
typedef struct keel_region_t {
    keel_op_id_t parent; // KEEL_NONE for a function that has no operation (HLO)
    uint32_t first_block;
    uint32_t block_count;
    keel_op_id_t end; // one past the last operation inside
} keel_region_t;

typedef struct keel_block_t {
    keel_op_id_t first_op;
    keel_op_id_t end_op; // one past the last, nested ones included
    keel_value_id_t first_argument;
    uint32_t argument_count;
    uint32_t argument_locations; // into pool: argument_count locations, each of which may be NONE;
                                 // or NONE
} keel_block_t;

typedef struct keel_function_t {
    keel_string_id_t name;
    keel_op_id_t operation; // the func operation; NONE in HLO
    uint32_t region;
    keel_type_id_t type;                // of kind FUNCTION; NONE in HLO
    keel_attr_id_t argument_attributes; // ARRAY of DICT, or NONE
    keel_attr_id_t result_attributes;   // the same for results
    keel_value_id_t first_value, end_value;
    keel_attr_id_t attributes; // other attributes (HLO: of the computation), or NONE
    uint32_t root;             // HLO: the operation that is the result; else NONE
    bool is_public;
} keel_function_t;

// Where a string's bytes are: in `source`, or in `text` if the top bit of `at` is set.
typedef struct keel_slice_t {
    uint32_t at, size;
} keel_slice_t;
#define KEEL_IN_TEXT 0x80000000u

typedef enum keel_format { KEEL_FORMAT_MLIR, KEEL_FORMAT_HLO } keel_format_t;
const char *keel_format_name(keel_format_t format);

#define KEEL_TABLE(type)                                                                           \
    struct {                                                                                       \
        type *data;                                                                                \
        uint32_t count, capacity;                                                                  \
    }

// A large constant that is not in the source.
typedef struct keel_beside_t {
    keel_bytes_t bytes;
    keel_digest_t digest; // keel_bulk_digest of them, so that nobody hashes them again
} keel_beside_t;

typedef struct keel_program_t {
    keel_format_t format;
    keel_bytes_t source;
    keel_str_t producer;       // "StableHLO_v1.13.3"; "" in HLO
    uint32_t bytecode_version; // MLIR
    keel_string_id_t name;     // module name: "jit_step"; NONE if it has none
    keel_attr_id_t attributes; // of the module: DICT or NONE
    uint32_t entry;            // the entry function; NONE if there is none
    const char *left_out;      // HLO: a field that has a meaning and no place here; NULL: none
    KEEL_TABLE(keel_slice_t) strings;
    KEEL_TABLE(keel_type_t) types;
    KEEL_TABLE(keel_attr_t) attrs;
    KEEL_TABLE(keel_bytes_t) blobs;
    KEEL_TABLE(int64_t) ints;  // numbers, and lists of them (count first)
    KEEL_TABLE(uint32_t) pool; // lists of indices (count first)
    KEEL_TABLE(keel_op_name_t) op_names;
    KEEL_TABLE(keel_operation_t) operations; // and one extra: the sentinel ends operands
    KEEL_TABLE(keel_value_id_t) operands;
    KEEL_TABLE(uint16_t) value_types; // a value's type; a program has at most 65,535 types
    KEEL_TABLE(keel_region_t) regions;
    KEEL_TABLE(keel_block_t) blocks;
    KEEL_TABLE(keel_function_t) functions;
    KEEL_TABLE(char) text;       // strings that are not in the source
    const keel_beside_t *beside; // borrowed, like the source
    size_t beside_count;
    keel_arena_t owned; // bytes of blobs that are not in the source as they are
} keel_program_t;

void keel_program_initialize(keel_program_t *program);
void keel_program_deinitialize(keel_program_t *program);

// ---- building (readers, the tensor front end) --------------------------------------------------

// Grows a table to hold `more` items beyond its count: exactly that many the first time, later by
// at least half. What nobody reserved is poisoned.
#define keel_table_reserve(table, more)                                                            \
    keel_table_grow((void **)&(table)->data, &(table)->capacity, (table)->count, (more),           \
                    sizeof *(table)->data)
keel_status_t keel_table_grow(void **data, uint32_t *capacity, uint32_t count, uint64_t more,
                              size_t item) KEEL_MUST_CHECK;

// Appends one item; returns from the calling function on failure.
#define KEEL_PUSH(table, item)                                                                     \
    do {                                                                                           \
        if (KEEL_POISONS || (table)->count == (table)->capacity)                                   \
            KEEL_TRY(keel_table_reserve((table), 1));                                              \
        (table)->data[(table)->count++] = (item);                                                  \
    } while (0)

// Adds a string that is not in the source.
keel_status_t keel_program_add_text(keel_program_t *program, keel_str_t text,
                                    keel_string_id_t *out) KEEL_MUST_CHECK;
keel_status_t keel_program_add_attr(keel_program_t *program, keel_attr_t attr,
                                    keel_attr_id_t *out) KEEL_MUST_CHECK;
// Adds a list to the pool (or to the ints) and gives its offset.
keel_status_t keel_program_add_list(keel_program_t *program, const uint32_t *items, uint32_t count,
                                    uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_program_add_ints(keel_program_t *program, const int64_t *items, uint32_t count,
                                    uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_program_add_int(keel_program_t *program, int64_t value,
                                   uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_program_add_blob(keel_program_t *program, keel_bytes_t blob,
                                    uint32_t *out) KEEL_MUST_CHECK;

// ---- reading -----------------------------------------------------------------------------------

// What KEEL_NONE resolves to: an attribute or a type of kind NONE, in which every index is
// KEEL_NONE.
extern const keel_attr_t keel_attr_none;
extern const keel_type_t keel_type_none;
static inline const keel_attr_t *keel_program_attr(const keel_program_t *p, keel_attr_id_t id) {
    return id < p->attrs.count ? &p->attrs.data[id] : &keel_attr_none;
}
static inline const keel_type_t *keel_program_type(const keel_program_t *p, keel_type_id_t id) {
    return id < p->types.count ? &p->types.data[id] : &keel_type_none;
}

// "" for KEEL_NONE.
keel_str_t keel_program_str(const keel_program_t *program, keel_string_id_t id);

typedef struct keel_list_t {
    const uint32_t *items;
    uint32_t count;
} keel_list_t;
typedef struct keel_ints_t {
    const int64_t *items;
    uint32_t count;
} keel_ints_t;
static inline keel_list_t keel_program_list(const keel_program_t *p, uint32_t offset) {
    if (offset == KEEL_NONE) return (keel_list_t){NULL, 0};
    KEEL_ASSERT(offset < p->pool.count && p->pool.data[offset] < p->pool.count - offset);
    return (keel_list_t){p->pool.data + offset + 1, p->pool.data[offset]};
}
static inline bool keel_ints_equal(keel_ints_t x, keel_ints_t y) {
    return x.count == y.count && (!x.count || !memcmp(x.items, y.items, x.count * sizeof *x.items));
}
static inline keel_ints_t keel_program_ints(const keel_program_t *p, uint32_t offset) {
    if (offset == KEEL_NONE) return (keel_ints_t){NULL, 0};
    KEEL_ASSERT(offset < p->ints.count && p->ints.data[offset] < p->ints.count - offset);
    return (keel_ints_t){p->ints.data + offset + 1, (uint32_t)p->ints.data[offset]};
}

// Where an argument of a block comes from, and the name that its client gave it; KEEL_NONE and ""
// if unknown. Only some of a block's arguments may have them: tokens and values that a function
// closes over do not.
static inline keel_attr_id_t keel_program_argument_location(const keel_program_t *p,
                                                            const keel_block_t *block,
                                                            uint32_t argument) {
    if (block->argument_locations == KEEL_NONE) return KEEL_NONE;
    return p->pool.data[block->argument_locations + argument];
}
static inline keel_str_t keel_program_argument_name(const keel_program_t *p,
                                                    const keel_block_t *block, uint32_t argument) {
    const keel_attr_t *location =
        keel_program_attr(p, keel_program_argument_location(p, block, argument));
    return keel_program_str(p, location->kind == KEEL_ATTR_LOC_NAME ? location->a : KEEL_NONE);
}

// The same for a parameter of HLO's entry.
static inline keel_str_t keel_program_parameter_name(const keel_program_t *p, keel_op_id_t op) {
    const keel_attr_t *location = keel_program_attr(p, p->operations.data[op].location);
    bool is_own = location->kind == KEEL_ATTR_LOC_NAME && location->klass;
    return keel_program_str(p, is_own ? location->a : KEEL_NONE);
}

// The user's name for a result of the entry; "" if unknown. JAX has them as attributes. HLO has no
// place for them, so Keel's own front end writes them into the name of the root, a tuple:
// "results: w, loss". They count for nothing if they are not as many as its operands.
#define KEEL_RESULT_NAMES "results: "
#define KEEL_RESULT_SEPARATOR ", "
keel_str_t keel_program_result_name(const keel_program_t *p, uint32_t number);

// The items of an ARRAY, and of a DICT (name, attribute, ...); empty for anything else.
static inline keel_list_t keel_program_array(const keel_program_t *p, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(p, id);
    return keel_program_list(p, attr->kind == KEEL_ATTR_ARRAY ? attr->b : KEEL_NONE);
}
static inline keel_list_t keel_program_entries(const keel_program_t *p, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(p, id);
    return keel_program_list(p, attr->kind == KEEL_ATTR_DICT ? attr->b : KEEL_NONE);
}

// The value of an INT; `otherwise` if it is something else.
static inline int64_t keel_program_number(const keel_program_t *p, keel_attr_id_t id,
                                          int64_t otherwise) {
    const keel_attr_t *attr = keel_program_attr(p, id);
    return attr->kind == KEEL_ATTR_INT ? p->ints.data[attr->b] : otherwise;
}

// The block of a function; NULL for KEEL_NONE and for a function without a body.
static inline const keel_block_t *keel_program_body(const keel_program_t *p, uint32_t function) {
    if (function >= p->functions.count) return NULL;
    uint32_t number = p->functions.data[function].region;
    if (number >= p->regions.count || !p->regions.data[number].block_count) return NULL;
    return &p->blocks.data[p->regions.data[number].first_block];
}

// The index of the first region of that operation, or of the next one that has any.
uint32_t keel_program_first_region(const keel_program_t *program, keel_op_id_t op);

static inline uint32_t keel_program_op_count(const keel_program_t *p) {
    return p->operations.count ? p->operations.count - 1 : 0;
}
static inline const keel_op_name_t *keel_program_op_name(const keel_program_t *p, keel_op_id_t op) {
    KEEL_ASSERT(op < p->operations.count);
    KEEL_ASSERT((p->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS) < p->op_names.count);
    return &p->op_names.data[p->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS];
}
static inline keel_list_t keel_program_operands(const keel_program_t *p, keel_op_id_t op) {
    KEEL_ASSERT(op < keel_program_op_count(p)); // the sentinel is behind it
    const keel_operation_t *o = &p->operations.data[op];
    KEEL_ASSERT(o->first_operand <= o[1].first_operand && o[1].first_operand <= p->operands.count);
    uint32_t count = o[1].first_operand - o->first_operand; // a program without any has no table
    return (keel_list_t){count ? p->operands.data + o->first_operand : NULL, count};
}
// The regions of an operation, a slice of the regions table; count 0 if it has none.
typedef struct keel_region_run_t {
    const keel_region_t *items;
    uint32_t count;
} keel_region_run_t;
keel_region_run_t keel_program_regions(const keel_program_t *program, keel_op_id_t op);
// The type of a value; NONE for KEEL_NONE.
keel_type_id_t keel_program_value_type(const keel_program_t *program, keel_value_id_t value);
// The operation after `op` and everything inside it.
keel_op_id_t keel_program_next(const keel_program_t *program, keel_op_id_t op);

// The attribute of that name in a DICT; NONE if the dictionary is NONE or lacks it.
keel_attr_id_t keel_program_dict_find(const keel_program_t *program, keel_attr_id_t dict,
                                      const char *name);
// The function of that name, or NONE.
uint32_t keel_program_function(const keel_program_t *program, keel_str_t name);

// Tensors: `count` elements of `size` whole bytes each (complex: both parts). A blob with one
// element for a larger shape is a splat; keel_tensor_bool expands packed bools. A tensor without
// elements has no bytes, even if its blob holds one as a splat.
typedef struct keel_tensor_view_t {
    keel_bytes_t bytes;
    uint64_t count;
    uint32_t element_size; // bytes
    bool is_splat;
    bool is_packed; // bools, 8 to a byte, low bit first
    bool is_bool;
} keel_tensor_view_t;
// KEEL_CORRUPT if the blob does not fit the type.
keel_status_t keel_program_tensor(const keel_program_t *program, keel_type_id_t type,
                                  keel_bytes_t blob, keel_tensor_view_t *out) KEEL_MUST_CHECK;
bool keel_tensor_bool(const keel_tensor_view_t *tensor, uint64_t at);

// ---- locations ---------------------------------------------------------------------------------

// One frame of an operation's call chain.
typedef struct keel_frame_t {
    keel_str_t file;
    keel_str_t function;                         // the function that the frame is in; "" if unknown
    uint32_t line, column, end_line, end_column; // 0: unknown
} keel_frame_t;
// True for two frames at the same place: file, line and columns.
bool keel_frame_is_same(const keel_frame_t *a, const keel_frame_t *b);

// A graph that torch.compile made of a function, as TorchTPU lowers it, or of its gradients.
typedef enum keel_graph_kind_t {
    KEEL_GRAPH_NONE,
    KEEL_GRAPH_FORWARD,
    KEEL_GRAPH_BACKWARD,
} keel_graph_kind_t;
// Of an operation, by the frames of torch's compiler.
keel_graph_kind_t keel_program_graph_kind(const keel_program_t *program, keel_attr_id_t location);

// Writes up to `limit` frames, innermost first, without those of torch's compiler, and returns how
// many there are in all, which may be more. `out_name`, if not NULL, takes the outermost name:
// JAX's name stack with the primitive. Time is bounded by the size of the location; no recursion.
uint32_t keel_program_frames(const keel_program_t *program, keel_attr_id_t location,
                             keel_frame_t *out, uint32_t limit, keel_str_t *out_name);

#endif // KEEL_PROGRAM_PROGRAM_H_
