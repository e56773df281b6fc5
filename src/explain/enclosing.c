// Which of several operations is on a line that is on the stacks of all others: a library call that
// calls back, or the call of a helper.
#include "explain/graph.h"

// JAX keeps this many of the innermost frames of a stack.
enum { FRAMES = KEEL_GRAPH_FRAMES, KEPT_BY_JAX = 10 };

typedef struct chain_t {
    keel_frame_t frames[FRAMES];
    uint32_t count;
    const keel_source_line_t *line;
} chain_t;

// The stack of an operation, followed by those of the calls that led to its function.
static void chain_of(keel_graph_t *graph, keel_op_id_t op, chain_t *out) {
    op = keel_graph_located(graph, op);
    out->line = keel_graph_line(graph, op);
    out->count = 0; // the frames take kilobytes: those beyond are not cleared
    while (op != KEEL_NONE && out->count < FRAMES) {
        keel_attr_id_t location = graph->program->operations.data[op].location;
        uint32_t room = FRAMES - out->count,
                 count = keel_program_frames(graph->program, location, out->frames + out->count,
                                             room, NULL);
        out->count += count < room ? count : room;
        if (!count) return;
        op = keel_graph_caller(graph, op);
    }
}

static bool passes_line(const chain_t *chain, const keel_source_line_t *line) {
    for (uint32_t i = 0; i < chain->count; ++i)
        if (chain->frames[i].line == line->line &&
            keel_str_equal(chain->frames[i].file, line->file))
            return true;
    return false;
}

// The library function of the one is on the stack that led to the other's line.
static bool leads_to(const chain_t *foreign, const chain_t *chain) {
    uint32_t i = 0;
    while (i < chain->count && !(chain->frames[i].line == chain->line->line &&
                                 keel_str_equal(chain->frames[i].file, chain->line->file)))
        ++i;
    for (++i; i < chain->count; ++i)
        for (uint32_t k = 0; k < foreign->count; ++k)
            if (keel_str_equal(chain->frames[i].file, foreign->frames[k].file) &&
                keel_str_equal(chain->frames[i].function, foreign->frames[k].function))
                return true;
    return false;
}

static bool encloses(const chain_t *a, const chain_t *b) {
    if (a->line->is_foreign) return b->line->is_foreign || leads_to(a, b);
    // If a stack was cut, any line may have been on it.
    if (b->line->is_foreign) return b->count >= KEPT_BY_JAX && !leads_to(b, a);
    return passes_line(b, a->line);
}

keel_op_id_t keel_graph_enclosing(keel_graph_t *graph, const keel_op_id_t *ops, uint32_t count) {
    chain_t best, next;
    keel_op_id_t found = KEEL_NONE;
    // The only candidate is the last one that encloses the candidate before it.
    for (uint32_t i = 0; i < count; ++i) {
        chain_of(graph, ops[i], &next);
        if (found != KEEL_NONE && !encloses(&next, &best)) continue;
        best = next;
        found = ops[i];
    }
    for (uint32_t i = 0; i < count; ++i) {
        chain_of(graph, ops[i], &next);
        if (ops[i] != found && !encloses(&best, &next)) return KEEL_NONE;
    }
    return found;
}

bool keel_graph_passes(keel_graph_t *graph, keel_op_id_t op, const char *file, uint32_t line) {
    chain_t chain;
    chain_of(graph, op, &chain);
    return passes_line(&chain, &(keel_source_line_t){.file = keel_str(file), .line = line});
}

uint32_t keel_graph_stack(keel_graph_t *graph, keel_op_id_t op, keel_frame_t *out, uint32_t room) {
    chain_t chain;
    chain_of(graph, op, &chain);
    uint32_t from = 0, count = 0;
    while (from < chain.count && !(chain.frames[from].line == chain.line->line &&
                                   keel_str_equal(chain.frames[from].file, chain.line->file)))
        ++from;
    for (uint32_t i = from; i < chain.count && count < room; ++i)
        if (!keel_is_foreign_file(chain.frames[i].file, graph->application))
            out[count++] = chain.frames[i];
    return count;
}

uint32_t keel_graph_lines_in(keel_graph_t *graph, keel_op_id_t op, const char *file, uint32_t *out,
                             uint32_t room) {
    chain_t chain;
    chain_of(graph, op, &chain);
    uint32_t count = 0;
    for (uint32_t i = 0; i < chain.count && count < room; ++i)
        if (keel_str_is(chain.frames[i].file, file)) out[count++] = chain.frames[i].line;
    return count;
}
