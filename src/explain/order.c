// The order in which a function's operations are compared.
//
// HLO's is the order in which the client wrote them down, backward from the results: what needs
// nothing else (a weight and its transpose) stands far from its use, and another result turns whole
// parts round. What an operation takes does not depend on that: each is put after its operands, the
// one with the longest way behind it first, so what needs little comes right before its use.
#include <stdlib.h>

#include "explain/graph.h"

typedef struct operand_t {
    keel_op_id_t op;
    uint32_t height, place;
} operand_t;

typedef struct visit_t {
    keel_op_id_t op;
    uint32_t first, next, end; // of its operands
} visit_t;

typedef struct order_walk_t {
    const keel_graph_t *graph;
    keel_op_id_t first, end;
    uint32_t *height;    // by operation from `first`: the longest way from an argument or constant
    uint8_t *is_visited; // likewise
    operand_t *operands; // of the operations that are being visited
    uint32_t operand_count;
    visit_t *visits; // one inside another
    uint32_t visit_count;
    keel_op_id_t *out;
    uint32_t count;
} order_walk_t;

static bool is_inside(const order_walk_t *walk, keel_op_id_t op) {
    return op != KEEL_NONE && op >= walk->first && op < walk->end;
}

// Operations that combine elements. Small accidents add others, which would turn near heights
// round.
static bool is_step(keel_str_t name) {
    static const char *const steps[] = {"dot",    "convolution", "reduce", "reduce-window",
                                        "gather", "scatter",     "sort",   "batch-norm-training",
                                        "while",  "custom-call"};
    return keel_str_is_among(name, steps, sizeof steps / sizeof *steps);
}

static void find_heights(order_walk_t *walk) {
    for (keel_op_id_t op = walk->first; op < walk->end; ++op) {
        keel_list_t operands = keel_program_operands(walk->graph->program, op);
        uint32_t height = 0;
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t producer = walk->graph->producer[operands.items[i]];
            if (!is_inside(walk, producer) || producer >= op) continue;
            uint32_t reached = walk->height[producer - walk->first];
            if (reached > height) height = reached;
        }
        walk->height[op - walk->first] = height + is_step(keel_graph_name(walk->graph, op));
    }
}

static int by_height(const void *a, const void *b) {
    const operand_t *x = a, *y = b;
    if (x->height != y->height) return x->height > y->height ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

// Results keep their order.
static void begin(order_walk_t *walk, keel_op_id_t op) {
    uint32_t first = walk->operand_count;
    keel_list_t operands = keel_program_operands(walk->graph->program, op);
    walk->is_visited[op - walk->first] = true;
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = walk->graph->producer[operands.items[i]];
        if (!is_inside(walk, producer) || walk->is_visited[producer - walk->first]) continue;
        walk->operands[walk->operand_count++] =
            (operand_t){producer, walk->height[producer - walk->first], i};
    }
    if (!keel_str_is(keel_graph_name(walk->graph, op), "tuple"))
        qsort(walk->operands + first, walk->operand_count - first, sizeof *walk->operands,
              by_height);
    walk->visits[walk->visit_count++] = (visit_t){op, first, first, walk->operand_count};
}

static void visit(order_walk_t *walk, keel_op_id_t root) {
    if (walk->is_visited[root - walk->first]) return;
    begin(walk, root);
    while (walk->visit_count) {
        visit_t *top = &walk->visits[walk->visit_count - 1];
        if (top->next < top->end) {
            keel_op_id_t op = walk->operands[top->next++].op;
            if (!walk->is_visited[op - walk->first]) begin(walk, op);
            continue;
        }
        walk->out[walk->count++] = top->op;
        walk->operand_count = top->first;
        --walk->visit_count;
    }
}

static keel_status_t order_by_flow(order_walk_t *walk, keel_op_id_t root, keel_arena_t *arena) {
    const keel_program_t *program = walk->graph->program;
    size_t count = walk->end - walk->first;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof *walk->height, &memory));
    walk->height = memory;
    KEEL_TRY(keel_arena_alloc(arena, count + 1, &memory));
    walk->is_visited = memset(memory, 0, count + 1);
    // An operation is visited once, so all visits at a time have at most all operands.
    size_t operands = 1;
    for (keel_op_id_t op = walk->first; op < walk->end; ++op)
        operands += keel_program_operands(program, op).count;
    KEEL_TRY(keel_arena_array(arena, operands, sizeof *walk->operands, &memory));
    walk->operands = memory;
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof *walk->visits, &memory));
    walk->visits = memory;
    find_heights(walk);
    if (is_inside(walk, root)) visit(walk, root);
    for (keel_op_id_t op = walk->first; op < walk->end; ++op)
        visit(walk, op); // what the root does not need
    return NULL;
}

keel_status_t keel_graph_order(const keel_graph_t *graph, uint32_t function, keel_arena_t *arena,
                               keel_op_id_t **out, uint32_t *out_count) {
    order_walk_t walk = {.graph = graph};
    void *memory;
    keel_graph_body(graph, function, &walk.first, &walk.end);
    if (walk.end < walk.first) walk.end = walk.first;
    *out_count = walk.end - walk.first;
    KEEL_TRY(keel_arena_array(arena, (size_t)*out_count + 1, sizeof **out, &memory));
    *out = walk.out = memory;
    if (graph->program->format == KEEL_FORMAT_HLO)
        return order_by_flow(&walk, graph->program->functions.data[function].root, arena);
    for (keel_op_id_t op = walk.first; op < walk.end; ++op)
        walk.out[walk.count++] = op;
    return NULL;
}
