// The lines of one side of a view: operations around one, and where its values come from.
#include "page/part.h"
#include "read/print.h"

enum {
    SOURCES = KEEL_PAGE_SOURCES_SHOWN,
    SOURCE_DEPTH = 3, // how far values are followed
    LONGEST = 400,    // bytes of a line
};

keel_status_t keel_page_begin(keel_page_side_t *side, size_t capacity) {
    void *memory;
    KEEL_TRY(keel_arena_array(side->arena, capacity + 1, sizeof(keel_page_line_t), &memory));
    side->lines = (keel_page_lines_t){memory, 0};
    side->capacity = capacity;
    return NULL;
}

keel_status_t keel_page_end_line(keel_page_side_t *side, keel_buffer_t *text,
                                 keel_page_line_t line) {
    KEEL_TRY(keel_buffer_status(text));
    keel_str_t whole = keel_bytes_str(keel_buffer_bytes(text));
    if (whole.size > LONGEST) {
        size_t most = LONGEST;
        while (most && ((uint8_t)whole.data[most] & 0xc0) == 0x80)
            --most;
        text->size = most;
        keel_buffer_text(text, "...");
        KEEL_TRY(keel_buffer_status(text));
        whole = keel_bytes_str(keel_buffer_bytes(text));
    }
    KEEL_TRY(keel_arena_str(side->arena, whole, &line.text));
    if (side->lines.count < side->capacity) side->lines.items[side->lines.count++] = line;
    text->size = 0;
    return NULL;
}

bool keel_page_range(const keel_program_t *p, const keel_function_t *f, uint32_t *first,
                     uint32_t *end) {
    if (f->region >= p->regions.count) return false;
    const keel_region_t *region = &p->regions.data[f->region];
    if (!region->block_count) return false;
    *first = p->blocks.data[region->first_block].first_op;
    *end = region->end;
    return *first < *end && *end <= keel_program_op_count(p);
}

const keel_function_t *keel_page_function(const keel_program_t *p, keel_op_id_t op) {
    for (uint32_t i = 0; i < p->functions.count; ++i) {
        uint32_t first, end;
        if (keel_page_range(p, &p->functions.data[i], &first, &end) && op >= first && op < end)
            return &p->functions.data[i];
    }
    return NULL;
}

// How many regions of its function an operation is nested in.
static unsigned depth_of(const keel_program_t *p, const keel_function_t *f, keel_op_id_t op) {
    unsigned depth = 0;
    for (uint32_t i = 0; i < p->regions.count; ++i) {
        const keel_region_t *region = &p->regions.data[i];
        if (i == f->region || !region->block_count || region->parent == f->operation) continue;
        if (p->blocks.data[region->first_block].first_op <= op && op < region->end) ++depth;
    }
    return depth;
}

static uint64_t rank_of(const keel_program_t *p, keel_value_id_t value) {
    if (value >= p->value_types.count || p->value_types.data[value] >= p->types.count) return 0;
    const keel_type_t *type = keel_program_type(p, p->value_types.data[value]);
    return type->kind == KEEL_TYPE_TENSOR ? 1 + keel_program_ints(p, type->b).count : 0;
}

// A hash of a constant's elements, up to a limit; 0 if it is not a constant.
static uint64_t value_of(const keel_program_t *p, keel_op_id_t op) {
    const char *name = p->format == KEEL_FORMAT_HLO ? "literal" : "value";
    keel_attr_id_t held = keel_program_dict_find(p, p->operations.data[op].attributes, name);
    if (keel_program_attr(p, held)->kind != KEEL_ATTR_TENSOR) return 0;
    keel_str_t bytes = keel_bytes_str(p->blobs.data[keel_program_attr(p, held)->b]);
    if (bytes.size > 64) bytes.size = 64;
    return keel_quick_hash(keel_str_bytes(bytes));
}

uint64_t keel_page_operation_kind(const keel_program_t *p, keel_op_id_t op) {
    const keel_operation_t *o = &p->operations.data[op];
    uint64_t kind =
        keel_quick_hash(keel_str_bytes(keel_program_str(p, keel_program_op_name(p, op)->name)));
    if (o->result_count) kind += rank_of(p, o->first_result);
    return kind + 31 * value_of(p, op);
}

static keel_status_t operation_line(keel_page_side_t *side, const keel_function_t *f,
                                    keel_op_id_t op, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    const keel_operation_t *o = &p->operations.data[op];
    unsigned depth = depth_of(p, f, op);
    keel_buffer_format(text, "%*s", depth < 20 ? (int)(2 * depth) : 40, "");
    keel_print_operation(p, op, f->first_value, KEEL_PAGE_LARGEST_VALUE, text);
    return keel_page_end_line(side, text,
                              (keel_page_line_t){.kind = keel_page_operation_kind(p, op),
                                                 .first_value = o->first_result - f->first_value,
                                                 .value_count = o->result_count,
                                                 .is_told = op == side->told});
}

// The operation of the function that defines a value; KEEL_NONE for an argument.
static keel_op_id_t source_of(const keel_program_t *p, keel_op_id_t first, keel_op_id_t before,
                              keel_value_id_t value) {
    for (keel_op_id_t op = before; op-- > first;) {
        const keel_operation_t *o = &p->operations.data[op];
        if (value >= o->first_result && value - o->first_result < o->result_count) return op;
    }
    return KEEL_NONE;
}

// True if it only gives a value another shape or dtype.
static bool passes_on(const keel_program_t *p, keel_op_id_t op) {
    static const char *const names[] = {"broadcast_in_dim", "broadcast", "convert", "reshape"};
    keel_str_t name = keel_program_str(p, keel_program_op_name(p, op)->name);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_is(name, names[i])) return keel_program_operands(p, op).count == 1;
    return false;
}

static void add_source(keel_page_side_t *side, keel_op_id_t op) {
    uint32_t at = 0;
    while (at < side->source_count && side->sources[at] < op)
        ++at;
    if (side->source_count == SOURCES || (at < side->source_count && side->sources[at] == op))
        return;
    memmove(&side->sources[at + 1], &side->sources[at],
            (side->source_count - at) * sizeof *side->sources);
    side->sources[at] = op;
    ++side->source_count;
}

// A constant that differs is often far before the operation that uses it.
void keel_page_find_sources(keel_page_side_t *side, const keel_function_t *f) {
    const keel_program_t *p = side->program;
    uint32_t first, end;
    if (side->told == KEEL_NONE || !keel_page_range(p, f, &first, &end)) return;
    keel_list_t operands = keel_program_operands(p, side->told);
    for (uint32_t i = 0; i < operands.count && i < SOURCES; ++i) {
        keel_op_id_t op = side->told;
        keel_value_id_t value = operands.items[i];
        for (int depth = 0; depth < SOURCE_DEPTH; ++depth) {
            op = source_of(p, first, op, value);
            if (op == KEEL_NONE) break;
            if (op < side->first) add_source(side, op);
            if (!passes_on(p, op)) break;
            value = keel_program_operands(p, op).items[0];
        }
    }
}

keel_status_t keel_page_operations(keel_page_side_t *side, const keel_function_t *f,
                                   keel_buffer_t *text) {
    KEEL_TRY(keel_page_begin(side, side->end - side->first + side->source_count));
    for (uint32_t i = 0; i < side->source_count; ++i)
        KEEL_TRY(operation_line(side, f, side->sources[i], text));
    for (keel_op_id_t op = side->first; op < side->end; ++op)
        KEEL_TRY(operation_line(side, f, op, text));
    return NULL;
}
