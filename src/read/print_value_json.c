// Attributes in JSON. An object's first member identifies its form: docs/show.md lists them.
#include "read/print_value.h"

#include <stdio.h>

#include "read/print_number.h"

// Integer tensors up to this many elements list them beside the bytes.
enum { LISTED = 64 };

void keel_print_type_json(keel_printer_t *p, const char *name, keel_type_id_t type) {
    keel_buffer_byte(keel_json_value(&p->json, name), '"');
    keel_print_value_type(p, type);
    keel_buffer_byte(p->out, '"');
}

static bool is_utf8(keel_str_t string) {
    for (size_t at = 0; at < string.size;) {
        size_t length = keel_utf8_length(string, at);
        if (!length) return false;
        at += length;
    }
    return true;
}

static void quoted(keel_printer_t *p, const char *name, keel_str_t string) {
    if (is_utf8(string)) {
        keel_json_str(&p->json, name, string);
        return;
    }
    keel_json_object(&p->json, name);
    keel_json_hex(&p->json, "bytes", keel_str_bytes(string));
    keel_json_end_object(&p->json);
}

static bool is_kind(const keel_printer_t *p, keel_type_id_t type, keel_type_kind_t kind) {
    return type < p->program->types.count && keel_program_type(p->program, type)->kind == kind;
}

static const keel_attr_t *attribute_of(const keel_printer_t *p, keel_attr_id_t id) {
    return keel_program_attr(p->program, id);
}

// ---- simple ------------------------------------------------------------------------------------

static void none(keel_printer_t *p, keel_attr_id_t id) {
    (void)id;
    keel_json_null(&p->json, NULL);
}

static void unit(keel_printer_t *p, keel_attr_id_t id) {
    (void)id;
    keel_json_object(&p->json, NULL);
    keel_json_bool(&p->json, "unit", true);
    keel_json_end_object(&p->json);
}

static void boolean(keel_printer_t *p, keel_attr_id_t id) {
    keel_json_bool(&p->json, NULL, attribute_of(p, id)->a);
}

static void type(keel_printer_t *p, keel_attr_id_t id) {
    keel_json_object(&p->json, NULL);
    keel_print_type_json(p, "type", attribute_of(p, id)->a);
    keel_json_end_object(&p->json);
}

static void string(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    if (a->b == KEEL_NONE || is_kind(p, a->b, KEEL_TYPE_NONE)) {
        quoted(p, NULL, keel_program_str(p->program, a->a));
        return;
    }
    keel_json_object(&p->json, NULL);
    quoted(p, "string", keel_program_str(p->program, a->a));
    keel_print_type_json(p, "type", a->b);
    keel_json_end_object(&p->json);
}

static void enumeration(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    const char *name = keel_enum_name(a->klass, a->a);
    if (name) {
        keel_json_string(&p->json, NULL, name);
        return;
    }
    keel_json_object(&p->json, NULL);
    keel_json_string(&p->json, "enum", keel_enum_class_name(a->klass));
    keel_json_unsigned(&p->json, "value", a->a);
    keel_json_end_object(&p->json);
}

static void opaque(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_json_object(&p->json, NULL);
    quoted(p, "opaque", keel_program_str(p->program, a->a));
    keel_json_hex(&p->json, "data", p->program->blobs.data[a->b]);
    keel_json_end_object(&p->json);
}

// ---- numbers -----------------------------------------------------------------------------------

static void integer(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    int64_t value = p->program->ints.data[a->b];
    if (keel_print_is_bool(p->program, a)) {
        keel_json_bool(&p->json, NULL, value);
        return;
    }
    const keel_type_t *of = a->a == KEEL_NONE ? NULL : keel_program_type(p->program, a->a);
    bool is_unsigned = of && of->kind == KEEL_TYPE_INTEGER && of->aux == KEEL_UNSIGNED;
    bool is_plain =
        !of || (of->kind == KEEL_TYPE_INTEGER && of->a == 64 && of->aux == KEEL_SIGNLESS);
    if (!is_plain) keel_json_object(&p->json, NULL);
    if (is_unsigned)
        keel_json_unsigned(&p->json, "int", (uint64_t)value);
    else
        keel_json_int(&p->json, is_plain ? NULL : "int", value);
    if (is_plain) return;
    keel_print_type_json(p, "type", a->a);
    keel_json_end_object(&p->json);
}

static void wide(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_ints_t words = keel_program_ints(p->program, a->b);
    keel_json_object(&p->json, NULL);
    keel_buffer_text(keel_json_value(&p->json, "int"), "\"0x");
    for (uint32_t i = words.count; i-- > 0;)
        keel_buffer_format(p->out, "%016llx", (unsigned long long)words.items[i]);
    keel_buffer_byte(p->out, '"');
    keel_print_type_json(p, "type", a->a);
    keel_json_end_object(&p->json);
}

static uint32_t float_digits(const keel_type_t *type) {
    static const uint16_t widths[] = {
#define WIDTH(name, words, bits) bits,
        KEEL_FLOATS(WIDTH)
#undef WIDTH
    };
    return type->kind == KEEL_TYPE_FLOAT && type->a < KEEL_FLOAT_COUNT ? (widths[type->a] + 3) / 4
                                                                       : 16;
}

static void number(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    uint64_t bits = (uint64_t)p->program->ints.data[a->b];
    const keel_type_t *of = keel_program_type(p->program, a->a);
    keel_json_object(&p->json, NULL);
    size_t at = keel_json_value(&p->json, "float")->size;
    if (of->kind != KEEL_TYPE_FLOAT || !keel_print_float(of->a, bits, p->out)) {
        keel_buffer_text(p->out, "null");
    } else if (strpbrk(keel_buffer_cstr(p->out) + at, "n")) {
        char word[8]; // "-inf": JSON has no infinity
        snprintf(word, sizeof word, "%s", keel_buffer_cstr(p->out) + at);
        p->out->size = at;
        keel_buffer_format(p->out, "\"%s\"", word);
    }
    keel_buffer_format(keel_json_value(&p->json, "bits"), "\"0x%0*llx\"", (int)float_digits(of),
                       (unsigned long long)bits);
    keel_print_type_json(p, "type", a->a);
    keel_json_end_object(&p->json);
}

// ---- tensors -----------------------------------------------------------------------------------

static void write_elements(keel_printer_t *p, keel_type_id_t element,
                           const keel_tensor_view_t *view) {
    bool whole = view->is_bool || is_kind(p, element, KEEL_TYPE_INDEX) ||
                 (is_kind(p, element, KEEL_TYPE_INTEGER) && view->element_size <= 8);
    if (!whole || view->count > LISTED) return;
    keel_json_array(&p->json, "values");
    for (uint64_t i = 0; i < view->count; ++i) {
        keel_json_value(&p->json, NULL);
        keel_print_element(p, element, view, i);
    }
    keel_json_end_array(&p->json);
}

// One byte per bool, however it is stored.
static void data(keel_printer_t *p, const keel_tensor_view_t *view) {
    if (!view->is_bool) {
        keel_json_hex(&p->json, "data", view->bytes);
        return;
    }
    keel_buffer_byte(keel_json_value(&p->json, "data"), '"');
    uint64_t count = view->is_splat && view->count ? 1 : view->count;
    for (uint64_t i = 0; i < count && !keel_print_full(p); ++i)
        keel_buffer_text(p->out, keel_tensor_bool(view, i) ? "01" : "00");
    keel_buffer_byte(p->out, '"');
}

static void tensor(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_tensor_view_t view;
    keel_json_object(&p->json, NULL);
    keel_print_type_json(p, "tensor", a->a);
    keel_status_t status =
        keel_program_tensor(p->program, a->a, p->program->blobs.data[a->b], &view);
    if (status) {
        keel_json_hex(&p->json, "damaged", p->program->blobs.data[a->b]);
        keel_status_ignore(status);
    } else {
        keel_json_bool(&p->json, "splat", view.is_splat);
        data(p, &view);
        write_elements(p, keel_print_element_type(p->program, a->a), &view);
    }
    keel_json_end_object(&p->json);
}

static void dense_array(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_tensor_view_t view = keel_print_array_view(p->program, a);
    keel_json_object(&p->json, NULL);
    keel_print_type_json(p, "array", a->a);
    data(p, &view);
    write_elements(p, a->a, &view);
    keel_json_end_object(&p->json);
}

static void strings(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_list_t items = keel_program_list(p->program, a->b);
    keel_json_object(&p->json, NULL);
    keel_print_type_json(p, "strings", a->a);
    keel_json_bool(&p->json, "splat", a->aux);
    keel_json_array(&p->json, "values");
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i)
        quoted(p, NULL, keel_program_str(p->program, items.items[i]));
    keel_json_end_array(&p->json);
    keel_json_end_object(&p->json);
}

// ---- composed ----------------------------------------------------------------------------------

static void list(keel_printer_t *p, const char *name, uint32_t offset) {
    keel_list_t items = keel_program_list(p->program, offset);
    keel_json_array(&p->json, name);
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i)
        keel_print_value_json(p, NULL, items.items[i]);
    keel_json_end_array(&p->json);
}

static void array(keel_printer_t *p, keel_attr_id_t id) {
    list(p, NULL, attribute_of(p, id)->b);
}

static void entries(keel_printer_t *p, keel_attr_id_t id) {
    keel_list_t pairs = keel_program_entries(p->program, id);
    for (uint32_t i = 0; i + 1 < pairs.count && !keel_print_full(p); i += 2) {
        keel_json_key(&p->json, keel_program_str(p->program, pairs.items[i]));
        keel_print_value_json(p, NULL, pairs.items[i + 1]);
    }
}

void keel_print_dictionary_json(keel_printer_t *p, const char *name, keel_attr_id_t id) {
    keel_json_object(&p->json, name);
    entries(p, id);
    keel_json_end_object(&p->json);
}

static void dictionary(keel_printer_t *p, keel_attr_id_t id) {
    uint16_t klass = attribute_of(p, id)->klass;
    keel_json_object(&p->json, NULL);
    if (klass == KEEL_RECORD_DICTIONARY) {
        keel_print_dictionary_json(p, "dictionary", id);
    } else if (klass == KEEL_RECORD_HLO_MESSAGE) {
        keel_print_dictionary_json(p, "message", id);
    } else {
        keel_json_string(&p->json, "kind", keel_record_name(klass));
        entries(p, id);
    }
    keel_json_end_object(&p->json);
}

static void ints(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_ints_t items = keel_program_ints(p->program, a->b);
    if (a->klass) {
        keel_json_object(&p->json, NULL);
        keel_json_string(&p->json, "kind", keel_record_name(a->klass));
    }
    keel_json_array(&p->json, a->klass ? "values" : NULL);
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i)
        keel_json_int(&p->json, NULL, items.items[i]);
    keel_json_end_array(&p->json);
    if (a->klass) keel_json_end_object(&p->json);
}

static void symbol(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_json_object(&p->json, NULL);
    quoted(p, "symbol", keel_program_str(p->program, a->a));
    if (keel_program_list(p->program, a->b).count) list(p, "nested", a->b);
    keel_json_end_object(&p->json);
}

static void sparse(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = attribute_of(p, id);
    keel_json_object(&p->json, NULL);
    keel_print_type_json(p, "sparse", a->a);
    list(p, "parts", a->b);
    keel_json_end_object(&p->json);
}

static void distinct(keel_printer_t *p, keel_attr_id_t id) {
    keel_json_object(&p->json, NULL);
    keel_print_value_json(p, "distinct", attribute_of(p, id)->a);
    keel_json_end_object(&p->json);
}

// ---- locations ---------------------------------------------------------------------------------

static void frame_json(keel_printer_t *p, const keel_frame_t *frame) {
    keel_json_object(&p->json, NULL);
    quoted(p, "file", frame->file);
    keel_json_unsigned(&p->json, "line", frame->line);
    keel_json_unsigned(&p->json, "column", frame->column);
    keel_json_unsigned(&p->json, "end_line", frame->end_line);
    keel_json_unsigned(&p->json, "end_column", frame->end_column);
    quoted(p, "name", frame->function);
    keel_json_end_object(&p->json);
}

void keel_print_location_json(keel_printer_t *p, keel_attr_id_t id) {
    if (id == KEEL_NONE) return;
    keel_frame_t few[32];
    keel_frame_t *frames = few;
    void *many = NULL;
    keel_str_t name = {"", 0};
    uint32_t shown = sizeof few / sizeof *few;
    uint32_t count = keel_program_frames(p->program, id, few, shown, &name);
    if (count > shown) {
        keel_status_t status = keel_realloc_array(count, sizeof *frames, &many);
        if (status) {
            keel_status_ignore(status);
            p->out->failed = true;
            return;
        }
        frames = many;
        keel_program_frames(p->program, id, frames, count, &name);
    }
    if (count || name.size) {
        quoted(p, "location_name", name);
        keel_json_array(&p->json, "locations");
        for (uint32_t i = 0; i < count && !keel_print_full(p); ++i)
            frame_json(p, &frames[i]);
        keel_json_end_array(&p->json);
    }
    keel_free(many);
}

static void location(keel_printer_t *p, keel_attr_id_t id) {
    keel_json_object(&p->json, NULL);
    keel_json_object(&p->json, "location");
    keel_print_location_json(p, id);
    keel_json_end_object(&p->json);
    keel_json_end_object(&p->json);
}

// ---- any ---------------------------------------------------------------------------------------

static const keel_print_notation_t notation = KEEL_PRINT_NOTATION;

void keel_print_value_json(keel_printer_t *p, const char *name, keel_attr_id_t attribute) {
    if (name) keel_json_key(&p->json, keel_str(name));
    keel_print_value(p, notation, attribute);
}
