// The trace of a program in an order that follows from what its results need: operands before what
// takes them, from the first to the last. C leaves open in which order the arguments of a call are
// evaluated, and compilers differ, so the order in which nodes were traced says nothing. What a
// loss needs comes before its gradient, as it was written: of two differences, `keel why` takes the
// first for the cause.
#include "tensor/trace.h"

typedef struct order_t {
    const keel_context_t *context;
    ordered_t *out;
    list_t nodes;      // of the context's trace, in the new order
    uint32_t *places;  // of each node of the context's trace, in the new one; KEEL_NONE: none yet
    uint32_t *next;    // of each: the operand that comes next
    uint32_t *regions; // of each region: its new number; KEEL_NONE: none yet
    bool *is_needed;   // of each node: by the results, also as an input that a loop does not use
    list_t stack;
} order_t;

static keel_status_t put_region(order_t *order, uint32_t region) {
    uint32_t parent = order->context->regions.data[region].parent;
    order->regions[region] = order->out->regions.count;
    const region_t placed = {order->nodes.count, KEEL_NONE,
                             parent == KEEL_NONE ? KEEL_NONE : order->regions[parent], KEEL_NONE};
    KEEL_PUSH(&order->out->regions, placed);
    return NULL;
}

static keel_status_t put(order_t *order, uint32_t i) {
    order->places[i] = order->nodes.count;
    KEEL_PUSH(&order->nodes, i);
    return NULL;
}

static keel_status_t visit(order_t *order, uint32_t root, bool is_loss);

static keel_status_t visit_losses(order_t *order, uint32_t region) {
    const keel_context_t *context = order->context;
    for (uint32_t i = 0; i < context->losses.count; ++i)
        if (context->trace.scopes.data[context->losses.data[i]] == region)
            KEEL_TRY(visit(order, context->losses.data[i], true));
    return NULL;
}

// What it uses from outside has its place.
static keel_status_t visit_region(order_t *order, uint32_t region) {
    const keel_context_t *context = order->context;
    const region_t it = context->regions.data[region];
    const uint32_t results = trace_node(context, it.end)->operand_count;
    KEEL_TRY(put_region(order, region));
    KEEL_TRY(put(order, it.begin));
    KEEL_TRY(visit_losses(order, region));
    for (uint32_t i = 0; i < results; ++i)
        KEEL_TRY(visit(order, region_results(context, region)[i], false));
    for (uint32_t i = it.begin + 1; i < it.end; ++i) // what is saved of it
        if (order->is_needed[i] && context->trace.scopes.data[i] == region)
            KEEL_TRY(visit(order, i, false));
    order->out->regions.data[order->regions[region]].end = order->nodes.count;
    return put(order, it.end);
}

// A node whose operands have their places; its regions come before it, its parts behind it.
static keel_status_t finish(order_t *order, uint32_t i) {
    const keel_context_t *context = order->context;
    const node_t *node = trace_node(context, i);
    uint32_t count;
    const int64_t *regions = region_of_node(context, node, &count);
    for (uint32_t k = 0; k < count; ++k)
        KEEL_TRY(visit_region(order, (uint32_t)regions[k]));
    for (uint32_t k = 0; k < count; ++k)
        order->out->regions.data[order->regions[regions[k]]].control = order->nodes.count;
    KEEL_TRY(put(order, i));
    count = node->dtype == DTYPE_TUPLE ? trace_result_count(&context->trace, node) : 0;
    for (uint32_t k = 1; k <= count; ++k)
        KEEL_TRY(put(order, i + k));
    return NULL;
}

// A loss need not be needed itself; what is, in its region, has its place then.
static bool is_open(const order_t *order, uint32_t i, uint32_t root, bool is_loss) {
    const uint32_t *scopes = order->context->trace.scopes.data;
    return order->places[i] == KEEL_NONE && order->next[i] != KEEL_NONE &&
           (!is_loss || scopes[i] == scopes[root]);
}

// The stack may hold what a visit around this one has begun.
static keel_status_t visit(order_t *order, uint32_t root, bool is_loss) {
    const uint32_t begun = order->stack.count;
    KEEL_PUSH(&order->stack, root);
    while (order->stack.count > begun) {
        uint32_t i = order->stack.data[order->stack.count - 1];
        const node_t *node = trace_node(order->context, i);
        const bool is_done = !is_open(order, i, root, is_loss);
        if (!is_done && order->next[i] < node->operand_count) {
            uint32_t operand = trace_operand(order->context, node, order->next[i]++);
            if (is_open(order, operand, root, is_loss)) KEEL_PUSH(&order->stack, operand);
            continue;
        }
        --order->stack.count;
        if (is_done) continue;
        order->next[i] = KEEL_NONE;
        if (order->is_needed[i]) KEEL_TRY(finish(order, i));
    }
    return NULL;
}

// ---- the new trace -----------------------------------------------------------------------------

static void renumber_words(const order_t *order, const node_t *node, int64_t *words) {
    uint32_t regions;
    region_of_node(order->context, node, &regions);
    if (node->kind == NODE_BEGIN) regions = 1;
    for (uint32_t i = 0; i < regions; ++i)
        words[i] = order->regions[words[i]];
    if (node->kind == NODE_SAVED) words[0] = order->places[words[0]];
}

static keel_status_t copy_node(const order_t *order, uint32_t i) {
    const trace_t *from = &order->context->trace;
    trace_t *to = &order->out->trace;
    node_t node = from->nodes.data[i];
    const uint32_t *operands = trace_operands(from, &node);
    const int64_t *words = trace_words(from, &node);
    uint32_t scope = from->scopes.data[i];
    node.first_operand = to->operands.count;
    node.first_word = to->words.count;
    KEEL_TRY(keel_table_reserve(&to->operands, node.operand_count));
    KEEL_TRY(keel_table_reserve(&to->words, node.word_count));
    for (uint32_t k = 0; k < node.operand_count; ++k)
        to->operands.data[to->operands.count++] = order->places[operands[k]];
    for (uint32_t k = 0; k < node.word_count; ++k)
        to->words.data[to->words.count++] = words[k];
    renumber_words(order, &from->nodes.data[i], to->words.data + node.first_word);
    KEEL_PUSH(&to->nodes, node);
    KEEL_PUSH(&to->sites, from->sites.data[i]);
    KEEL_PUSH(&to->namings, from->namings.data[i]);
    KEEL_PUSH(&to->scopes, scope == KEEL_NONE ? KEEL_NONE : order->regions[scope]);
    if (from->locals.count) KEEL_PUSH(&to->locals, trace_is_local(from, i));
    return NULL;
}

// All of it lies before what needs it.
static void mark(order_t *order, const uint32_t *results, uint32_t count) {
    const keel_context_t *context = order->context;
    for (uint32_t i = 0; i < count; ++i)
        order->is_needed[results[i]] = true;
    for (uint32_t i = context->trace.nodes.count; i-- > 0;) {
        const node_t *node = trace_node(context, i);
        uint32_t regions;
        if (!order->is_needed[i]) continue;
        for (uint32_t k = 0; k < node->operand_count; ++k)
            order->is_needed[trace_operand(context, node, k)] = true;
        const int64_t *of_node = region_of_node(context, node, &regions);
        for (uint32_t k = 0; k < regions; ++k)
            order->is_needed[context->regions.data[of_node[k]].end] = true;
        if (node->kind == NODE_SAVED) order->is_needed[*trace_words(&context->trace, node)] = true;
    }
}

static keel_status_t fill(order_t *order, const uint32_t *results, uint32_t count) {
    mark(order, results, count);
    KEEL_TRY(visit_losses(order, KEEL_NONE));
    KEEL_TRY(keel_table_reserve(&order->out->results, count));
    for (uint32_t i = 0; i < count; ++i) {
        KEEL_TRY(visit(order, results[i], false));
        order->out->results.data[order->out->results.count++] = order->places[results[i]];
    }
    for (uint32_t i = 0; i < order->nodes.count; ++i)
        KEEL_TRY(copy_node(order, order->nodes.data[i]));
    return NULL;
}

keel_status_t order_open(const keel_context_t *context, const uint32_t *results, uint32_t count,
                         ordered_t *out) {
    const uint32_t nodes = context->trace.nodes.count, regions = context->regions.count;
    void *memory;
    *out = (ordered_t){0};
    KEEL_TRY(keel_calloc(1, (2 * (size_t)nodes + regions) * sizeof(uint32_t) + nodes + 1, &memory));
    order_t order = {.context = context, .out = out, .places = memory};
    order.next = order.places + nodes;
    order.regions = order.next + nodes;
    order.is_needed = (bool *)(order.regions + regions);
    for (uint32_t i = 0; i < nodes; ++i)
        order.places[i] = KEEL_NONE;
    for (uint32_t i = 0; i < regions; ++i)
        order.regions[i] = KEEL_NONE;
    keel_status_t status = fill(&order, results, count);
    keel_free(memory);
    keel_free(order.nodes.data);
    keel_free(order.stack.data);
    return status;
}

void order_close(ordered_t *ordered) {
    trace_deinitialize(&ordered->trace);
    keel_free(ordered->regions.data);
    keel_free(ordered->results.data);
    *ordered = (ordered_t){0};
}
