// The signature of a program as lines: its arguments and results.
#include "page/part.h"
#include "read/print.h"

enum { ARGUMENTS = 2000 };

// "f32[8,512]", as differences have it.
static void type_text(const keel_program_t *p, keel_type_id_t id, keel_buffer_t *out) {
    const keel_type_t *type = keel_program_type(p, id);
    if (type->kind != KEEL_TYPE_TENSOR) {
        keel_print_type(p, id, out);
        return;
    }
    keel_print_type(p, type->a, out);
    keel_ints_t sizes = keel_program_ints(p, type->b);
    keel_buffer_byte(out, '[');
    for (uint32_t i = 0; i < sizes.count; ++i) {
        keel_buffer_text(out, i ? "," : "");
        if (sizes.items[i] == KEEL_DYNAMIC)
            keel_buffer_byte(out, '?');
        else
            keel_buffer_format(out, "%lld", (long long)sizes.items[i]);
    }
    keel_buffer_byte(out, ']');
}

// The dictionary of an argument or a result.
static keel_list_t attributes_of(const keel_program_t *p, keel_attr_id_t array, uint32_t index) {
    keel_list_t items = keel_program_array(p, array);
    return keel_program_entries(p, index < items.count ? items.items[index] : KEEL_NONE);
}

static bool is_name_of_result(keel_str_t name) {
    return keel_str_is(name, "jax.result_info");
}

// " donated, mhlo.sharding = ...". Leaves out which result reuses a donated argument's memory:
// these numbers shift if an argument is added.
static void attributes_text(const keel_program_t *p, keel_list_t pairs, keel_buffer_t *out) {
    bool any = false;
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        keel_str_t name = keel_program_str(p, pairs.items[i]);
        if (is_name_of_result(name)) continue;
        keel_buffer_text(out, any ? ", " : " ");
        any = true;
        if (keel_str_is(name, "tf.aliasing_output") || keel_str_is(name, "jax.buffer_donor")) {
            keel_buffer_text(out, "donated");
            continue;
        }
        keel_buffer_str(out, name);
        keel_buffer_text(out, " = ");
        keel_print_attribute(p, pairs.items[i + 1], KEEL_PAGE_LARGEST_VALUE, out);
    }
}

// Named by the client's path if it is known, otherwise by its number.
static keel_status_t argument_line(keel_page_side_t *side, const keel_function_t *f,
                                   const keel_block_t *block, uint32_t i, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    keel_str_t name = keel_program_argument_name(p, block, i);
    if (name.size)
        keel_buffer_str(text, name);
    else
        keel_buffer_format(text, "argument %u", i);
    keel_page_line_t line = {.kind = keel_quick_hash(keel_buffer_bytes(text))};
    keel_buffer_text(text, ": ");
    type_text(p, keel_program_value_type(p, block->first_argument + i), text);
    attributes_text(p, attributes_of(p, f->argument_attributes, i), text);
    return keel_page_end_line(side, text, line);
}

// The client's path of a result if it is known, otherwise the result's number.
static void result_name(const keel_program_t *p, keel_list_t pairs, uint32_t index,
                        keel_buffer_t *out) {
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        const keel_attr_t *a = keel_program_attr(p, pairs.items[i + 1]);
        if (!is_name_of_result(keel_program_str(p, pairs.items[i])) || a->kind != KEEL_ATTR_STRING)
            continue;
        keel_str_t name = keel_program_str(p, a->a);
        if (!name.size) break;
        keel_buffer_str(out, name);
        return;
    }
    keel_buffer_format(out, "result %u", index);
}

static keel_status_t result_lines(keel_page_side_t *side, const keel_function_t *f,
                                  keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    if (f->type == KEEL_NONE) return NULL;
    keel_list_t types = keel_program_list(p, keel_program_type(p, f->type)->c);
    for (uint32_t i = 0; i < types.count && i < ARGUMENTS; ++i) {
        keel_list_t pairs = attributes_of(p, f->result_attributes, i);
        result_name(p, pairs, i, text);
        keel_page_line_t line = {.kind = keel_quick_hash(keel_buffer_bytes(text))};
        keel_buffer_text(text, ": ");
        type_text(p, types.items[i], text);
        attributes_text(p, pairs, text);
        KEEL_TRY(keel_page_end_line(side, text, line));
    }
    return NULL;
}

// HLO: a computation's parameters are operations.
static keel_status_t parameter_lines(keel_page_side_t *side, const keel_function_t *f,
                                     keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    uint32_t first = 0, end = 0;
    keel_page_range(p, f, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_str_is(keel_program_str(p, keel_program_op_name(p, op)->name), "parameter"))
            continue;
        keel_print_operation(p, op, f->first_value, KEEL_PAGE_LARGEST_VALUE, text);
        KEEL_TRY(keel_page_end_line(side, text, (keel_page_line_t){.kind = 1}));
    }
    return NULL;
}

keel_status_t keel_page_signature(keel_page_side_t *side, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    KEEL_TRY(keel_page_begin(side, 2 * ARGUMENTS));
    const keel_block_t *block = keel_program_body(p, p->entry);
    if (!block) return NULL;
    const keel_function_t *f = &p->functions.data[p->entry];
    if (p->format == KEEL_FORMAT_HLO) return parameter_lines(side, f, text);
    for (uint32_t i = 0; i < block->argument_count && i < ARGUMENTS; ++i)
        KEEL_TRY(argument_line(side, f, block, i, text));
    return result_lines(side, f, text);
}
