#include "read/mlir_functions.h"
#include "read/mlir_older.h"

// The operations. A stack of regions replaces recursion; it is as deep as a program may nest.
//
// In the file, the values of a region that is isolated from above are numbered from 0: first all
// values of the region itself, in order of definition, then those of each region inside, which all
// start from the same number. The program numbers all values in order of definition. So the
// difference between the two numbers changes only after an inner region: a region keeps the
// segments of equal shift, and for every 32nd number the segment that contains it.

enum { MARK_BITS = 5 };

enum mask {
    HAS_ATTRIBUTES = 0x01,
    HAS_RESULTS = 0x02,
    HAS_OPERANDS = 0x04,
    HAS_SUCCESSORS = 0x08,
    HAS_REGIONS = 0x10,
    HAS_USE_LISTS = 0x20,
    HAS_PROPERTIES = 0x40,
};

typedef struct segment_t {
    uint32_t start, shift;
} segment_t;

// An operand that names a value defined later.
typedef struct fixup_t {
    uint32_t operand, number, next;
} fixup_t;

typedef struct frame_t {
    // The block being read.
    uint32_t operations_left;
    uint32_t region; // KEEL_NONE: the module's
    // The values of its region: numbers from base to limit; those before next are defined.
    uint32_t base, next, limit;
    uint32_t shift, first_segment;
    uint32_t first_mark, next_mark; // index of base's mark; the number that is marked next
    uint32_t fixups;
    // The regions of the last operation that are not entered yet.
    uint32_t regions_left, next_region;
    bool are_isolated;
    const uint8_t *outer_end; // if they have a section of their own: the end of the one around it
} frame_t;

typedef struct ir_t {
    keel_mlir_t *m;
    keel_program_t *program;
    keel_cursor_t c;
    keel_mlir_merger_t merger;
    const uint8_t *end; // of all
    // What was announced and is still to come. Each item takes a minimum of bytes, so an impossible
    // count is detected before memory is allocated for it.
    uint64_t operations_owed, values_owed, regions_owed;
    KEEL_TABLE(segment_t) segments; // and an extra one at the end, which never begins
    KEEL_TABLE(uint32_t) marks;
    KEEL_TABLE(fixup_t) fixups;
    uint32_t depth;
    frame_t frames[KEEL_READ_REGION_DEPTH + 1];
} ir_t;

static keel_status_t damaged_ir(const ir_t *ir, const char *what) {
    return keel_status_make(KEEL_CORRUPT, "operation %u: %s", ir->program->operations.count, what);
}

// ---- values ------------------------------------------------------------------------------------

static keel_status_t push_segment(ir_t *ir, frame_t *f, uint32_t shift) {
    KEEL_TRY(keel_mlir_reserve(&ir->segments, 2));
    ir->segments.data[ir->segments.count++] = (segment_t){f->next, shift};
    ir->segments.data[ir->segments.count].start = UINT32_MAX;
    f->shift = shift;
    return NULL;
}

// The next `count` numbers of the region are the program's next values.
static inline keel_status_t define(ir_t *ir, frame_t *f, uint32_t count) {
    if (__builtin_expect(count > f->limit - f->next, 0))
        return damaged_ir(ir, "more values than its region announced");
    uint32_t shift = ir->program->value_types.count - f->next;
    if (__builtin_expect(shift != f->shift || ir->segments.count == f->first_segment, 0))
        KEEL_TRY(push_segment(ir, f, shift));
    f->next += count;
    while (f->next_mark < f->next) {
        ir->marks.data[f->first_mark + ((f->next_mark - f->base) >> MARK_BITS)] =
            ir->segments.count - 1;
        f->next_mark += 1u << MARK_BITS;
    }
    ir->values_owed -= count;
    return NULL;
}

static inline keel_value_id_t local_value(const ir_t *ir, const frame_t *f, uint32_t number) {
    uint32_t at = ir->marks.data[f->first_mark + ((number - f->base) >> MARK_BITS)];
    const segment_t *segment = &ir->segments.data[at];
    while (segment[1].start <= number)
        ++segment;
    return number + segment->shift;
}

// The region that contains a number. Those isolated from above start at 0.
static inline frame_t *frame_of(ir_t *ir, uint32_t number) {
    frame_t *f = &ir->frames[ir->depth];
    while (number < f->base)
        --f;
    return f;
}

static keel_status_t read_forward(ir_t *ir, frame_t *f, uint32_t number) {
    if (number >= f->limit) return damaged_ir(ir, "an operand with a number that no value has");
    fixup_t fixup = {ir->program->operands.count, number, f->fixups};
    f->fixups = ir->fixups.count;
    KEEL_MLIR_PUSH(&ir->fixups, fixup);
    return NULL;
}

static keel_status_t read_operands(ir_t *ir) {
    keel_program_t *program = ir->program;
    keel_cursor_t c = ir->c;
    uint32_t count = keel_mlir_count(&c, 1);
    if (KEEL_POISONS || count > program->operands.capacity - program->operands.count)
        KEEL_TRY(keel_mlir_reserve(&program->operands, count));
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t number = keel_mlir_index(&c, UINT32_MAX);
        frame_t *f = frame_of(ir, number);
        keel_value_id_t value = KEEL_NONE;
        if (__builtin_expect(number < f->next, 1))
            value = local_value(ir, f, number);
        else if (!c.failed)
            KEEL_TRY(read_forward(ir, f, number));
        program->operands.data[program->operands.count++] = value;
    }
    ir->c = c;
    return NULL;
}

// The types of values that are defined already.
static inline bool push_value_type(ir_t *ir, uint32_t type) {
    if (__builtin_expect(type > UINT16_MAX, 0)) return false;
    ir->program->value_types.data[ir->program->value_types.count++] = (uint16_t)type;
    return true;
}

static keel_status_t too_many_types(const ir_t *ir) {
    return keel_status_make(KEEL_UNSUPPORTED, "a value of one of %u types; the limit is %u",
                            ir->m->type_count, UINT16_MAX + 1u);
}

static keel_status_t read_results(ir_t *ir, frame_t *f, uint32_t *out_count) {
    keel_cursor_t c = ir->c;
    uint32_t count = *out_count = keel_mlir_count(&c, 1);
    if (count > UINT16_MAX)
        return keel_status_make(KEEL_UNSUPPORTED, "an operation with %u results", count);
    KEEL_TRY(define(ir, f, count));
    for (uint32_t i = 0; i < count; ++i)
        if (!push_value_type(ir, keel_mlir_index(&c, ir->m->type_count))) return too_many_types(ir);
    ir->c = c;
    return NULL;
}

// The order in which MLIR keeps the uses of values: it does not matter for a program.
static void skip_use_lists(keel_cursor_t *c, uint32_t values) {
    uint32_t lists = values > 1 ? keel_mlir_count(c, 1) : 1;
    for (uint32_t i = 0; i < lists && !c->failed; ++i) {
        bool are_pairs;
        if (values > 1) keel_mlir_index(c, values);
        uint64_t count = keel_mlir_flagged(c, &are_pairs);
        if (count > keel_cursor_left(c)) keel_cursor_fail(c);
        for (uint64_t n = 0; n < count && !c->failed; ++n)
            keel_mlir_varint(c);
    }
}

// ---- regions -----------------------------------------------------------------------------------

static keel_status_t read_arguments(ir_t *ir, frame_t *f, keel_block_t *block) {
    keel_program_t *program = ir->program;
    uint32_t count = block->argument_count = keel_mlir_count(&ir->c, 1);
    KEEL_TRY(define(ir, f, count));
    KEEL_TRY(keel_mlir_reserve(&program->pool, count));
    uint32_t *locations = program->pool.data + program->pool.count;
    bool has_locations = false;
    for (uint32_t i = 0; i < count; ++i) {
        bool is_located = true;
        uint64_t type =
            ir->m->version >= 4 ? keel_mlir_flagged(&ir->c, &is_located) : keel_mlir_varint(&ir->c);
        if (type >= ir->m->type_count) keel_cursor_fail(&ir->c);
        if (ir->c.failed) return NULL;
        if (!push_value_type(ir, (uint32_t)type)) return too_many_types(ir);
        locations[i] = KEEL_NONE;
        if (!is_located) continue;
        locations[i] = keel_mlir_index(&ir->c, ir->m->attr_count);
        if (ir->c.failed) return NULL;
        uint8_t kind = program->attrs.data[locations[i]].kind;
        if (!keel_attr_is_location(kind)) return damaged_ir(ir, "an argument without a location");
        if (kind == KEEL_ATTR_LOC_UNKNOWN)
            locations[i] = KEEL_NONE;
        else
            has_locations = true;
    }
    if (has_locations) {
        block->argument_locations = program->pool.count;
        program->pool.count += count;
    }
    if (ir->m->version >= 3) {
        // MLIR writes an operation's mask here, with at most that one bit set.
        uint8_t mask = keel_cursor_byte(&ir->c);
        if (mask & ~HAS_USE_LISTS) keel_cursor_fail(&ir->c);
        if (mask) skip_use_lists(&ir->c, count);
    }
    return NULL;
}

// Reserves room for what the block and its region announce.
static keel_status_t reserve_announced(ir_t *ir, uint64_t values, uint64_t operations) {
    uint64_t left = (uint64_t)(ir->end - ir->c.at);
    ir->values_owed += values;
    ir->operations_owed += operations;
    // An operation takes a name, a mask and a location; a value takes a type.
    if (ir->values_owed > left || ir->operations_owed > left / 3)
        return damaged_ir(ir, "a region announces more than can follow");
    KEEL_TRY(keel_mlir_reserve(&ir->program->operations, ir->operations_owed + 1));
    return keel_mlir_reserve(&ir->program->value_types, ir->values_owed);
}

static keel_status_t push_frame(ir_t *ir, uint32_t region, uint64_t values) {
    const frame_t *parent = &ir->frames[ir->depth];
    if (ir->depth == KEEL_READ_REGION_DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED, "regions nest more than %d deep",
                                KEEL_READ_REGION_DEPTH);
    uint32_t base = parent->are_isolated ? 0 : parent->limit;
    uint32_t first_mark =
        parent->first_mark +
        (parent->limit - parent->base + (1u << MARK_BITS) - 1) / (1u << MARK_BITS);
    uint32_t marks = ((uint32_t)values + (1u << MARK_BITS) - 1) >> MARK_BITS;
    ir->marks.count = first_mark;
    KEEL_TRY(keel_mlir_reserve(&ir->marks, marks));
    ir->frames[++ir->depth] = (frame_t){.region = region,
                                        .base = base,
                                        .next = base,
                                        .limit = base + (uint32_t)values,
                                        .first_segment = ir->segments.count,
                                        .first_mark = first_mark,
                                        .next_mark = base,
                                        .fixups = KEEL_NONE};
    return NULL;
}

static keel_status_t enter_block(ir_t *ir, uint32_t region) {
    keel_program_t *program = ir->program;
    uint64_t values = keel_mlir_varint(&ir->c);
    bool has_arguments;
    uint64_t operations = keel_mlir_flagged(&ir->c, &has_arguments);
    if (ir->c.failed || values > keel_cursor_left(&ir->c) || operations > keel_cursor_left(&ir->c))
        return damaged_ir(ir, "a region announces more than can follow");
    KEEL_TRY(reserve_announced(ir, values, operations));
    KEEL_TRY(push_frame(ir, region, values));
    frame_t *f = &ir->frames[ir->depth];
    f->operations_left = (uint32_t)operations;
    keel_block_t block = {.first_op = program->operations.count,
                          .first_argument = program->value_types.count,
                          .argument_locations = KEEL_NONE};
    if (has_arguments) KEEL_TRY(read_arguments(ir, f, &block));
    if (region == KEEL_NONE)
        return block.argument_count ? damaged_ir(ir, "a module with arguments") : NULL;
    KEEL_MLIR_PUSH(&program->blocks, block);
    return NULL;
}

// The region is the body of the last function, one level below the module.
static bool is_function(const ir_t *ir, uint32_t region) {
    const keel_program_t *program = ir->program;
    return ir->depth == 1 && program->functions.count &&
           program->functions.data[program->functions.count - 1].region == region;
}

static keel_status_t enter_region(ir_t *ir) {
    keel_program_t *program = ir->program;
    frame_t *parent = &ir->frames[ir->depth];
    uint32_t region = ir->depth ? parent->next_region++ : KEEL_NONE;
    --parent->regions_left;
    --ir->regions_owed;
    uint64_t blocks = keel_mlir_varint(&ir->c);
    if (ir->c.failed) return damaged_ir(ir, "a region is truncated");
    if (blocks > 1)
        return keel_status_make(KEEL_UNSUPPORTED, "operation %u: a region of %llu blocks",
                                program->operations.count - 1, (unsigned long long)blocks);
    if (region != KEEL_NONE) {
        program->regions.data[region].first_block = program->blocks.count;
        program->regions.data[region].block_count = (uint32_t)blocks;
        program->regions.data[region].end = program->operations.count;
    }
    if (blocks) return enter_block(ir, region);
    return is_function(ir, region) ? keel_mlir_end_function(ir->m) : NULL;
}

static keel_status_t leave_region(ir_t *ir) {
    keel_program_t *program = ir->program;
    frame_t *f = &ir->frames[ir->depth];
    if (f->next != f->limit) return damaged_ir(ir, "fewer values before it than announced");
    for (uint32_t i = f->fixups; i != KEEL_NONE; i = ir->fixups.data[i].next) {
        const fixup_t *fixup = &ir->fixups.data[i];
        program->operands.data[fixup->operand] = local_value(ir, f, fixup->number);
    }
    ir->segments.count = f->first_segment;
    if (ir->segments.data) ir->segments.data[ir->segments.count].start = UINT32_MAX;
    if (f->region != KEEL_NONE) {
        keel_region_t *region = &program->regions.data[f->region];
        region->end = program->operations.count;
        program->blocks.data[region->first_block].end_op = program->operations.count;
    }
    --ir->depth;
    return is_function(ir, f->region) ? keel_mlir_end_function(ir->m) : NULL;
}

// All regions of the operation are read.
static keel_status_t end_regions(ir_t *ir, frame_t *f) {
    if (ir->c.at != ir->c.end) return damaged_ir(ir, "bytes are left over after its regions");
    ir->c.end = f->outer_end;
    f->outer_end = NULL;
    return NULL;
}

// How many regions follow, and where: isolated ones have a section of their own.
static keel_status_t open_regions(ir_t *ir, frame_t *f, uint32_t *out_count) {
    uint64_t count = keel_mlir_flagged(&ir->c, &f->are_isolated);
    ir->regions_owed += count;
    if (ir->c.failed || count > keel_cursor_left(&ir->c) ||
        ir->regions_owed > (uint64_t)(ir->end - ir->c.at))
        return damaged_ir(ir, "more regions than can follow");
    *out_count = f->regions_left = (uint32_t)count;
    if (count && f->are_isolated && ir->m->version >= 2) {
        uint32_t number;
        keel_bytes_t section;
        if (!keel_mlir_next_section(ir->m, &ir->c, &number, &section) || number != KEEL_MLIR_IR)
            return damaged_ir(ir, "its regions are truncated");
        // What follows the section is read after its regions.
        f->outer_end = ir->c.end;
        ir->c = keel_cursor(section);
    }
    return NULL;
}

// ---- operations --------------------------------------------------------------------------------

typedef struct head_t {
    uint32_t name;
    uint8_t mask;
    keel_attr_id_t location, attributes;
} head_t;

static keel_status_t unknown_op(const ir_t *ir, uint32_t name) {
    const keel_program_t *program = ir->program;
    return keel_status_make(
        KEEL_UNSUPPORTED, "operation %.*s.%.*s is unknown",
        KEEL_STR_ARGS(keel_program_str(program, program->op_names.data[name].dialect)),
        KEEL_STR_ARGS(keel_program_str(program, ir->m->ops.data[name].name)));
}

// The common start of all operations, up to their properties.
static inline keel_status_t read_head(ir_t *ir, head_t *out) {
    const keel_mlir_t *m = ir->m;
    keel_cursor_t c = ir->c;
    out->name = keel_mlir_index(&c, m->ops.count);
    out->mask = keel_cursor_byte(&c);
    out->location = keel_mlir_index(&c, m->attr_count);
    keel_attr_id_t dictionary = KEEL_NONE;
    uint32_t properties = KEEL_NONE;
    if (out->mask & HAS_ATTRIBUTES) dictionary = keel_mlir_index(&c, m->attr_count);
    if (out->mask & HAS_PROPERTIES) properties = keel_mlir_index(&c, m->properties.count);
    if (__builtin_expect(c.failed || (out->mask & 0x80), 0))
        return damaged_ir(ir, "it is truncated");
    ir->c = c;
    if (__builtin_expect(!m->ops.data[out->name].op, 0)) return unknown_op(ir, out->name);
    if (!keel_attr_is_location(ir->program->attrs.data[out->location].kind))
        return damaged_ir(ir, "its location is not a location");
    return keel_mlir_merge(&ir->merger, out->name, properties, dictionary, &out->attributes);
}

static keel_status_t add_regions(ir_t *ir, frame_t *f, const head_t *head) {
    keel_program_t *program = ir->program;
    uint32_t count;
    KEEL_TRY(open_regions(ir, f, &count));
    uint32_t first = f->next_region = program->regions.count;
    if (count == 0) return NULL;
    KEEL_TRY(keel_mlir_reserve(&program->regions, count));
    for (uint32_t i = 0; i < count; ++i)
        program->regions.data[program->regions.count++] =
            (keel_region_t){.parent = program->operations.count};
    keel_operation_t *op = &program->operations.data[program->operations.count];
    op->name |= KEEL_OP_HAS_REGIONS;
    if (!ir->m->ops.data[head->name].is_function) return NULL;
    if (count != 1 || !f->are_isolated || op->result_count)
        return damaged_ir(ir, "a malformed function");
    if (ir->depth != 1)
        return keel_status_make(KEEL_UNSUPPORTED, "operation %u: a function inside another",
                                program->operations.count);
    return keel_mlir_add_function(ir->m, program->operations.count, head->attributes, first);
}

static keel_status_t read_operation(ir_t *ir, frame_t *f) {
    keel_program_t *program = ir->program;
    head_t head;
    KEEL_TRY(read_head(ir, &head));
    uint32_t results = 0;
    keel_operation_t *op = &program->operations.data[program->operations.count];
    *op = (keel_operation_t){.first_operand = program->operands.count,
                             .first_result = program->value_types.count,
                             .location = head.location,
                             .attributes = head.attributes,
                             .name = (uint16_t)head.name};
    if (head.mask & HAS_RESULTS) KEEL_TRY(read_results(ir, f, &results));
    op->result_count = (uint16_t)results;
    if (head.mask & HAS_OPERANDS) KEEL_TRY(read_operands(ir));
    if (__builtin_expect(head.mask & (HAS_SUCCESSORS | HAS_USE_LISTS | HAS_REGIONS), 0)) {
        if (head.mask & HAS_SUCCESSORS)
            return keel_status_make(KEEL_UNSUPPORTED, "operation %u: it has successors",
                                    program->operations.count);
        if (head.mask & HAS_USE_LISTS && ir->m->version < 3) keel_cursor_fail(&ir->c);
        if (head.mask & HAS_USE_LISTS) skip_use_lists(&ir->c, results);
        if (head.mask & HAS_REGIONS) KEEL_TRY(add_regions(ir, f, &head));
    }
    if (ir->m->ops.data[head.name].is_function && !f->regions_left)
        return damaged_ir(ir, "a function without a body");
    if (__builtin_expect(ir->c.failed, 0)) return damaged_ir(ir, "it is truncated");
    if (__builtin_expect(ir->m->ops.data[head.name].added != NULL, 0))
        KEEL_TRY(keel_mlir_make_older(&ir->merger, head.name, op));
    ++program->operations.count;
    --f->operations_left;
    --ir->operations_owed;
    return NULL;
}

// The file's one block with its only operation, the module.
static keel_status_t read_module(ir_t *ir) {
    bool has_arguments;
    uint64_t operations = keel_mlir_flagged(&ir->c, &has_arguments);
    if (ir->c.failed || has_arguments || operations != 1)
        return damaged_ir(ir, "the file does not contain exactly one module");
    head_t head;
    KEEL_TRY(read_head(ir, &head));
    keel_str_t name = keel_program_str(ir->program, ir->m->ops.data[head.name].name);
    if (!keel_str_is(name, "module"))
        return keel_status_make(KEEL_UNSUPPORTED, "the outermost operation is %.*s, not a module",
                                KEEL_STR_ARGS(name));
    if (head.mask & (HAS_RESULTS | HAS_OPERANDS | HAS_SUCCESSORS | HAS_USE_LISTS) ||
        !(head.mask & HAS_REGIONS))
        return damaged_ir(ir, "a malformed module");
    KEEL_TRY(keel_mlir_set_module(ir->m, head.attributes));
    uint32_t regions;
    KEEL_TRY(open_regions(ir, &ir->frames[0], &regions));
    return regions == 1 ? NULL : damaged_ir(ir, "a malformed module");
}

static keel_status_t read_operations(ir_t *ir) {
    KEEL_TRY(read_module(ir));
    for (;;) {
        frame_t *f = &ir->frames[ir->depth];
        if (f->regions_left) {
            KEEL_TRY(enter_region(ir));
            if (ir->c.failed) return damaged_ir(ir, "its region is truncated");
        } else if (f->outer_end) {
            KEEL_TRY(end_regions(ir, f));
        } else if (ir->depth == 0) {
            break;
        } else if (!f->operations_left) {
            KEEL_TRY(leave_region(ir));
        } else {
            KEEL_TRY(read_operation(ir, f));
        }
    }
    if (ir->c.at != ir->c.end) return damaged_ir(ir, "bytes are left over after the module");
    return NULL;
}

// Returns unused reserved memory.
static void trim(keel_program_t *program) {
#define TRIM(table)                                                                                \
    do {                                                                                           \
        void *data = program->table.data;                                                          \
        if (program->table.count == program->table.capacity || !program->table.count) break;       \
        keel_status_ignore(                                                                        \
            keel_realloc_array(program->table.count, sizeof *program->table.data, &data));         \
        program->table.data = data;                                                                \
        program->table.capacity = program->table.count;                                            \
    } while (0)
    TRIM(attrs);
    TRIM(ints);
    TRIM(pool);
    TRIM(operations);
    TRIM(operands);
    TRIM(value_types);
    TRIM(regions);
    TRIM(blocks);
    TRIM(strings);
#undef TRIM
}

// Real programs take about ten bytes per operation, with a little more than one operand and result
// each.
static keel_status_t reserve_guess(ir_t *ir) {
    uint64_t guess = (uint64_t)(ir->end - ir->c.at) / 10 + 8;
    KEEL_TRY(keel_mlir_reserve(&ir->program->operations, guess));
    KEEL_TRY(keel_mlir_reserve(&ir->program->value_types, guess));
    return keel_mlir_reserve(&ir->program->operands, guess + guess / 4);
}

static keel_status_t read_ir(ir_t *ir) {
    KEEL_TRY(reserve_guess(ir));
    KEEL_TRY(read_operations(ir));
    ir->program->operations.data[ir->program->operations.count++] =
        (keel_operation_t){.first_operand = ir->program->operands.count,
                           .first_result = ir->program->value_types.count,
                           .location = KEEL_NONE,
                           .attributes = KEEL_NONE};
    keel_mlir_find_entry(ir->m);
    return NULL;
}

keel_status_t keel_mlir_read_ir(keel_mlir_t *m) {
    ir_t ir = {.m = m, .program = m->program, .c = keel_cursor(m->sections[KEEL_MLIR_IR])};
    ir.end = ir.c.end;
    ir.frames[0].fixups = KEEL_NONE;
    keel_mlir_merger_initialize(&ir.merger, m);
    keel_status_t status = read_ir(&ir);
    keel_mlir_merger_deinitialize(&ir.merger);
    keel_free(ir.segments.data);
    keel_free(ir.marks.data);
    keel_free(ir.fixups.data);
    if (!status) trim(m->program);
    return status;
}
