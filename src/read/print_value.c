#include "read/print_value.h"

#include "read/print.h"
#include "read/print_number.h"

static bool is_bare_name(keel_str_t name) {
    for (size_t i = 0; i < name.size; ++i) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool other = (c >= '0' && c <= '9') || c == '.' || c == '$' || c == '-';
        if (!letter && !(i && other)) return false;
    }
    return name.size > 0;
}

void keel_print_name(keel_buffer_t *out, keel_str_t name) {
    if (is_bare_name(name))
        keel_buffer_str(out, name);
    else
        keel_buffer_json_str(out, name);
}

keel_attr_id_t keel_print_entry(const keel_program_t *program, keel_attr_id_t array,
                                uint32_t index) {
    keel_list_t items = keel_program_array(program, array);
    if (index >= items.count) return KEEL_NONE;
    keel_attr_id_t found = items.items[index];
    return keel_program_attr(program, found)->kind == KEEL_ATTR_DICT ? found : KEEL_NONE;
}

// ": i32" after a number, unless the type is that of a bare number.
static void suffix(keel_printer_t *p, keel_type_id_t type, const char *usual) {
    if (type == KEEL_NONE) return;
    size_t before = p->out->size;
    keel_printer_text(p, " : ");
    size_t at = p->out->size;
    keel_print_value_type(p, type);
    if (p->out->failed || strcmp(keel_buffer_cstr(p->out) + at, usual) != 0) return;
    p->out->size = before;
    p->out->data[before] = 0;
}

bool keel_print_is_bool(const keel_program_t *program, const keel_attr_t *integer) {
    const keel_type_t *type = keel_program_type(program, integer->a);
    return type->kind == KEEL_TYPE_INTEGER && type->a == 1 && type->aux == KEEL_SIGNLESS;
}

static void integer(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    int64_t value = p->program->ints.data[a->b];
    if (keel_print_is_bool(p->program, a)) {
        keel_printer_text(p, value ? "true" : "false");
        return;
    }
    const keel_type_t *type = keel_program_type(p->program, a->a);
    bool is_unsigned = type->kind == KEEL_TYPE_INTEGER && type->aux == KEEL_UNSIGNED;
    keel_print_integer((uint64_t)value, 64, !is_unsigned, p->out);
    suffix(p, a->a, "i64");
}

static void wide(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_ints_t words = keel_program_ints(p->program, a->b);
    keel_printer_text(p, "0x");
    for (uint32_t i = words.count; i-- > 0;)
        keel_buffer_format(p->out, "%016llx", (unsigned long long)words.items[i]);
    suffix(p, a->a, "");
}

static void number(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    uint64_t bits = (uint64_t)p->program->ints.data[a->b];
    const keel_type_t *type = keel_program_type(p->program, a->a);
    if (type->kind != KEEL_TYPE_FLOAT || !keel_print_float(type->a, bits, p->out))
        keel_buffer_format(p->out, "0x%llx", (unsigned long long)bits);
    suffix(p, a->a, "f64");
}

static void attribute_list(keel_printer_t *p, uint32_t list, const char *before,
                           const char *after) {
    keel_list_t items = keel_program_list(p->program, list);
    keel_printer_text(p, before);
    for (uint32_t i = 0; i < items.count; ++i) {
        if (i) keel_printer_text(p, ", ");
        if (i >= p->largest || keel_print_full(p)) {
            keel_printer_text(p, "...");
            break;
        }
        keel_print_value_text(p, items.items[i]);
    }
    keel_printer_text(p, after);
}

static void ints(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_ints_t items = keel_program_ints(p->program, a->b);
    keel_printer_text(p, keel_record_name(a->klass));
    keel_printer_text(p, a->klass ? "<" : "[");
    for (uint32_t i = 0; i < items.count; ++i) {
        if (i) keel_printer_text(p, ", ");
        if (i >= p->largest) {
            keel_printer_text(p, "...");
            break;
        }
        if (items.items[i] == KEEL_DYNAMIC)
            keel_printer_text(p, "?");
        else
            keel_buffer_format(p->out, "%lld", (long long)items.items[i]);
    }
    keel_printer_text(p, a->klass ? ">" : "]");
}

static void strings(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_list_t items = keel_program_list(p->program, a->b);
    keel_printer_text(p, "dense<[");
    for (uint32_t i = 0; i < items.count; ++i) {
        if (i) keel_printer_text(p, ", ");
        if (i >= p->largest) {
            keel_printer_text(p, "...");
            break;
        }
        keel_buffer_json_str(p->out, keel_program_str(p->program, items.items[i]));
    }
    keel_printer_text(p, "]> : ");
    keel_print_value_type(p, a->a);
}

static void symbol(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_printer_text(p, "@");
    keel_print_name(p->out, keel_program_str(p->program, a->a));
    keel_list_t nested = keel_program_list(p->program, a->b);
    for (uint32_t i = 0; i < nested.count && !keel_print_full(p); ++i) {
        keel_printer_text(p, "::");
        keel_print_value_text(p, nested.items[i]);
    }
}

void keel_print_dictionary_text(keel_printer_t *p, keel_attr_id_t dictionary) {
    keel_list_t pairs = keel_program_entries(p->program, dictionary);
    keel_printer_text(p, "{");
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        if (i) keel_printer_text(p, ", ");
        if (keel_print_full(p)) {
            keel_printer_text(p, "...");
            break;
        }
        keel_str_t name = keel_program_str(p->program, pairs.items[i]);
        keel_print_name(p->out, name);
        if (keel_program_attr(p->program, pairs.items[i + 1])->kind == KEEL_ATTR_UNIT) continue;
        keel_printer_text(p, " = ");
        keel_print_value_text(p, pairs.items[i + 1]);
    }
    keel_printer_text(p, "}");
}

static void location(keel_printer_t *p, keel_attr_id_t id) {
    keel_frame_t frame = {0};
    keel_str_t name = {"", 0};
    keel_program_frames(p->program, id, &frame, 1, &name);
    keel_printer_text(p, "loc(");
    keel_buffer_json_str(p->out, name);
    if (frame.file.size) {
        keel_printer_text(p, " at ");
        keel_print_name(p->out, frame.file);
        keel_buffer_format(p->out, ":%u", frame.line);
    }
    keel_printer_text(p, ")");
}

static void string(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_buffer_json_str(p->out, keel_program_str(p->program, a->a));
    suffix(p, a->b, "none");
}

static void enumeration(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    const char *name = keel_enum_name(a->klass, a->a);
    if (name)
        keel_printer_text(p, name);
    else
        keel_buffer_format(p->out, "%s %u", keel_enum_class_name(a->klass), a->a);
}

static void opaque(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    keel_bytes_t blob = p->program->blobs.data[a->b];
    keel_print_name(p->out, keel_program_str(p->program, a->a));
    keel_printer_text(p, "<\"0x");
    size_t shown = blob.size <= p->largest ? blob.size : p->largest < 16 ? p->largest : 16;
    keel_buffer_hex(p->out, keel_bytes(blob.data, shown));
    keel_printer_text(p, shown < blob.size ? "...\">" : "\">");
}

static void none(keel_printer_t *p, keel_attr_id_t id) {
    (void)id;
    keel_printer_text(p, "none");
}

static void unit(keel_printer_t *p, keel_attr_id_t id) {
    (void)id;
    keel_printer_text(p, "unit");
}

static void boolean(keel_printer_t *p, keel_attr_id_t id) {
    keel_printer_text(p, keel_program_attr(p->program, id)->a ? "true" : "false");
}

static void type(keel_printer_t *p, keel_attr_id_t id) {
    keel_print_value_type(p, keel_program_attr(p->program, id)->a);
}

static void array(keel_printer_t *p, keel_attr_id_t id) {
    attribute_list(p, keel_program_attr(p->program, id)->b, "[", "]");
}

static void dictionary(keel_printer_t *p, keel_attr_id_t id) {
    uint16_t klass = keel_program_attr(p->program, id)->klass;
    if (klass != KEEL_RECORD_HLO_MESSAGE || p->is_exact)
        keel_printer_text(p, keel_record_name(klass));
    keel_print_dictionary_text(p, id);
}

static void tensor(keel_printer_t *p, keel_attr_id_t id) {
    keel_print_tensor_text(p, keel_program_attr(p->program, id), true);
}

static void dense_array(keel_printer_t *p, keel_attr_id_t id) {
    keel_print_array_text(p, keel_program_attr(p->program, id));
}

static void sparse(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    attribute_list(p, a->b, "sparse<", "> : ");
    keel_print_value_type(p, a->a);
}

static void distinct(keel_printer_t *p, keel_attr_id_t id) {
    keel_printer_text(p, "distinct<");
    keel_print_value_text(p, keel_program_attr(p->program, id)->a);
    keel_printer_text(p, ">");
}

static const keel_print_notation_t notation = KEEL_PRINT_NOTATION;

void keel_print_value(keel_printer_t *p, const keel_print_notation_t in, keel_attr_id_t attribute) {
    if (attribute >= p->program->attrs.count) {
        in[KEEL_ATTR_NONE](p, attribute);
        return;
    }
    if (!keel_print_open(p)) return;
    uint32_t kind = keel_program_attr(p->program, attribute)->kind;
    in[kind < KEEL_PRINT_KINDS ? kind : KEEL_PRINT_KINDS - 1](p, attribute);
    keel_print_close(p);
}

void keel_print_value_text(keel_printer_t *p, keel_attr_id_t attribute) {
    keel_print_value(p, notation, attribute);
}

void keel_print_attribute(const keel_program_t *program, keel_attr_id_t attribute,
                          uint32_t largest_value, keel_buffer_t *out) {
    keel_printer_t printer = keel_printer(program, out, largest_value, KEEL_PRINT_LINE_LIMIT);
    keel_print_value_text(&printer, attribute);
}
