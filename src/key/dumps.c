// Whether XLA should write something while it compiles. Loading writes nothing, so such a program
// has to be compiled.
#include <stdio.h>

#include "key/dump_flags.h"
#include "key/key.h"

static const keel_dump_flag_t flags[] = {
#define ASKS KEEL_DUMP_ASKS
#define SHAPES KEEL_DUMP_SHAPES
#define FLAG(number, name, kind) {number, name, kind},
    KEEL_DUMP_FLAGS(FLAG)
#undef FLAG
#undef SHAPES
#undef ASKS
};
enum { FLAGS = sizeof flags / sizeof *flags };

const keel_dump_flag_t *keel_dump_flag_by_number(uint32_t number) {
    for (size_t i = 0; i < FLAGS; ++i)
        if (number && flags[i].number == number) return &flags[i];
    return NULL;
}

const keel_dump_flag_t *keel_dump_flag_by_name(keel_str_t name) {
    for (size_t i = 0; i < FLAGS; ++i)
        if (keel_str_is(name, flags[i].name)) return &flags[i];
    return NULL;
}

void keel_dumps_note(keel_dumps_t *dumps, const keel_dump_flag_t *flag, keel_str_t value) {
    bool is_set = value.size && !keel_str_is(value, "0") && !keel_str_is(value, "false");
    if (strcmp(flag->name, "xla_enable_dumping") == 0)
        dumps->is_off = !is_set;
    else if (flag->kind == KEEL_DUMP_ASKS && is_set && !dumps->asked)
        dumps->asked = flag->name;
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
        if (field.number == DEBUG_OPTIONS && field.wire == KEEL_WIRE_BYTES)
            look_at_debug_options(dumps, field.bytes);
}

// Entries of a map: the flag's name, and one field with its value, of any type.
static void look_at_override(keel_dumps_t *dumps, keel_bytes_t bytes) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field, value = {.wire = KEEL_WIRE_BYTES};
    const keel_dump_flag_t *flag = NULL;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == ENTRY_KEY) flag = keel_dump_flag_by_name(keel_bytes_str(field.bytes));
        if (field.number != ENTRY_VALUE || field.wire != KEEL_WIRE_BYTES) continue;
        keel_cursor_t inside = keel_cursor(field.bytes);
        if (!keel_proto_next(&inside, &value)) value.wire = KEEL_WIRE_BYTES;
    }
    note_field(dumps, flag, &value);
}

const char *keel_key_dumps_of_options(keel_bytes_t options) {
    keel_dumps_t dumps = {NULL, false};
    keel_cursor_t cursor = keel_cursor(options);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == BUILD_OPTIONS) look_at_build_options(&dumps, field.bytes);
        if (field.number == OVERRIDES) look_at_override(&dumps, field.bytes);
    }
    return keel_dumps_asked(&dumps);
}
