#include "read/print_value.h"

#include "read/print_number.h"

// How many elements of a cut constant are shown.
enum { SHORTENED = 3 };

keel_type_id_t keel_print_element_type(const keel_program_t *program, keel_type_id_t type) {
    if (type >= program->types.count) return type;
    switch (keel_program_type(program, type)->kind) {
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_UNRANKED_TENSOR:
        case KEEL_TYPE_BUFFER:
            return keel_program_type(program, type)->a;
        default:
            return type;
    }
}

static uint64_t load_number(const uint8_t *bytes, uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size && i < 8; ++i)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static void scalar(keel_printer_t *p, const keel_type_t *type, const uint8_t *bytes,
                   uint32_t size) {
    uint64_t bits = load_number(bytes, size);
    if (type->kind == KEEL_TYPE_FLOAT && size <= 8 && keel_print_float(type->a, bits, p->out))
        return;
    if (type->kind == KEEL_TYPE_INDEX) {
        keel_print_integer(bits, 64, true, p->out);
    } else if (type->kind == KEEL_TYPE_INTEGER && type->a && type->a <= 64) {
        keel_print_integer(bits, type->a, type->aux != KEEL_UNSIGNED, p->out);
    } else {
        keel_printer_text(p, "0x");
        keel_buffer_hex(p->out, keel_bytes(bytes, size));
    }
}

void keel_print_element(keel_printer_t *p, keel_type_id_t type, const keel_tensor_view_t *tensor,
                        uint64_t at) {
    if (tensor->is_bool) {
        keel_printer_text(p, keel_tensor_bool(tensor, at) ? "true" : "false");
        return;
    }
    const keel_type_t *t = keel_program_type(p->program, type);
    const uint8_t *bytes =
        tensor->bytes.data + (tensor->is_splat ? 0 : at * (uint64_t)tensor->element_size);
    if (t->kind != KEEL_TYPE_COMPLEX) {
        scalar(p, t, bytes, tensor->element_size);
        return;
    }
    uint32_t half = tensor->element_size / 2;
    keel_printer_text(p, "(");
    scalar(p, keel_program_type(p->program, t->a), bytes, half);
    keel_printer_text(p, ",");
    scalar(p, keel_program_type(p->program, t->a), bytes + half, half);
    keel_printer_text(p, ")");
}

// A whole constant with a bracket for each dimension. The brackets that open before an element are
// those of the dimensions in which it is the first.
static void nested(keel_printer_t *p, keel_type_id_t element, keel_ints_t sizes,
                   const keel_tensor_view_t *tensor) {
    for (uint64_t at = 0; at < tensor->count; ++at) {
        uint32_t opened = 0, closed = 0;
        uint64_t stride = 1;
        for (uint32_t d = sizes.count; d-- > 0;) {
            stride *= (uint64_t)sizes.items[d];
            if (!stride) break;
            opened += at % stride == 0;
            closed += (at + 1) % stride == 0;
        }
        if (at) keel_printer_text(p, ", ");
        while (opened--)
            keel_printer_text(p, "[");
        keel_print_element(p, element, tensor, at);
        while (closed--)
            keel_printer_text(p, "]");
    }
}

static void elements(keel_printer_t *p, keel_type_id_t type, const keel_tensor_view_t *tensor) {
    keel_type_id_t element = keel_print_element_type(p->program, type);
    if (!tensor->count) {
        keel_printer_text(p, "[]");
    } else if (tensor->is_splat) {
        keel_print_element(p, element, tensor, 0);
    } else if (tensor->count <= p->largest) {
        keel_ints_t sizes = {NULL, 0};
        if (element != type)
            sizes = keel_program_ints(p->program, keel_program_type(p->program, type)->b);
        nested(p, element, sizes, tensor);
    } else {
        keel_printer_text(p, "[");
        for (uint64_t at = 0; at < SHORTENED && at < p->largest; ++at) {
            keel_print_element(p, element, tensor, at);
            keel_printer_text(p, ", ");
        }
        keel_printer_text(p, "...]");
    }
}

// StableHLO's short form for lists of dimensions: [1, 0].
static bool is_dimension_list(const keel_program_t *program, keel_type_id_t type) {
    const keel_type_t *t = keel_program_type(program, type);
    if (t->kind != KEEL_TYPE_TENSOR || keel_program_ints(program, t->b).count != 1) return false;
    const keel_type_t *element = keel_program_type(program, t->a);
    return element->kind == KEEL_TYPE_INDEX ||
           (element->kind == KEEL_TYPE_INTEGER && (element->a == 64 || element->a == 1));
}

void keel_print_tensor_text(keel_printer_t *p, const keel_attr_t *a, bool brief) {
    keel_tensor_view_t view;
    keel_status_t status =
        keel_program_tensor(p->program, a->a, p->program->blobs.data[a->b], &view);
    bool is_short = brief && !status && view.count <= p->largest && !view.is_splat &&
                    is_dimension_list(p->program, a->a);
    if (!is_short) keel_printer_text(p, "dense<");
    if (status)
        keel_printer_text(p, "damaged");
    else
        elements(p, a->a, &view);
    keel_status_ignore(status);
    if (is_short) return;
    keel_printer_text(p, "> : ");
    keel_print_value_type(p, a->a);
}

keel_tensor_view_t keel_print_array_view(const keel_program_t *program, const keel_attr_t *array) {
    static const uint16_t widths[] = {
#define WIDTH(name, words, bits) bits,
        KEEL_FLOATS(WIDTH)
#undef WIDTH
    };
    const keel_type_t *type = keel_program_type(program, array->a);
    keel_bytes_t blob = program->blobs.data[array->b];
    uint32_t width = 64;
    if (type->kind == KEEL_TYPE_INTEGER && type->a) width = type->a;
    if (type->kind == KEEL_TYPE_FLOAT && type->a < KEEL_FLOAT_COUNT) width = widths[type->a];
    uint32_t size = width / 8 + (width % 8 != 0);
    return (keel_tensor_view_t){
        .bytes = blob,
        .count = blob.size / size,
        .element_size = size,
        .is_bool = type->kind == KEEL_TYPE_INTEGER && width == 1,
    };
}

void keel_print_array_text(keel_printer_t *p, const keel_attr_t *a) {
    keel_tensor_view_t view = keel_print_array_view(p->program, a);
    keel_printer_text(p, "array<");
    keel_print_value_type(p, a->a);
    for (uint64_t at = 0; at < view.count; ++at) {
        keel_printer_text(p, at ? ", " : ": ");
        if (at >= p->largest) {
            keel_printer_text(p, "...");
            break;
        }
        keel_print_element(p, a->a, &view, at);
    }
    keel_printer_text(p, ">");
}
