// The signature of a program as lines: what it takes and what it gives.
#include "read/print.h"
#include "report/html_part.h"

enum { ARGUMENTS = 2000 };

// "f32[8,512]", as differences have it.
static void type_text(const keel_program_t *p, keel_type_id_t id, keel_buffer_t *out) {
    const keel_type_t *type = id < p->types.count ? &p->types.data[id] : NULL;
    if (!type || type->kind != KEEL_TYPE_TENSOR) {
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

static keel_attr_id_t entry_of(const keel_program_t *p, keel_attr_id_t array, uint32_t index) {
    if (array == KEEL_NONE || p->attrs.data[array].kind != KEEL_ATTR_ARRAY) return KEEL_NONE;
    keel_list_t items = keel_program_list(p, p->attrs.data[array].b);
    return index < items.count ? items.items[index] : KEEL_NONE;
}

static void attributes_text(const keel_program_t *p, keel_attr_id_t array, uint32_t index,
                            keel_buffer_t *out) {
    keel_attr_id_t own = entry_of(p, array, index);
    if (own == KEEL_NONE || p->attrs.data[own].kind != KEEL_ATTR_DICT) return;
    if (!keel_program_list(p, p->attrs.data[own].b).count) return;
    keel_buffer_byte(out, ' ');
    keel_print_attribute(p, own, KEEL_HTML_LARGEST_VALUE, out);
}

static keel_type_id_t type_of(const keel_program_t *p, keel_value_id_t value) {
    return value < p->value_types.count ? p->value_types.data[value] : KEEL_NONE;
}

// The client's own path where it is told, else the argument's number.
static keel_str_t argument_name(const keel_program_t *p, const keel_block_t *block, uint32_t i) {
    keel_str_t name = {"", 0};
    keel_frame_t frame;
    if (block->argument_locations == KEEL_NONE) return name;
    keel_attr_id_t where = p->pool.data[block->argument_locations + i];
    if (where == KEEL_NONE || keel_program_frames(p, where, &frame, 1, &name))
        return (keel_str_t){"", 0};
    return name;
}

static keel_status_t argument_line(keel_html_side_t *side, const keel_function_t *f,
                                   const keel_block_t *block, uint32_t i, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    keel_str_t name = argument_name(p, block, i);
    if (name.size)
        keel_buffer_str(text, name);
    else
        keel_buffer_format(text, "argument %u", i);
    keel_html_line_t line = {.kind = keel_html_look(keel_bytes_str(keel_buffer_bytes(text)))};
    keel_buffer_text(text, ": ");
    type_text(p, type_of(p, block->first_argument + i), text);
    attributes_text(p, f->argument_attributes, i, text);
    return keel_html_end_line(side, text, line);
}

static keel_status_t result_lines(keel_html_side_t *side, const keel_function_t *f,
                                  keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    if (f->type == KEEL_NONE) return NULL;
    keel_list_t types = keel_program_list(p, p->types.data[f->type].c);
    for (uint32_t i = 0; i < types.count && i < ARGUMENTS; ++i) {
        keel_buffer_format(text, "result %u", i);
        keel_html_line_t line = {.kind = keel_html_look(keel_bytes_str(keel_buffer_bytes(text)))};
        keel_buffer_text(text, ": ");
        type_text(p, types.items[i], text);
        attributes_text(p, f->result_attributes, i, text);
        KEEL_TRY(keel_html_end_line(side, text, line));
    }
    return NULL;
}

// HLO: a computation's parameters are operations.
static keel_status_t parameter_lines(keel_html_side_t *side, const keel_function_t *f,
                                     keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    uint32_t first = 0, end = 0;
    keel_html_range(p, f, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_str_is(keel_program_str(p, keel_program_op_name(p, op)->name), "parameter"))
            continue;
        keel_print_operation(p, op, f->first_value, KEEL_HTML_LARGEST_VALUE, text);
        KEEL_TRY(keel_html_end_line(side, text, (keel_html_line_t){.kind = 1}));
    }
    return NULL;
}

keel_status_t keel_html_signature(keel_html_side_t *side, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    KEEL_TRY(keel_html_begin(side, 2 * ARGUMENTS));
    if (p->entry >= p->functions.count) return NULL;
    const keel_function_t *f = &p->functions.data[p->entry];
    if (f->region >= p->regions.count || !p->regions.data[f->region].block_count) return NULL;
    if (p->format == KEEL_FORMAT_HLO) return parameter_lines(side, f, text);
    const keel_block_t *block = &p->blocks.data[p->regions.data[f->region].first_block];
    for (uint32_t i = 0; i < block->argument_count && i < ARGUMENTS; ++i)
        KEEL_TRY(argument_line(side, f, block, i, text));
    return result_lines(side, f, text);
}
