#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "explain/diff.h"
#include "read/print.h"

// Longer values are cut.
enum { VALUE_SIZE = 160 };

static const char *cut(keel_diff_t *diff, keel_buffer_t *buffer) {
    diff->lacks_memory = diff->lacks_memory || buffer->failed;
    int size = (int)(buffer->size < VALUE_SIZE ? buffer->size : VALUE_SIZE);
    const char *text = keel_diff_text(diff, "%.*s%s", size, keel_buffer_cstr(buffer),
                                      buffer->size > VALUE_SIZE ? "..." : "");
    keel_buffer_deinitialize(buffer);
    return text;
}

keel_ints_t keel_diff_dims(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    if (type->kind != KEEL_TYPE_TENSOR && type->kind != KEEL_TYPE_BUFFER)
        return (keel_ints_t){NULL, 0};
    return keel_program_ints(program, type->b);
}

static bool has_dims(const keel_program_t *program, keel_type_id_t type) {
    return keel_program_type(program, type)->kind == KEEL_TYPE_TENSOR ||
           keel_program_type(program, type)->kind == KEEL_TYPE_BUFFER;
}

uint64_t keel_diff_element_hash(keel_graph_t *graph, keel_type_id_t type) {
    bool is_tensor = has_dims(graph->program, type);
    return keel_graph_type_hash(graph,
                                is_tensor ? keel_program_type(graph->program, type)->a : type);
}

const char *keel_diff_type(keel_diff_t *diff, const keel_program_t *program, keel_type_id_t type) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_print_short_type(program, type, &buffer);
    return cut(diff, &buffer);
}

static const keel_type_t *element_type(const keel_program_t *program, keel_type_id_t type) {
    const keel_type_t *found = keel_program_type(program, type);
    return has_dims(program, type) ? keel_program_type(program, found->a) : found;
}

// "HIGHEST" for [HIGHEST, HIGHEST], as the precision of a product's operands usually is. HLO has
// them in a message, by name.
static const char *common_name(keel_diff_t *diff, const keel_program_t *program,
                               keel_attr_id_t attr) {
    keel_attr_id_t operands = keel_program_dict_find(program, attr, "operand_precision");
    if (operands != KEEL_NONE) attr = operands;
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind != KEEL_ATTR_ARRAY) return NULL;
    keel_list_t items = keel_program_list(program, contents->b);
    for (uint32_t i = 0; i < items.count; ++i) {
        const keel_attr_t *item = keel_program_attr(program, items.items[i]);
        const keel_attr_t *first = keel_program_attr(program, items.items[0]);
        bool is_name = item->kind == KEEL_ATTR_ENUM || item->kind == KEEL_ATTR_STRING;
        if (!is_name || item->kind != first->kind || item->a != first->a ||
            item->klass != first->klass)
            return NULL;
    }
    if (!items.count) return NULL;
    const keel_attr_t *first = keel_program_attr(program, items.items[0]);
    if (first->kind == KEEL_ATTR_ENUM) return keel_enum_name(first->klass, first->a);
    keel_str_t text = operands == KEEL_NONE ? KEEL_STR("") : keel_program_str(program, first->a);
    return text.size ? keel_diff_text(diff, "%.*s", (int)text.size, text.data) : NULL;
}

// The beginning of what is no text.
static void print_bytes(keel_str_t bytes, keel_buffer_t *out) {
    enum { SHOWN = 16 };
    keel_buffer_format(out, "%zu bytes", bytes.size);
    for (size_t i = 0; i < bytes.size && i < SHOWN; ++i)
        keel_buffer_format(out, "%s%02x", i ? "" : " ", (unsigned char)bytes.data[i]);
    if (bytes.size > SHOWN) keel_buffer_text(out, "...");
}

static bool is_text(keel_str_t text) {
    for (size_t at = 0, size; at < text.size; at += size) {
        unsigned char c = (unsigned char)text.data[at];
        bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
        if (is_control || !(size = keel_utf8_length(text, at))) return false;
    }
    return true;
}

// "[1, 2]" for a short list of whole numbers that is kept as a tensor.
static bool print_numbers(const keel_program_t *program, keel_attr_id_t attr, keel_buffer_t *out) {
    enum { SHOWN = 16 };
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind != KEEL_ATTR_TENSOR) return false;
    keel_tensor_view_t tensor;
    keel_status_t status =
        keel_program_tensor(program, contents->a, program->blobs.data[contents->b], &tensor);
    bool is_list = !status && element_type(program, contents->a)->kind == KEEL_TYPE_INTEGER &&
                   keel_diff_dims(program, contents->a).count == 1 && tensor.count <= SHOWN;
    keel_status_ignore(status);
    for (uint64_t i = 0; is_list && i < tensor.count; ++i) {
        double value;
        if (!keel_diff_number(program, contents->a, &tensor, i, &value)) return false;
        keel_buffer_format(out, "%s%.0f", i ? ", " : "[", value);
    }
    if (is_list) keel_buffer_text(out, tensor.count ? "]" : "[]");
    return is_list;
}

const char *keel_diff_attr(keel_diff_t *diff, const keel_program_t *program, keel_attr_id_t attr) {
    if (attr == KEEL_NONE) return "unset";
    const char *name = common_name(diff, program, attr);
    if (name) return name;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind == KEEL_ATTR_STRING) {
        keel_str_t text = keel_program_str(program, contents->a);
        bool is_readable = is_text(text);
        if (text.size > VALUE_SIZE) text.size = VALUE_SIZE + 1; // so that the cut shows
        if (is_readable) keel_buffer_str(&buffer, text);
        if (!is_readable) print_bytes(keel_program_str(program, contents->a), &buffer);
    } else if (!keel_print_sharding(program, attr, false, &buffer) &&
               !print_numbers(program, attr, &buffer))
        keel_print_attribute(program, attr, 16, &buffer);
    return cut(diff, &buffer);
}

// ---- elements ----------------------------------------------------------------------------------

// The bits of an element from byte `from` of it on, 8 bytes of them at most.
static uint64_t bits_from(const keel_tensor_view_t *tensor, uint64_t at, uint32_t from,
                          uint32_t size) {
    if (tensor->is_splat) at = 0;
    uint64_t bits = 0;
    if (from > tensor->element_size || (at + 1) * tensor->element_size > tensor->bytes.size)
        return 0;
    uint32_t rest = tensor->element_size - from, most = size < 8 ? size : 8;
    memcpy(&bits, tensor->bytes.data + at * tensor->element_size + from, rest < most ? rest : most);
    return bits;
}

static uint64_t bits_at(const keel_tensor_view_t *tensor, uint64_t at) {
    return bits_from(tensor, at, 0, tensor->element_size);
}

// Exponent and mantissa bits of an IEEE-like format.
static double small_float(uint64_t bits, unsigned exponent_bits, unsigned mantissa_bits) {
    uint64_t mantissa = bits & (((uint64_t)1 << mantissa_bits) - 1);
    int exponent = (int)((bits >> mantissa_bits) & (((uint64_t)1 << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    bool is_negative = bits >> (exponent_bits + mantissa_bits) & 1;
    double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = mantissa ? NAN : INFINITY;
    else if (!exponent)
        value = ldexp((double)mantissa, 1 - bias - (int)mantissa_bits);
    else
        value = ldexp((double)(mantissa | (uint64_t)1 << mantissa_bits),
                      exponent - bias - (int)mantissa_bits);
    return is_negative ? -value : value;
}

static bool read_float(const keel_type_t *type, uint64_t bits, double *out) {
    if (type->kind != KEEL_TYPE_FLOAT) return false;
    float single;
    uint32_t low = (uint32_t)bits;
    switch (type->a) {
        case KEEL_FLOAT_F64:
            memcpy(out, &bits, sizeof *out);
            return true;
        case KEEL_FLOAT_F32:
            memcpy(&single, &low, sizeof single);
            *out = (double)single;
            return true;
        case KEEL_FLOAT_BF16:
            *out = small_float(bits, 8, 7);
            return true;
        case KEEL_FLOAT_F16:
            *out = small_float(bits, 5, 10);
            return true;
        case KEEL_FLOAT_F8E5M2:
            *out = small_float(bits, 5, 2);
            return true;
        default:
            return false;
    }
}

// Both parts of a complex element.
static bool read_complex(const keel_program_t *program, const keel_type_t *element,
                         const keel_tensor_view_t *tensor, uint64_t at, double out[2]) {
    if (element->kind != KEEL_TYPE_COMPLEX) return false;
    const keel_type_t *part = keel_program_type(program, element->a);
    uint32_t size = tensor->element_size / 2;
    return read_float(part, bits_from(tensor, at, 0, size), &out[0]) &&
           read_float(part, bits_from(tensor, at, size, size), &out[1]);
}

bool keel_diff_number(const keel_program_t *program, keel_type_id_t type,
                      const keel_tensor_view_t *tensor, uint64_t at, double *out) {
    const keel_type_t *element = element_type(program, type);
    if (tensor->is_bool) {
        *out = keel_tensor_bool(tensor, tensor->is_splat ? 0 : at);
        return true;
    }
    uint64_t bits = bits_at(tensor, at);
    if (element->kind == KEEL_TYPE_INTEGER) {
        unsigned width = tensor->element_size * 8;
        bool is_negative = element->aux != KEEL_UNSIGNED && width < 64 && bits >> (width - 1) & 1;
        if (is_negative) bits |= ~(uint64_t)0 << width;
        *out = element->aux == KEEL_UNSIGNED ? (double)bits : (double)(int64_t)bits;
        return tensor->element_size <= 8;
    }
    double parts[2];
    if (element->kind != KEEL_TYPE_COMPLEX) return read_float(element, bits, out);
    if (!read_complex(program, element, tensor, at, parts) || parts[1] != 0) return false;
    *out = parts[0];
    return true;
}

// Bits of the mantissa of a float type, as far as it is read; 52 for any other.
static int mantissa_bits(const keel_type_t *element) {
    switch (element->a) {
        case KEEL_FLOAT_F32:
            return 23;
        case KEEL_FLOAT_F16:
            return 10;
        case KEEL_FLOAT_BF16:
            return 7;
        case KEEL_FLOAT_F8E5M2:
            return 2;
        default:
            return 52;
    }
}

// True if both round to one value of that precision.
static bool rounds_to(double text, double value, int bits) {
    if (bits == 52) return text == value;
    int exponent;
    frexp(value, &exponent);
    return fabs(text - value) < ldexp(0.5, exponent - 1 - bits);
}

// The shortest decimal that reads back as the same value of that precision: "0.1", "20", "1e-08".
static const char *shortest(keel_diff_t *diff, double value, int bits) {
    enum { DIGITS = 17 };
    char text[400];
    int precision = 1;
    for (; precision < DIGITS; ++precision) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (rounds_to(strtod(text, NULL), value, bits)) break;
    }
    double size = fabs(value);
    if (size == 0) return signbit(value) ? "-0" : "0";
    snprintf(text, sizeof text, "%.*e", precision - 1, value);
    const char *exponent = strchr(text, 'e');
    int decimals = precision - 1 - (exponent ? (int)strtol(exponent + 1, NULL, 10) : 0);
    if (size < 1e-4 || size >= 1e9) return keel_diff_text(diff, "%.*g", precision, value);
    return keel_diff_text(diff, "%.*f", decimals < 0 ? 0 : decimals, value);
}

static const char *float_text(keel_diff_t *diff, double value, const keel_type_t *type) {
    if (isnan(value) || isinf(value)) return keel_diff_text(diff, "%g", value);
    return shortest(diff, value, mantissa_bits(type));
}

const char *keel_diff_element(keel_diff_t *diff, const keel_program_t *program, keel_type_id_t type,
                              const keel_tensor_view_t *tensor, uint64_t at) {
    const keel_type_t *element = element_type(program, type);
    const keel_type_t *part =
        element->kind == KEEL_TYPE_COMPLEX ? keel_program_type(program, element->a) : element;
    double value, parts[2];
    if (!keel_diff_number(program, type, tensor, at, &value)) {
        if (!read_complex(program, element, tensor, at, parts))
            return keel_diff_text(diff, "0x%" PRIx64, bits_at(tensor, at));
        const char *real = float_text(diff, parts[0], part);
        return keel_diff_text(diff, "%s%s%sj", real, signbit(parts[1]) ? "-" : "+",
                              float_text(diff, fabs(parts[1]), part));
    }
    if (tensor->is_bool) return value != 0 ? "true" : "false";
    if (element->kind == KEEL_TYPE_INTEGER && element->aux == KEEL_UNSIGNED)
        return keel_diff_text(diff, "%" PRIu64, bits_at(tensor, at));
    if (element->kind == KEEL_TYPE_INTEGER && tensor->element_size == 8)
        return keel_diff_text(diff, "%" PRId64, (int64_t)bits_at(tensor, at));
    if (element->kind == KEEL_TYPE_INTEGER) return keel_diff_text(diff, "%.0f", value);
    return float_text(diff, value, part);
}
