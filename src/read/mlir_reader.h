// mlir_reader: shared by the parts of the MLIR bytecode reader (read/read.h is for its users).
//
// How a file is read: mlir.c finds the sections; mlir_sections.c reads strings, dialects,
// properties and resources; mlir_types.c and mlir_attributes.c (with mlir_builtin.c, mlir_vhlo.c,
// mlir_sdy.c) read the tables in one linear pass, with children as indices; mlir_graph.c then
// checks that the children have the right kind and form no cycle; mlir_ir.c reads the operations,
// with mlir_merge.c for their properties, mlir_older.c for their versions and mlir_functions.c for
// functions.
//
// Ownership: the reader owns its tables (keel_mlir_deinitialize), and the program owns those it
// fills. Errors: a failed cursor means "damaged"; anything well-formed but unknown returns a status
// at once.
#ifndef KEEL_READ_MLIR_READER_H_
#define KEEL_READ_MLIR_READER_H_

#include "read/mlir_cursor.h"
#include "read/mlir_ops.h"
#include "read/read.h"

typedef enum keel_mlir_section {
    KEEL_MLIR_STRING,
    KEEL_MLIR_DIALECT,
    KEEL_MLIR_ATTR_TYPE,
    KEEL_MLIR_ATTR_TYPE_OFFSET,
    KEEL_MLIR_IR,
    KEEL_MLIR_RESOURCE,
    KEEL_MLIR_RESOURCE_OFFSET,
    KEEL_MLIR_DIALECT_VERSIONS,
    KEEL_MLIR_PROPERTIES,
    KEEL_MLIR_SECTION_COUNT,
} keel_mlir_section_t;

typedef struct keel_mlir_dialect_entry_t {
    keel_string_id_t name;
    keel_mlir_dialect_t dialect;
} keel_mlir_dialect_entry_t;

// What a version of an operation adds to the one before (mlir_older.c).
typedef struct keel_mlir_added_t keel_mlir_added_t;

// An operation name of the file; the program's table op_names has the same order, and older
// versions behind them.
typedef struct keel_mlir_op_entry_t {
    const keel_mlir_op_t *op; // NULL: unknown
    keel_string_id_t name;    // with its version
    bool is_registered;
    bool is_function;
    const keel_mlir_added_t *added; // NULL: nothing
    uint32_t older;                 // the version before, in op_names
} keel_mlir_op_entry_t;

typedef struct keel_mlir_resource_t {
    keel_string_id_t key;
    bool is_blob;
    keel_bytes_t blob;
} keel_mlir_resource_t;

typedef struct keel_mlir_t {
    keel_program_t *program;
    keel_bytes_t file;
    uint32_t version;
    uint32_t present; // bit n: section n is present
    keel_bytes_t sections[KEEL_MLIR_SECTION_COUNT];
    // Entries of the file's own tables. The program's tables may continue after them.
    uint32_t string_count, attr_count, type_count;
    KEEL_TABLE(keel_mlir_dialect_entry_t) dialects;
    KEEL_TABLE(keel_mlir_op_entry_t) ops;
    KEEL_TABLE(keel_mlir_resource_t) resources;
    KEEL_TABLE(uint32_t) properties; // where each blob begins in its section, and the end
    keel_string_id_t names[KEEL_MLIR_NAME_COUNT]; // KEEL_NONE until it is used
    keel_type_id_t f64;                           // the same
} keel_mlir_t;

// ---- tables ------------------------------------------------------------------------------------

// Room for `more` items: exactly that many the first time, later an eighth more than needed. A
// program must fit in three times its file's size, so no table may grow by half.
#define keel_mlir_reserve(table, more)                                                             \
    keel_mlir_grow((void **)&(table)->data, &(table)->capacity, (table)->count, (more),            \
                   sizeof *(table)->data)
keel_status_t keel_mlir_grow(void **data, uint32_t *capacity, uint32_t count, uint64_t more,
                             size_t item) KEEL_MUST_CHECK;
#define KEEL_MLIR_PUSH(table, item)                                                                \
    do {                                                                                           \
        if (KEEL_POISONS || __builtin_expect((table)->count == (table)->capacity, 0))              \
            KEEL_TRY(keel_mlir_reserve((table), 1));                                               \
        (table)->data[(table)->count++] = (item);                                                  \
    } while (0)

// The string of a property's or a field's name.
keel_status_t keel_mlir_name_string(keel_mlir_t *m, keel_mlir_name_t name,
                                    keel_string_id_t *out) KEEL_MUST_CHECK;

// ---- parts -------------------------------------------------------------------------------------

keel_status_t keel_mlir_read_strings(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_read_dialects(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_read_resources(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_read_properties(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_read_attributes(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_check_graph(keel_mlir_t *m) KEEL_MUST_CHECK;
keel_status_t keel_mlir_read_ir(keel_mlir_t *m) KEEL_MUST_CHECK;

// One section at the cursor: its number and its bytes. False and a failed cursor if it is damaged.
bool keel_mlir_next_section(const keel_mlir_t *m, keel_cursor_t *c, uint32_t *out_number,
                            keel_bytes_t *out);
// Skips the padding up to an alignment, counted from the start of the file.
void keel_mlir_align(const keel_mlir_t *m, keel_cursor_t *c, uint64_t alignment);

// One entry of the table, in its dialect's own encoding.
keel_status_t keel_mlir_read_type(keel_mlir_t *m, keel_mlir_dialect_t dialect, keel_cursor_t *c,
                                  keel_type_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_builtin_attr(keel_mlir_t *m, keel_cursor_t *c,
                                     keel_attr_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_vhlo_attr(keel_mlir_t *m, keel_cursor_t *c,
                                  keel_attr_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_sdy_attr(keel_mlir_t *m, keel_cursor_t *c,
                                 keel_attr_t *out) KEEL_MUST_CHECK;

keel_status_t keel_mlir_unknown_code(const char *what, uint64_t code) KEEL_MUST_CHECK;

#endif // KEEL_READ_MLIR_READER_H_
