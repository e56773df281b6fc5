// Attributes in JSON. An object's first member identifies its form: docs/show.md lists them.
#include "read/print_value.h"

#include <stdio.h>

#include "read/print_number.h"

// Integer tensors up to this many elements list them beside the bytes.
enum { LISTED = 64 };

static void text(keel_printer_t *p, const char *words) {
    keel_buffer_text(p->out, words);
}

static void quoted_type(keel_printer_t *p, keel_type_id_t type) {
    text(p, "\"");
    keel_print_value_type(p, type);
    text(p, "\"");
}

static bool is_utf8(keel_str_t string) {
    for (size_t at = 0; at < string.size;) {
        size_t length = keel_utf8_length(string, at);
        if (!length) return false;
        at += length;
    }
    return true;
}

static void quoted(keel_printer_t *p, keel_str_t string) {
    if (is_utf8(string)) {
        keel_buffer_json_str(p->out, string);
        return;
    }
    text(p, "{\"bytes\":\"");
    keel_buffer_hex(p->out, keel_str_bytes(string));
    text(p, "\"}");
}

static bool is_kind(const keel_printer_t *p, keel_type_id_t type, keel_type_kind_t kind) {
    return type < p->program->types.count && keel_program_type(p->program, type)->kind == kind;
}

// ---- numbers -----------------------------------------------------------------------------------

static void integer(keel_printer_t *p, const keel_attr_t *a) {
    if (keel_print_is_bool(p->program, a)) {
        text(p, p->program->ints.data[a->b] ? "true" : "false");
        return;
    }
    const keel_type_t *type = a->a == KEEL_NONE ? NULL : keel_program_type(p->program, a->a);
    bool is_unsigned = type && type->kind == KEEL_TYPE_INTEGER && type->aux == KEEL_UNSIGNED;
    bool is_plain =
        !type || (type->kind == KEEL_TYPE_INTEGER && type->a == 64 && type->aux == KEEL_SIGNLESS);
    if (!is_plain) text(p, "{\"int\":");
    keel_print_integer((uint64_t)p->program->ints.data[a->b], 64, !is_unsigned, p->out);
    if (is_plain) return;
    text(p, ",\"type\":");
    quoted_type(p, a->a);
    text(p, "}");
}

static void wide(keel_printer_t *p, const keel_attr_t *a) {
    keel_ints_t words = keel_program_ints(p->program, a->b);
    text(p, "{\"int\":\"0x");
    for (uint32_t i = words.count; i-- > 0;)
        keel_buffer_format(p->out, "%016llx", (unsigned long long)words.items[i]);
    text(p, "\",\"type\":");
    quoted_type(p, a->a);
    text(p, "}");
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

static void number(keel_printer_t *p, const keel_attr_t *a) {
    uint64_t bits = (uint64_t)p->program->ints.data[a->b];
    const keel_type_t *type = keel_program_type(p->program, a->a);
    text(p, "{\"float\":");
    size_t at = p->out->size;
    if (type->kind != KEEL_TYPE_FLOAT || !keel_print_float(type->a, bits, p->out)) {
        text(p, "null");
    } else if (strpbrk(keel_buffer_cstr(p->out) + at, "n")) {
        char word[8]; // "-inf": JSON has no infinity
        snprintf(word, sizeof word, "%s", keel_buffer_cstr(p->out) + at);
        p->out->size = at;
        keel_buffer_format(p->out, "\"%s\"", word);
    }
    keel_buffer_format(p->out, ",\"bits\":\"0x%0*llx\",\"type\":", (int)float_digits(type),
                       (unsigned long long)bits);
    quoted_type(p, a->a);
    text(p, "}");
}

// ---- tensors -----------------------------------------------------------------------------------

static void values(keel_printer_t *p, keel_type_id_t element, const keel_tensor_view_t *view) {
    bool whole = view->is_bool || is_kind(p, element, KEEL_TYPE_INDEX) ||
                 (is_kind(p, element, KEEL_TYPE_INTEGER) && view->element_size <= 8);
    if (!whole || view->count > LISTED) return;
    text(p, ",\"values\":[");
    for (uint64_t i = 0; i < view->count; ++i) {
        if (i) text(p, ",");
        keel_print_element(p, element, view, i);
    }
    text(p, "]");
}

// One byte per bool, however it is stored.
static void data(keel_printer_t *p, const keel_tensor_view_t *view) {
    text(p, ",\"data\":\"");
    if (!view->is_bool) {
        keel_buffer_hex(p->out, view->bytes);
    } else {
        uint64_t count = view->is_splat && view->count ? 1 : view->count;
        for (uint64_t i = 0; i < count && !keel_print_full(p); ++i)
            text(p, keel_tensor_bool(view, i) ? "01" : "00");
    }
    text(p, "\"");
}

static void tensor(keel_printer_t *p, const keel_attr_t *a) {
    keel_tensor_view_t view;
    text(p, "{\"tensor\":");
    quoted_type(p, a->a);
    keel_status_t status =
        keel_program_tensor(p->program, a->a, p->program->blobs.data[a->b], &view);
    if (status) {
        text(p, ",\"damaged\":\"");
        keel_buffer_hex(p->out, p->program->blobs.data[a->b]);
        text(p, "\"}");
        keel_status_ignore(status);
        return;
    }
    text(p, view.is_splat ? ",\"splat\":true" : ",\"splat\":false");
    data(p, &view);
    values(p, keel_print_element_type(p->program, a->a), &view);
    text(p, "}");
}

static void array(keel_printer_t *p, const keel_attr_t *a) {
    keel_tensor_view_t view = keel_print_array_view(p->program, a);
    text(p, "{\"array\":");
    quoted_type(p, a->a);
    data(p, &view);
    values(p, a->a, &view);
    text(p, "}");
}

static void strings(keel_printer_t *p, const keel_attr_t *a) {
    keel_list_t items = keel_program_list(p->program, a->b);
    text(p, "{\"strings\":");
    quoted_type(p, a->a);
    text(p, a->aux ? ",\"splat\":true,\"values\":[" : ",\"splat\":false,\"values\":[");
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i) {
        if (i) text(p, ",");
        quoted(p, keel_program_str(p->program, items.items[i]));
    }
    text(p, "]}");
}

// ---- composed ----------------------------------------------------------------------------------

static void list(keel_printer_t *p, uint32_t offset) {
    keel_list_t items = keel_program_list(p->program, offset);
    text(p, "[");
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i) {
        if (i) text(p, ",");
        keel_print_value_json(p, items.items[i]);
    }
    text(p, "]");
}

static void entries(keel_printer_t *p, keel_attr_id_t dictionary, bool first) {
    keel_list_t pairs = keel_program_entries(p->program, dictionary);
    for (uint32_t i = 0; i + 1 < pairs.count && !keel_print_full(p); i += 2) {
        if (i || !first) text(p, ",");
        keel_buffer_json_str(p->out, keel_program_str(p->program, pairs.items[i]));
        text(p, ":");
        keel_print_value_json(p, pairs.items[i + 1]);
    }
}

void keel_print_dictionary_json(keel_printer_t *p, keel_attr_id_t dictionary) {
    text(p, "{");
    entries(p, dictionary, true);
    text(p, "}");
}

static void dictionary(keel_printer_t *p, keel_attr_id_t id) {
    uint16_t klass = keel_program_attr(p->program, id)->klass;
    bool is_record = klass != KEEL_RECORD_DICTIONARY && klass != KEEL_RECORD_HLO_MESSAGE;
    if (is_record) {
        keel_buffer_format(p->out, "{\"kind\":\"%s\"", keel_record_name(klass));
        entries(p, id, false);
    } else {
        text(p, klass == KEEL_RECORD_DICTIONARY ? "{\"dictionary\":" : "{\"message\":");
        keel_print_dictionary_json(p, id);
    }
    text(p, "}");
}

static void ints(keel_printer_t *p, const keel_attr_t *a) {
    keel_ints_t items = keel_program_ints(p->program, a->b);
    if (a->klass)
        keel_buffer_format(p->out, "{\"kind\":\"%s\",\"values\":", keel_record_name(a->klass));
    text(p, "[");
    for (uint32_t i = 0; i < items.count && !keel_print_full(p); ++i)
        keel_buffer_format(p->out, "%s%lld", i ? "," : "", (long long)items.items[i]);
    text(p, a->klass ? "]}" : "]");
}

static void string(keel_printer_t *p, const keel_attr_t *a) {
    if (a->b == KEEL_NONE || is_kind(p, a->b, KEEL_TYPE_NONE)) {
        quoted(p, keel_program_str(p->program, a->a));
        return;
    }
    text(p, "{\"string\":");
    quoted(p, keel_program_str(p->program, a->a));
    text(p, ",\"type\":");
    quoted_type(p, a->b);
    text(p, "}");
}

static void symbol(keel_printer_t *p, const keel_attr_t *a) {
    text(p, "{\"symbol\":");
    quoted(p, keel_program_str(p->program, a->a));
    if (keel_program_list(p->program, a->b).count) {
        text(p, ",\"nested\":");
        list(p, a->b);
    }
    text(p, "}");
}

static void enumeration(keel_printer_t *p, const keel_attr_t *a) {
    const char *name = keel_enum_name(a->klass, a->a);
    if (name)
        keel_buffer_json_str(p->out, keel_str(name));
    else
        keel_buffer_format(p->out, "{\"enum\":\"%s\",\"value\":%u}", keel_enum_class_name(a->klass),
                           a->a);
}

static void sparse(keel_printer_t *p, const keel_attr_t *a) {
    text(p, "{\"sparse\":");
    quoted_type(p, a->a);
    text(p, ",\"parts\":");
    list(p, a->b);
    text(p, "}");
}

static void opaque(keel_printer_t *p, const keel_attr_t *a) {
    text(p, "{\"opaque\":");
    quoted(p, keel_program_str(p->program, a->a));
    text(p, ",\"data\":\"");
    keel_buffer_hex(p->out, p->program->blobs.data[a->b]);
    text(p, "\"}");
}

// ---- locations ---------------------------------------------------------------------------------

static void frame_json(keel_printer_t *p, const keel_frame_t *frame) {
    text(p, "{\"file\":");
    quoted(p, frame->file);
    keel_buffer_format(p->out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u",
                       frame->line, frame->column, frame->end_line, frame->end_column);
    text(p, ",\"name\":");
    quoted(p, frame->function);
    text(p, "}");
}

bool keel_print_location_json(keel_printer_t *p, keel_attr_id_t location) {
    if (location == KEEL_NONE) return false;
    keel_frame_t few[32];
    keel_frame_t *frames = few;
    void *many = NULL;
    keel_str_t name = {"", 0};
    uint32_t shown = sizeof few / sizeof *few;
    uint32_t count = keel_program_frames(p->program, location, few, shown, &name);
    if (count > shown) {
        keel_status_t status = keel_realloc_array(count, sizeof *frames, &many);
        if (status) {
            keel_status_ignore(status);
            p->out->failed = true;
            return false;
        }
        frames = many;
        keel_program_frames(p->program, location, frames, count, &name);
    }
    if (count || name.size) {
        text(p, "\"location_name\":");
        quoted(p, name);
        text(p, ",\"locations\":[");
        for (uint32_t i = 0; i < count && !keel_print_full(p); ++i) {
            if (i) text(p, ",");
            frame_json(p, &frames[i]);
        }
        text(p, "]");
    }
    keel_free(many);
    return count || name.size;
}

// ---- any ---------------------------------------------------------------------------------------

static void body(keel_printer_t *p, keel_attr_id_t id) {
    const keel_attr_t *a = keel_program_attr(p->program, id);
    switch (a->kind) {
        case KEEL_ATTR_NONE:
            text(p, "null");
            return;
        case KEEL_ATTR_UNIT:
            text(p, "{\"unit\":true}");
            return;
        case KEEL_ATTR_BOOL:
            text(p, a->a ? "true" : "false");
            return;
        case KEEL_ATTR_INT:
            integer(p, a);
            return;
        case KEEL_ATTR_WIDE_INT:
            wide(p, a);
            return;
        case KEEL_ATTR_FLOAT:
            number(p, a);
            return;
        case KEEL_ATTR_STRING:
            string(p, a);
            return;
        case KEEL_ATTR_TYPE:
            text(p, "{\"type\":");
            quoted_type(p, a->a);
            text(p, "}");
            return;
        case KEEL_ATTR_ENUM:
            enumeration(p, a);
            return;
        case KEEL_ATTR_ARRAY:
            list(p, a->b);
            return;
        case KEEL_ATTR_DICT:
            dictionary(p, id);
            return;
        case KEEL_ATTR_INTS:
            ints(p, a);
            return;
        case KEEL_ATTR_SYMBOL:
            symbol(p, a);
            return;
        case KEEL_ATTR_TENSOR:
            tensor(p, a);
            return;
        case KEEL_ATTR_DENSE_ARRAY:
            array(p, a);
            return;
        case KEEL_ATTR_STRINGS:
            strings(p, a);
            return;
        case KEEL_ATTR_SPARSE:
            sparse(p, a);
            return;
        case KEEL_ATTR_DISTINCT:
            text(p, "{\"distinct\":");
            keel_print_value_json(p, a->a);
            text(p, "}");
            return;
        case KEEL_ATTR_BYTES:
            opaque(p, a);
            return;
        default:
            text(p, "{\"location\":{");
            keel_print_location_json(p, id);
            text(p, "}}");
    }
}

void keel_print_value_json(keel_printer_t *p, keel_attr_id_t attribute) {
    if (attribute >= p->program->attrs.count) {
        text(p, "null");
        return;
    }
    if (!keel_print_open(p)) return;
    body(p, attribute);
    keel_print_close(p);
}
