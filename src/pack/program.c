// A program without names. MLIR bytecode has each of its texts once, in one table. A text is
// replaced if it is a name somewhere and nothing else anywhere. In HLO each name has bytes of its
// own, in fields that are known.
#include "pack/program.h"

#include "key/key.h"
#include "read/hlo_schema.h"
#include "read/read.h"

// ---- MLIR --------------------------------------------------------------------------------------

// A symbol that nothing in the program defines means something to somebody else.
enum { IS_NAME = 1, STAYS = 2, IS_DEFINED = 4, IS_REFERRED_TO = 8 };

static bool stays(uint64_t how) {
    return how & STAYS || (how & IS_REFERRED_TO && !(how & IS_DEFINED));
}

typedef struct texts_t {
    const keel_program_t *program;
    keel_map_t uses;    // where a text begins in the source -> how it is used
    uint8_t *is_known;  // attributes that were looked at
    keel_buffer_t left; // attributes still to be looked at
} texts_t;

static keel_status_t use(texts_t *texts, keel_string_id_t id, uint64_t how) {
    if (id >= texts->program->strings.count) return NULL;
    keel_slice_t slice = texts->program->strings.data[id];
    if (slice.at & KEEL_IN_TEXT || !slice.size) return NULL;
    const uint64_t *found = keel_map_find(&texts->uses, keel_bytes(&slice.at, sizeof slice.at));
    return keel_map_put(&texts->uses, keel_bytes(&slice.at, sizeof slice.at),
                        how | (found ? *found : 0));
}

static void look_later(texts_t *texts, keel_attr_id_t id) {
    if (id >= texts->program->attrs.count || texts->is_known[id]) return;
    texts->is_known[id] = 1;
    keel_buffer_append(&texts->left, &id, sizeof id);
}

static bool is_name_of_something(keel_str_t entry) {
    static const char *const names[] = {"sym_name", "jax.arg_info", "jax.result_info", NULL};
    return keel_str_is_one_of(entry, names);
}

static keel_status_t use_entry(texts_t *texts, keel_string_id_t name, keel_attr_id_t value) {
    const keel_program_t *program = texts->program;
    const keel_attr_t *attr = keel_program_attr(program, value);
    KEEL_TRY(use(texts, name, STAYS));
    if (attr->kind != KEEL_ATTR_STRING || !is_name_of_something(keel_program_str(program, name))) {
        look_later(texts, value);
        return NULL;
    }
    return use(texts, attr->a, IS_NAME | IS_DEFINED);
}

static keel_status_t use_strings(texts_t *texts, uint32_t list) {
    keel_list_t strings = keel_program_list(texts->program, list);
    for (uint32_t i = 0; i < strings.count; ++i)
        KEEL_TRY(use(texts, strings.items[i], STAYS));
    return NULL;
}

static void look_at_list(texts_t *texts, uint32_t list) {
    keel_list_t attributes = keel_program_list(texts->program, list);
    for (uint32_t i = 0; i < attributes.count; ++i)
        look_later(texts, attributes.items[i]);
}

// Of what an operation has; locations are not part of that.
static keel_status_t look_at(texts_t *texts, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(texts->program, id);
    keel_list_t entries;
    switch (attr->kind) {
        case KEEL_ATTR_STRING:
        case KEEL_ATTR_BYTES:
            return use(texts, attr->a, STAYS);
        case KEEL_ATTR_SYMBOL:
            look_at_list(texts, attr->b);
            return use(texts, attr->a, IS_REFERRED_TO);
        case KEEL_ATTR_STRINGS:
            return use_strings(texts, attr->b);
        case KEEL_ATTR_ARRAY:
        case KEEL_ATTR_SPARSE:
            look_at_list(texts, attr->b);
            return NULL;
        case KEEL_ATTR_DISTINCT:
            look_later(texts, attr->a);
            return NULL;
        case KEEL_ATTR_DICT:
            entries = keel_program_list(texts->program, attr->b);
            for (uint32_t i = 0; i + 1 < entries.count; i += 2)
                KEEL_TRY(use_entry(texts, entries.items[i], entries.items[i + 1]));
            return NULL;
        default:
            return NULL;
    }
}

// An encoding or a layout; of a function, that field is a list.
static void look_at_type(texts_t *texts, const keel_type_t *type) {
    if (type->kind == KEEL_TYPE_TENSOR || type->kind == KEEL_TYPE_BUFFER ||
        type->kind == KEEL_TYPE_TUPLE || type->kind == KEEL_TYPE_QUANTIZED)
        look_later(texts, type->c);
}

static keel_status_t look_at_all(texts_t *texts) {
    const keel_program_t *program = texts->program;
    look_later(texts, program->attributes);
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        look_later(texts, program->functions.data[i].argument_attributes);
        look_later(texts, program->functions.data[i].result_attributes);
        look_later(texts, program->functions.data[i].attributes);
    }
    for (uint32_t i = 0; i < keel_program_op_count(program); ++i)
        look_later(texts, program->operations.data[i].attributes);
    for (uint32_t i = 0; i < program->types.count; ++i)
        look_at_type(texts, &program->types.data[i]);
    for (size_t at = 0; at < texts->left.size && !texts->left.failed;
         at += sizeof(keel_attr_id_t)) {
        keel_attr_id_t id;
        memcpy(&id, texts->left.data + at, sizeof id);
        KEEL_TRY(look_at(texts, id));
    }
    return keel_buffer_status(&texts->left);
}

static keel_status_t use_names(texts_t *texts) {
    const keel_program_t *program = texts->program;
    for (uint32_t i = 0; i < program->op_names.count; ++i) {
        KEEL_TRY(use(texts, program->op_names.data[i].dialect, STAYS));
        KEEL_TRY(use(texts, program->op_names.data[i].name, STAYS));
    }
    for (uint32_t i = 0; i < program->attrs.count; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind == KEEL_ATTR_LOC_FILE || attr->kind == KEEL_ATTR_LOC_NAME)
            KEEL_TRY(use(texts, attr->a, IS_NAME));
    }
    for (uint32_t i = 0; i < program->functions.count; ++i)
        KEEL_TRY(use(texts, program->functions.data[i].name,
                     i == program->entry ? STAYS : IS_NAME | IS_DEFINED)); // "main"
    return use(texts, program->name, IS_NAME);
}

static keel_status_t replace(texts_t *texts, names_t *names, uint8_t *bytes) {
    const keel_program_t *program = texts->program;
    for (uint32_t i = 0; i < program->strings.count; ++i) {
        keel_slice_t slice = program->strings.data[i];
        const uint64_t *how = keel_map_find(&texts->uses, keel_bytes(&slice.at, sizeof slice.at));
        if (how && stays(*how)) KEEL_TRY(names_keep(names, keel_program_str(program, i)));
    }
    for (uint32_t i = 0; i < program->strings.count; ++i) {
        keel_slice_t slice = program->strings.data[i];
        const uint64_t *how = keel_map_find(&texts->uses, keel_bytes(&slice.at, sizeof slice.at));
        if (how && *how & IS_NAME && !stays(*how))
            KEEL_TRY(names_word(names, keel_program_str(program, i), (char *)bytes + slice.at));
    }
    return NULL;
}

static keel_status_t strip_mlir(names_t *names, const keel_program_t *program, uint8_t *bytes) {
    texts_t texts = {.program = program};
    void *memory;
    KEEL_TRY(keel_calloc(program->attrs.count + 1, 1, &memory));
    texts.is_known = memory;
    keel_map_initialize(&texts.uses);
    keel_buffer_initialize(&texts.left, 0);
    keel_status_t status = use_names(&texts);
    if (!status) status = look_at_all(&texts);
    if (!status) status = replace(&texts, names, bytes);
    keel_buffer_deinitialize(&texts.left);
    keel_map_deinitialize(&texts.uses);
    keel_free(texts.is_known);
    return status;
}

// ---- HLO ---------------------------------------------------------------------------------------

// A message of xla/service/hlo.proto or xla_data.proto: its fields that are names, and those that
// are messages with names.
typedef struct message_t {
    uint32_t names[8];
    struct {
        uint32_t field;
        const struct message_t *message;
    } parts[4];
} message_t;

enum { DEDUPLICATED_NAME = 12, SCHEDULING_NAME = 16, PROGRAM_SHAPE = 4 };

static const message_t metadata = {
    .names = {KEEL_HLO_AT_OP_NAME, KEEL_HLO_AT_SOURCE_FILE, DEDUPLICATED_NAME, SCHEDULING_NAME}};
static const message_t shape = {.names = {KEEL_HLO_AT_PARAMETER_NAMES}};
static const message_t instruction = {.names = {KEEL_HLO_AT_INSTRUCTION_NAME},
                                      .parts = {{KEEL_HLO_AT_METADATA, &metadata}}};
static const message_t computation = {
    .names = {KEEL_HLO_AT_COMPUTATION_NAME},
    .parts = {{KEEL_HLO_AT_COMPUTATION_INSTRUCTIONS, &instruction}, {PROGRAM_SHAPE, &shape}}};
static const message_t frames = {.names = {KEEL_HLO_AT_FILE_NAMES, KEEL_HLO_AT_FUNCTION_NAMES}};
static const message_t module = {.names = {KEEL_HLO_AT_MODULE_NAME, KEEL_HLO_AT_MODULE_ENTRY_NAME},
                                 .parts = {{KEEL_HLO_AT_MODULE_COMPUTATIONS, &computation},
                                           {KEEL_HLO_AT_MODULE_FRAMES, &frames},
                                           {PROGRAM_SHAPE, &shape}}};

static keel_status_t strip_message(names_t *names, const message_t *of, uint8_t *bytes,
                                   keel_bytes_t span) {
    keel_cursor_t cursor = keel_cursor(span);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES || !field.bytes.size) continue;
        uint8_t *at = bytes + (field.bytes.data - span.data);
        for (size_t i = 0; i < sizeof of->names / sizeof *of->names && of->names[i]; ++i)
            if (of->names[i] == field.number)
                KEEL_TRY(names_word(names, keel_bytes_str(field.bytes), (char *)at));
        for (size_t i = 0; i < sizeof of->parts / sizeof *of->parts && of->parts[i].field; ++i)
            if (of->parts[i].field == field.number)
                KEEL_TRY(strip_message(names, of->parts[i].message, at, field.bytes));
    }
    return cursor.failed ? keel_status_make(KEEL_CORRUPT, "it cannot be decoded") : NULL;
}

// ---- both --------------------------------------------------------------------------------------

static keel_status_t strip(names_t *names, keel_bytes_t bytes, bool is_hlo, uint8_t *out,
                           keel_digest_t *out_key) {
    keel_program_t program;
    KEEL_TRY(is_hlo ? keel_read_hlo(bytes, &program) : keel_read_mlir(bytes, &program));
    keel_status_t status = keel_key_program(&program, out_key);
    if (!status)
        status =
            is_hlo ? strip_message(names, &module, out, bytes) : strip_mlir(names, &program, out);
    keel_program_deinitialize(&program);
    return status;
}

static keel_status_t key_of(keel_bytes_t bytes, bool is_hlo, keel_digest_t *out) {
    keel_program_t program;
    KEEL_TRY(is_hlo ? keel_read_hlo(bytes, &program) : keel_read_mlir(bytes, &program));
    keel_status_t status = keel_key_program(&program, out);
    keel_program_deinitialize(&program);
    return status;
}

keel_status_t program_strip(names_t *names, uint8_t *bytes, size_t size, bool is_hlo) {
    keel_digest_t before, after;
    uint8_t *copy; // what is read borrows the bytes
    KEEL_TRY(keel_bytes_dup(keel_bytes(bytes, size), &copy));
    keel_status_t status = strip(names, keel_bytes(copy, size), is_hlo, bytes, &before);
    keel_free(copy);
    if (!status) status = key_of(keel_bytes(bytes, size), is_hlo, &after);
    if (!status && !keel_digest_equal(&before, &after))
        status =
            keel_status_make(KEEL_UNSUPPORTED, "without its names it would be another program");
    return status;
}
