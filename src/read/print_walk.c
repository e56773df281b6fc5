#include "read/print_walk.h"

#include "read/read.h"

// The remaining operations of one block, and the blocks and regions that follow it.
typedef struct level_t {
    keel_op_id_t at, end, parent;
    uint32_t index;              // of the operation `at`
    uint32_t block, first_block; // indices into the tables
    uint32_t region, first_region, end_region;
} level_t;

typedef struct print_walk_t {
    const keel_program_t *program;
    const keel_print_visitor_t *visitor;
    void *context;
    uint32_t depth;
    level_t levels[KEEL_READ_REGION_DEPTH + 2];
} print_walk_t;

// Opens the block at level->block. If the region has no more blocks, closes the region and
// continues. False once the last region is closed.
static bool next_block(print_walk_t *w, level_t *level, bool opens_region) {
    const keel_print_visitor_t *v = w->visitor;
    for (;; opens_region = true) {
        const keel_region_t *region = &w->program->regions.data[level->region];
        if (opens_region) {
            v->open_region(w->context, level->region - level->first_region);
            level->first_block = level->block = region->first_block;
        }
        if (level->block < region->first_block + region->block_count) {
            const keel_block_t *block = &w->program->blocks.data[level->block];
            v->open_block(w->context, block, level->block - level->first_block);
            level->at = block->first_op;
            level->end = block->end_op;
            level->index = 0;
            return true;
        }
        v->close_region(w->context);
        if (++level->region == level->end_region) return false;
    }
}

// Opens the regions of an operation; false if they have no block.
static keel_status_t enter(print_walk_t *w, keel_op_id_t op, keel_region_run_t run) {
    if (w->depth + 1 == sizeof w->levels / sizeof *w->levels)
        return keel_status_make(KEEL_UNSUPPORTED, "regions nest more than %d deep",
                                KEEL_READ_REGION_DEPTH);
    level_t *level = &w->levels[++w->depth];
    uint32_t first = (uint32_t)(run.items - w->program->regions.data);
    *level = (level_t){
        .parent = op, .region = first, .first_region = first, .end_region = first + run.count};
    if (next_block(w, level, true)) return NULL;
    w->visitor->close_operation(w->context, op);
    --w->depth;
    return NULL;
}

static keel_status_t step(print_walk_t *w) {
    level_t *level = &w->levels[w->depth];
    keel_op_id_t op = level->at;
    w->visitor->open_operation(w->context, op, level->index++);
    keel_region_run_t run = keel_program_regions(w->program, op);
    level->at = run.count ? run.items[run.count - 1].end : op + 1;
    if (run.count) return enter(w, op, run);
    w->visitor->close_operation(w->context, op);
    return NULL;
}

static keel_status_t walk(print_walk_t *w, keel_op_id_t first, keel_op_id_t end, uint32_t index) {
    w->depth = 0;
    w->levels[0] = (level_t){.at = first, .end = end, .index = index};
    for (;;) {
        level_t *level = &w->levels[w->depth];
        if (level->at < level->end) {
            KEEL_TRY(step(w));
        } else if (w->depth == 0) {
            return NULL;
        } else {
            w->visitor->close_block(w->context);
            ++level->block;
            if (next_block(w, level, false)) continue;
            w->visitor->close_operation(w->context, level->parent);
            --w->depth;
        }
    }
}

keel_status_t keel_print_walk(const keel_program_t *program, keel_op_id_t first, keel_op_id_t end,
                              const keel_print_visitor_t *visitor, void *context) {
    print_walk_t w = {.program = program, .visitor = visitor, .context = context};
    return walk(&w, first, end, 0);
}

const keel_block_t *keel_print_blocks(const keel_program_t *program,
                                      const keel_function_t *function, uint32_t *out_count) {
    *out_count = 0;
    if (function->region >= program->regions.count) return NULL;
    const keel_region_t *region = &program->regions.data[function->region];
    *out_count = region->block_count;
    return program->blocks.data + region->first_block;
}

// Functions are in the order of their operations; operations between them belong to the module.
keel_status_t keel_print_walk_module(const keel_program_t *program,
                                     const keel_print_visitor_t *visitor, void *context) {
    print_walk_t w = {.program = program, .visitor = visitor, .context = context};
    keel_op_id_t at = 0;
    uint32_t index = 0;
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        const keel_function_t *function = &program->functions.data[i];
        uint32_t count;
        const keel_block_t *blocks = keel_print_blocks(program, function, &count);
        keel_op_id_t first = function->operation, end = first + 1;
        if (first == KEEL_NONE) first = end = count ? blocks[0].first_op : at;
        if (function->region < program->regions.count)
            end = program->regions.data[function->region].end;
        if (first < at) continue;
        KEEL_TRY(walk(&w, at, first, index));
        index = w.levels[0].index;
        at = end > first ? end : first;
    }
    return walk(&w, at, keel_program_op_count(program), index);
}
