#include "read/print_value.h"

#include "read/print.h"
#include "read/print_number.h"

static void type_list(keel_printer_t *p, uint32_t list, const char *before, const char *after) {
    keel_list_t types = keel_program_list(p->program, list);
    keel_printer_text(p, before);
    for (uint32_t i = 0; i < types.count && !keel_print_full(p); ++i) {
        if (i) keel_printer_text(p, ", ");
        keel_print_value_type(p, types.items[i]);
    }
    keel_printer_text(p, after);
}

// minor_to_major of an HLO layout, and how many fields the layout has.
static keel_attr_id_t order_of(const keel_program_t *program, keel_attr_id_t layout,
                               uint32_t *out_fields) {
    const keel_attr_t *a = keel_program_attr(program, layout);
    if (a->kind != KEEL_ATTR_DICT || a->klass != KEEL_RECORD_HLO_MESSAGE) return KEEL_NONE;
    *out_fields = keel_program_list(program, a->b).count / 2;
    keel_attr_id_t order = keel_program_dict_find(program, layout, "minor_to_major");
    if (keel_program_attr(program, order)->kind != KEEL_ATTR_INTS) return KEEL_NONE;
    return order;
}

static bool is_row_major(keel_ints_t order) {
    for (uint32_t i = 0; i < order.count; ++i)
        if (order.items[i] != (int64_t)order.count - 1 - i) return false;
    return true;
}

void keel_print_layout(keel_printer_t *p, keel_attr_id_t layout) {
    if (layout == KEEL_NONE) return;
    uint32_t largest = p->largest, fields = UINT32_MAX;
    keel_attr_id_t order = order_of(p->program, layout, &fields);
    if (fields <= (order != KEEL_NONE)) {
        keel_ints_t numbers = keel_program_ints(
            p->program, fields ? keel_program_attr(p->program, order)->b : KEEL_NONE);
        if (!p->is_exact && is_row_major(numbers)) return;
        keel_printer_text(p, ", {");
        for (uint32_t i = 0; i < numbers.count; ++i)
            keel_buffer_format(p->out, "%s%lld", i ? "," : "", (long long)numbers.items[i]);
        keel_printer_text(p, "}");
        return;
    }
    keel_printer_text(p, ", ");
    p->largest = UINT32_MAX;
    keel_print_value_text(p, layout);
    p->largest = largest;
}

static void shape(keel_printer_t *p, const keel_type_t *type, const char *word) {
    keel_ints_t sizes = keel_program_ints(p->program, type->b);
    keel_printer_text(p, word);
    for (uint32_t i = 0; i < sizes.count; ++i) {
        if (sizes.items[i] == KEEL_DYNAMIC)
            keel_printer_text(p, "?x");
        else
            keel_buffer_format(p->out, "%lldx", (long long)sizes.items[i]);
    }
    keel_print_value_type(p, type->a);
    keel_print_layout(p, type->c);
    keel_printer_text(p, ">");
}

static void function_type(keel_printer_t *p, const keel_type_t *type) {
    type_list(p, type->b, "(", ") -> ");
    keel_list_t results = keel_program_list(p->program, type->c);
    bool alone = results.count == 1 &&
                 keel_program_type(p->program, results.items[0])->kind != KEEL_TYPE_FUNCTION;
    type_list(p, type->c, alone ? "" : "(", alone ? "" : ")");
}

static void quantized(keel_printer_t *p, const keel_type_t *type) {
    keel_printer_text(p, "!quant.uniform<");
    keel_print_value_type(p, type->a);
    keel_printer_text(p, ":");
    keel_print_value_type(p, type->b);
    keel_printer_text(p, ", ");
    keel_print_value_text(p, type->c);
    keel_printer_text(p, ">");
}

static void type_body(keel_printer_t *p, const keel_type_t *type) {
    static const char *const signs[] = {"i", "si", "ui"};
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
            keel_buffer_format(p->out, "%s%u", signs[type->aux % 3], type->a);
            return;
        case KEEL_TYPE_FLOAT:
            keel_printer_text(p, keel_print_float_name(type->a));
            return;
        case KEEL_TYPE_INDEX:
            keel_printer_text(p, "index");
            return;
        case KEEL_TYPE_NONE:
            keel_printer_text(p, "none");
            return;
        case KEEL_TYPE_TOKEN:
            keel_printer_text(p, "!token");
            return;
        case KEEL_TYPE_WITNESS:
            keel_printer_text(p, "!witness");
            return;
        case KEEL_TYPE_OPAQUE:
            keel_printer_text(p, "!opaque");
            return;
        case KEEL_TYPE_COMPLEX:
            keel_printer_text(p, "complex<");
            keel_print_value_type(p, type->a);
            keel_printer_text(p, ">");
            return;
        case KEEL_TYPE_TENSOR:
            shape(p, type, "tensor<");
            return;
        case KEEL_TYPE_UNRANKED_TENSOR:
            keel_printer_text(p, "tensor<*x");
            keel_print_value_type(p, type->a);
            keel_printer_text(p, ">");
            return;
        case KEEL_TYPE_BUFFER:
            shape(p, type, "memref<");
            return;
        case KEEL_TYPE_TUPLE:
            type_list(p, type->b, "tuple<", "");
            keel_print_layout(p, type->c);
            keel_printer_text(p, ">");
            return;
        case KEEL_TYPE_FUTURE:
            type_list(p, type->b, "!future<", ">");
            return;
        case KEEL_TYPE_FUNCTION:
            function_type(p, type);
            return;
        case KEEL_TYPE_QUANTIZED:
            quantized(p, type);
            return;
        default:
            keel_buffer_format(p->out, "!type%u", type->kind);
    }
}

void keel_print_value_type(keel_printer_t *p, keel_type_id_t type) {
    if (type >= p->program->types.count) {
        keel_printer_text(p, "none");
        return;
    }
    if (!keel_print_open(p)) return;
    type_body(p, keel_program_type(p->program, type));
    keel_print_close(p);
}

void keel_print_type(const keel_program_t *program, keel_type_id_t type, keel_buffer_t *out) {
    keel_printer_t printer = keel_printer(program, out, UINT32_MAX, KEEL_PRINT_LINE_LIMIT);
    keel_print_value_type(&printer, type);
}
