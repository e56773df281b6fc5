#include "key/canon.h"
#include "key/symbols.h"

// A program with more than this is not worth the memory: the caller keys its bytes.
enum { EDGE_LIMIT = 16 << 20 };

enum { UNKNOWN, NO_REFERENCE, REFERENCE };

typedef struct graph_t {
    const keel_canon_t *canon;
    const keel_program_t *program;
    uint8_t *marks;    // by attribute: whether it contains a reference
    uint32_t *seen;    // by attribute: the function that visited it last, plus 1
    uint32_t *callers; // by function: the function last found to refer to it, plus 1
    uint32_t *edges;
    uint32_t edge_count, edge_capacity;
    uint32_t *first_edge; // by function, and an extra one at the end
    uint32_t function;    // the current one, plus 1
    unsigned depth;
    keel_status_t status;
} graph_t;

static void fail(graph_t *graph, keel_status_t status) {
    if (graph->status)
        keel_status_ignore(status);
    else
        graph->status = status;
}

static keel_status_t grow_edges(graph_t *graph) {
    uint32_t capacity = graph->edge_capacity ? graph->edge_capacity * 2 : 64;
    if (capacity > EDGE_LIMIT)
        return keel_status_make(KEEL_UNSUPPORTED, "more than %d references between functions",
                                EDGE_LIMIT / 2);
    KEEL_TRY(keel_realloc_array(capacity, sizeof *graph->edges, (void **)&graph->edges));
    graph->edge_capacity = capacity;
    return NULL;
}

static bool found(graph_t *graph, keel_string_id_t id) {
    const uint64_t *what =
        keel_map_find(&graph->canon->symbols, keel_str_bytes(keel_program_str(graph->program, id)));
    if (!what || *what & 1) return false;
    uint32_t callee = (uint32_t)(*what >> 1);
    if (graph->callers[callee] == graph->function) return true;
    graph->callers[callee] = graph->function;
    if (graph->edge_count == graph->edge_capacity) fail(graph, grow_edges(graph));
    if (!graph->status) graph->edges[graph->edge_count++] = callee;
    return true;
}

static bool search(graph_t *graph, keel_attr_id_t id);

// `strings`: plain strings in the list name functions.
static bool search_list(graph_t *graph, uint32_t list, bool strings) {
    keel_list_t items = keel_program_list(graph->program, list);
    bool any = false;
    for (uint32_t i = 0; i < items.count && !graph->status; ++i) {
        const keel_attr_t *item = &graph->program->attrs.data[items.items[i]];
        any |= strings && item->kind == KEEL_ATTR_STRING ? found(graph, item->a)
                                                         : search(graph, items.items[i]);
    }
    return any;
}

static bool search_dict(graph_t *graph, uint32_t list) {
    keel_list_t pairs = keel_program_list(graph->program, list);
    bool any = false;
    for (uint32_t i = 0; i + 1 < pairs.count && !graph->status; i += 2) {
        const keel_attr_t *value = &graph->program->attrs.data[pairs.items[i + 1]];
        bool strings = (value->kind == KEEL_ATTR_STRING || value->kind == KEEL_ATTR_ARRAY) &&
                       keel_symbols_is_callee(keel_program_str(graph->program, pairs.items[i]));
        if (strings && value->kind == KEEL_ATTR_STRING)
            any |= found(graph, value->a);
        else if (strings)
            any |= search_list(graph, value->b, true);
        else
            any |= search(graph, pairs.items[i + 1]);
    }
    return any;
}

static bool search_in(graph_t *graph, const keel_attr_t *attr) {
    switch (attr->kind) {
        case KEEL_ATTR_SYMBOL:
            return found(graph, attr->a);
        case KEEL_ATTR_ARRAY:
        case KEEL_ATTR_SPARSE:
            return search_list(graph, attr->b, false);
        case KEEL_ATTR_DICT:
            return search_dict(graph, attr->b);
        case KEEL_ATTR_DISTINCT:
            return search(graph, attr->a);
        default:
            return false;
    }
}

// Visits every attribute once; those that contain a reference, once more per function.
static bool search(graph_t *graph, keel_attr_id_t id) {
    if (graph->marks[id] == NO_REFERENCE) return false;
    if (graph->seen[id] == graph->function) return graph->marks[id] == REFERENCE;
    if (graph->depth == KEEL_CANON_DEPTH) {
        fail(graph, keel_status_make(KEEL_UNSUPPORTED, "attributes nest more than %d deep",
                                     KEEL_CANON_DEPTH));
        return false;
    }
    graph->seen[id] = graph->function;
    ++graph->depth;
    bool any = search_in(graph, &graph->program->attrs.data[id]);
    --graph->depth;
    graph->marks[id] = any ? REFERENCE : NO_REFERENCE;
    return any;
}

void keel_canon_body(const keel_program_t *program, const keel_function_t *function,
                     keel_op_id_t *first, keel_op_id_t *end) {
    *first = *end = 0;
    if (function->region == KEEL_NONE) return;
    const keel_region_t *region = &program->regions.data[function->region];
    if (!region->block_count) return;
    *first = program->blocks.data[region->first_block].first_op;
    *end = region->end;
}

static keel_status_t find_edges(graph_t *graph) {
    const keel_program_t *program = graph->program;
    const keel_operation_t *operations = program->operations.data;
    for (uint32_t f = 0; f < program->functions.count; ++f) {
        graph->first_edge[f] = graph->edge_count;
        graph->function = f + 1;
        keel_op_id_t first, end;
        keel_canon_body(program, &program->functions.data[f], &first, &end);
        for (keel_op_id_t op = first; op < end; ++op) {
            keel_attr_id_t id = operations[op].attributes;
            if (id != KEEL_NONE && graph->marks[id] != NO_REFERENCE) search(graph, id);
        }
        if (graph->status) break;
    }
    graph->first_edge[program->functions.count] = graph->edge_count;
    keel_status_t status = graph->status;
    graph->status = NULL;
    return status;
}

// ---- order -------------------------------------------------------------------------------------

enum { NEW, OPEN, DONE };

typedef struct visit_t {
    uint32_t function;
    uint32_t edge;
} visit_t;

typedef struct call_walk_t {
    const graph_t *graph;
    uint8_t *states;
    visit_t *stack;
} call_walk_t;

static keel_status_t circle(const graph_t *graph, uint32_t function) {
    keel_str_t name =
        keel_program_str(graph->program, graph->program->functions.data[function].name);
    return keel_status_make(KEEL_UNSUPPORTED, "function '%.*s' refers to itself",
                            KEEL_STR_ARGS(name));
}

static keel_status_t walk_from(call_walk_t *walk, uint32_t root, keel_calls_t *calls) {
    const graph_t *graph = walk->graph;
    if (walk->states[root] == DONE) return NULL;
    uint32_t depth = 0;
    walk->stack[depth++] = (visit_t){root, graph->first_edge[root]};
    walk->states[root] = OPEN;
    while (depth) {
        visit_t *top = &walk->stack[depth - 1];
        if (top->edge == graph->first_edge[top->function + 1]) {
            walk->states[top->function] = DONE;
            calls->order[calls->count++] = top->function;
            --depth;
            continue;
        }
        uint32_t callee = graph->edges[top->edge++];
        if (walk->states[callee] == OPEN) return circle(graph, callee);
        if (walk->states[callee] == DONE) continue;
        walk->states[callee] = OPEN;
        walk->stack[depth++] = (visit_t){callee, graph->first_edge[callee]};
    }
    return NULL;
}

static keel_status_t walk_all(call_walk_t *walk, keel_calls_t *calls) {
    const keel_program_t *program = walk->graph->program;
    if (program->entry != KEEL_NONE) KEEL_TRY(walk_from(walk, program->entry, calls));
    calls->from_entry = calls->count;
    for (uint32_t f = 0; f < program->functions.count; ++f)
        KEEL_TRY(walk_from(walk, f, calls));
    return NULL;
}

static keel_status_t make_order(const graph_t *graph, keel_calls_t *calls) {
    uint32_t count = graph->program->functions.count;
    call_walk_t walk = {.graph = graph};
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof *calls->order, (void **)&calls->order));
    KEEL_TRY(keel_calloc((size_t)count + 1, 1, (void **)&walk.states));
    keel_status_t status = keel_calloc((size_t)count + 1, sizeof *walk.stack, (void **)&walk.stack);
    if (!status) status = walk_all(&walk, calls);
    keel_free(walk.states);
    keel_free(walk.stack);
    return status;
}

static keel_status_t make_graph(graph_t *graph) {
    size_t attrs = graph->program->attrs.count, functions = graph->program->functions.count;
    KEEL_TRY(keel_calloc(attrs + 1, 1, (void **)&graph->marks));
    KEEL_TRY(keel_calloc(attrs + 1, sizeof *graph->seen, (void **)&graph->seen));
    KEEL_TRY(keel_calloc(functions + 1, sizeof *graph->callers, (void **)&graph->callers));
    KEEL_TRY(keel_calloc(functions + 1, sizeof *graph->first_edge, (void **)&graph->first_edge));
    return find_edges(graph);
}

keel_status_t keel_calls_initialize(keel_calls_t *calls, const keel_canon_t *canon) {
    *calls = (keel_calls_t){0};
    graph_t graph = {.canon = canon, .program = canon->program};
    keel_status_t status = make_graph(&graph);
    if (!status) status = make_order(&graph, calls);
    keel_free(graph.marks);
    keel_free(graph.seen);
    keel_free(graph.callers);
    keel_free(graph.edges);
    keel_free(graph.first_edge);
    return status;
}

void keel_calls_deinitialize(keel_calls_t *calls) {
    keel_free(calls->order);
    *calls = (keel_calls_t){0};
}
