// What XLA is asked to write. An executable keeps the compile options that it was compiled with, so
// one that is loaded later would write again, where it was asked to then: loads get options of
// their own.
#include <stdio.h>
#include <strings.h>

#include "key/content.h"
#include "key/dump_flags.h"
#include "key/key.h"

static const keel_dump_flag_t flags[] = {
#define ASKS KEEL_DUMP_ASKS
#define COMPILES KEEL_DUMP_COMPILES
#define SHAPES KEEL_DUMP_SHAPES
#define SET KEEL_DUMP_SET
#define TUNED KEEL_DUMP_TUNED
#define FLAG(number, name, kind) {number, name, kind},
    KEEL_DUMP_FLAGS_BY_NUMBER(FLAG) KEEL_DUMP_FLAGS_BY_NAME(FLAG)
#undef FLAG
#undef SHAPES
#undef COMPILES
#undef SET
#undef TUNED
#undef ASKS
};
enum { FLAGS = sizeof flags / sizeof *flags };

// Where each is in `flags`.
enum {
#define PLACE(number, name, kind) PLACE_OF_##number,
    KEEL_DUMP_FLAGS_BY_NUMBER(PLACE)
#undef PLACE
};

// Asked for each field of each request's options, which have hundreds.
const keel_dump_flag_t *keel_dump_flag_by_number(uint32_t number) {
    switch (number) {
#define CASE(number, name, kind)                                                                   \
    case number:                                                                                   \
        return &flags[PLACE_OF_##number];
        KEEL_DUMP_FLAGS_BY_NUMBER(CASE)
#undef CASE
        default:
            return NULL;
    }
}

const keel_dump_flag_t *keel_dump_flag_by_name(keel_str_t name) {
    for (size_t i = 0; i < FLAGS; ++i)
        if (keel_str_is(name, flags[i].name)) return &flags[i];
    return NULL;
}

// By number, by name or by the end of its long name; whatever Keel does not know may be READ.
static bool is_read_only(keel_str_t value) {
    static const char *const adding[] = {"0", "1", "unspecified", "update"};
    for (size_t i = 0; i < sizeof adding / sizeof *adding; ++i) {
        size_t size = strlen(adding[i]);
        if (value.size >= size && strncasecmp(value.data + value.size - size, adding[i], size) == 0)
            return false;
    }
    return value.size != 0;
}

keel_status_t keel_dump_flag_put_cache(const keel_dump_flag_t *flag, keel_str_t value,
                                       bool only_reads, keel_buffer_t *out) {
    if (!value.size) return NULL;
    if (flag->kind == KEEL_DUMP_SET) keel_buffer_text(out, "set");
    return flag->kind == KEEL_DUMP_TUNED && only_reads ? keel_key_content(value, out) : NULL;
}

static bool requests(const keel_dump_flag_t *flag) {
    return flag->kind == KEEL_DUMP_ASKS || flag->kind == KEEL_DUMP_COMPILES;
}

void keel_dumps_note(keel_dumps_t *dumps, const keel_dump_flag_t *flag, keel_str_t value) {
    bool is_set = value.size && !keel_str_is(value, "0") && !keel_str_is(value, "false");
    if (strcmp(flag->name, "xla_enable_dumping") == 0) dumps->is_off = !is_set;
    if (strcmp(flag->name, "xla_gpu_experimental_autotune_cache_mode") == 0)
        dumps->only_reads = is_read_only(value);
    if (strcmp(flag->name, "xla_gpu_cuda_data_dir") == 0) dumps->toolkit = value;
    if (!requests(flag) || !is_set) return;
    if (!dumps->asked) dumps->asked = flag->name;
    if (flag->kind == KEEL_DUMP_COMPILES && !dumps->compiles) dumps->compiles = flag->name;
    if (strcmp(flag->name, "xla_dump_to") == 0) dumps->folder = value;
    if (strcmp(flag->name, "xla_dump_hlo_module_re") == 0) dumps->modules = value;
}

// ---- compile options ---------------------------------------------------------------------------

// Of CompileOptionsProto, ExecutableBuildOptionsProto and OptionOverrideProto.
enum { BUILD_OPTIONS = 3, OVERRIDES = 7, DEBUG_OPTIONS = 3, ENTRY_KEY = 1, ENTRY_VALUE = 2 };

static void note_field(keel_dumps_t *dumps, const keel_dump_flag_t *flag,
                       const keel_proto_field_t *field) {
    char number[24];
    if (!flag) return;
    snprintf(number, sizeof number, "%llu", (unsigned long long)field->value);
    bool is_text = field->wire == KEEL_WIRE_BYTES;
    keel_dumps_note(dumps, flag, is_text ? keel_bytes_str(field->bytes) : keel_str(number));
}

static void look_at_debug_options(keel_dumps_t *dumps, keel_bytes_t bytes) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        note_field(dumps, keel_dump_flag_by_number(field.number), &field);
}

static void look_at_build_options(keel_dumps_t *dumps, keel_bytes_t bytes) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == DEBUG_OPTIONS && field.wire == KEEL_WIRE_BYTES) {
            dumps->is_complete = true;
            look_at_debug_options(dumps, field.bytes);
        }
}

// An entry of a map: the flag's name, and one field with its value, of any type. Returns the flag;
// NULL if it is none of those above.
static const keel_dump_flag_t *read_override(keel_bytes_t bytes, keel_proto_field_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    const keel_dump_flag_t *flag = NULL;
    *out = (keel_proto_field_t){.wire = KEEL_WIRE_BYTES};
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == ENTRY_KEY) flag = keel_dump_flag_by_name(keel_bytes_str(field.bytes));
        if (field.number != ENTRY_VALUE || field.wire != KEEL_WIRE_BYTES) continue;
        keel_cursor_t inside = keel_cursor(field.bytes);
        if (!keel_proto_next(&inside, out)) out->wire = KEEL_WIRE_BYTES;
    }
    return flag;
}

void keel_key_dumps_of_options(keel_bytes_t options, keel_dumps_t *out) {
    keel_cursor_t cursor = keel_cursor(options);
    keel_proto_field_t field, value;
    *out = (keel_dumps_t){.asked = NULL};
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == BUILD_OPTIONS) look_at_build_options(out, field.bytes);
        if (field.number != OVERRIDES) continue;
        const keel_dump_flag_t *flag = read_override(field.bytes, &value);
        note_field(out, flag, &value);
    }
}

// ---- options without them ----------------------------------------------------------------------

typedef enum message_t { OPTIONS, BUILD, DEBUG } message_t;

static bool asks(message_t message, const keel_proto_field_t *field) {
    keel_proto_field_t value;
    const keel_dump_flag_t *flag = NULL;
    if (message == DEBUG) flag = keel_dump_flag_by_number(field->number);
    if (message == OPTIONS && field->number == OVERRIDES && field->wire == KEEL_WIRE_BYTES)
        flag = read_override(field->bytes, &value);
    return flag && requests(flag);
}

// The two numbers are the same: the build options are field 3 of the options, the debug options
// field 3 of the build options.
static keel_status_t put_without(message_t message, keel_bytes_t bytes, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        bool is_nested =
            message != DEBUG && field.number == BUILD_OPTIONS && field.wire == KEEL_WIRE_BYTES;
        if (is_nested) {
            size_t opened = keel_proto_open(out, field.number);
            KEEL_TRY(put_without(message + 1, field.bytes, out));
            keel_proto_close(out, opened);
        } else if (!asks(message, &field)) {
            keel_buffer_append(out, field.raw.data, field.raw.size);
        }
    }
    if (!cursor.failed) return keel_buffer_status(out);
    return keel_status_make(KEEL_CORRUPT, "the compile options are not those of a known XLA");
}

keel_status_t keel_key_options_without_dumps(keel_bytes_t options, keel_buffer_t *out) {
    return put_without(OPTIONS, options, out);
}
