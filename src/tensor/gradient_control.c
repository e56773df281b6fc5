// Gradients of loops, branches and checkpoints.
#include "tensor/gradient.h"

// The gradient of a control node under construction.
typedef struct back_t {
    const rule_t *rule;
    keel_context_t *context;
    uint32_t control; // of the forward pass: the node of the rule, or its copy where we are
    node_t node;
    int64_t words[6];
    frame_t frame;
    reverse_t inner;
    list_t operands;            // of the gradient's node
    list_t given;               // what the region gives
    list_t targets;             // operands of the rule's node that get the results, or KEEL_NONE
    list_t parameters;          // of the forward region, by number
    KEEL_TABLE(result_t) types; // of results
} back_t;

static bool took(const back_t *back, keel_status_t status) {
    if (!status) return true;
    context_take(back->context, back->rule->site, status);
    return false;
}

static bool push(back_t *back, list_t *list, uint32_t node) {
    if (!took(back, keel_table_reserve(list, 1))) return false;
    list->data[list->count++] = node;
    return true;
}

static bool push_tensor(back_t *back, list_t *list, keel_tensor_t tensor) {
    return tensor.context && push(back, list, tensor.id);
}

static uint32_t operand(const back_t *back, uint32_t which) {
    return trace_operand(back->context, &back->node, which);
}

// Whether an operand of the rule's node gets a gradient.
static bool is_wanted(const back_t *back, uint32_t which) {
    uint32_t node = trace_operand(back->context, &back->rule->node, which);
    return back->rule->reverse->is_needed[node] &&
           dtype_has_gradient((keel_dtype_t)trace_node(back->context, node)->dtype);
}

static keel_tensor_t zeros(const back_t *back, const result_t *type) {
    return keel_broadcast_at(back->rule->site, ops_constant(back->context, type->dtype, 0),
                             type->shape);
}

// The gradient of a result of the rule's node; empty if it has none.
static keel_tensor_t adjoint_of_part(const back_t *back, uint32_t which) {
    return reverse_adjoint(back->rule->reverse, back->rule->index + 1 + which);
}

// The same of a node that was saved for another gradient, if it is of the rule's node.
static keel_tensor_t adjoint_of_saved(const back_t *back, uint32_t i) {
    const node_t *node = trace_node(back->context, i);
    bool is_it =
        node->kind == NODE_SAVED && trace_operand(back->context, node, 0) == back->rule->index;
    return is_it ? reverse_adjoint(back->rule->reverse, i) : (keel_tensor_t){0};
}

static keel_tensor_t or_zeros(const back_t *back, keel_tensor_t tensor, uint32_t like) {
    const result_t type = region_node_type(back->context, like);
    return tensor.context ? tensor : zeros(back, &type);
}

static bool open_back(back_t *back, const rule_t *rule, uint32_t control) {
    *back = (back_t){.rule = rule,
                     .context = rule->context,
                     .control = control,
                     .node = *trace_node(rule->context, control)};
    for (uint32_t i = 0; i < back->node.word_count && i < 6; ++i)
        back->words[i] = trace_words(&rule->context->trace, &back->node)[i];
    return true;
}

static void close_inner(back_t *back) {
    frame_close(&back->frame);
    reverse_close(&back->inner);
    back->frame = (frame_t){0};
    back->inner = (reverse_t){0};
}

static void close_back(back_t *back) {
    close_inner(back);
    void *const parts[] = {back->operands.data, back->given.data, back->targets.data,
                           back->parameters.data, back->types.data};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_free(parts[i]);
}

// The walk over a region of the forward pass.
static bool open_inner(back_t *back, uint32_t region) {
    keel_context_t *context = back->context;
    uint32_t begin = context->regions.data[region].begin, end = context->regions.data[region].end;
    if (!frame_open(&back->frame, context, back->control, region) ||
        !reverse_open(&back->inner, context, &back->frame, begin + 1, end))
        return false;
    back->parameters.count = 0;
    for (uint32_t i = begin; i < end; ++i) {
        const node_t *node = trace_node(context, i);
        if (node->kind != NODE_PARAMETER || context->trace.scopes.data[i] != region) continue;
        while (back->parameters.count <= (uint32_t)*trace_words(&context->trace, node))
            if (!push(back, &back->parameters, KEEL_NONE)) return false;
        back->parameters.data[*trace_words(&context->trace, node)] = i;
    }
    return true;
}

static uint32_t parameter(const back_t *back, uint32_t which) {
    return which < back->parameters.count ? back->parameters.data[which] : KEEL_NONE;
}

static void need(back_t *back, uint32_t node) {
    if (node != KEEL_NONE) back->inner.is_needed[node] = true;
}

// The gradient of the forward region's parameter; empty if it has none.
static keel_tensor_t adjoint_of_parameter(const back_t *back, uint32_t which) {
    uint32_t node = parameter(back, which);
    return node == KEEL_NONE ? (keel_tensor_t){0} : reverse_adjoint(&back->inner, node);
}

static bool add_type(back_t *back, const result_t *type) {
    if (!took(back, keel_table_reserve(&back->types, 1))) return false;
    back->types.data[back->types.count++] = *type;
    return true;
}

// Appends the gradient's node, and gives its results to their targets.
static bool add_node(back_t *back, node_kind_t kind, const int64_t *words, uint32_t word_count,
                     uint32_t region_count) {
    keel_context_t *context = back->context;
    const node_spec_t spec = {.kind = kind, .words = words, .word_count = word_count};
    void *memory;
    context->site = back->rule->site;
    if (!took(back, region_captures(context, words, region_count, &back->operands)) ||
        !took(back, keel_calloc((size_t)back->types.count + 1, sizeof(keel_tensor_t), &memory)))
        return false;
    keel_tensor_t *out = memory;
    uint32_t node = trace_add_tuple(context, &spec, back->operands.data, back->operands.count,
                                    back->types.data, back->types.count, out);
    for (uint32_t i = 0; i < region_count; ++i)
        context->regions.data[words[i]].control = node;
    for (uint32_t i = 0; i < back->types.count && node != KEEL_NONE; ++i)
        reverse_give(back->rule->reverse,
                     trace_operand(context, &back->rule->node, back->targets.data[i]), out[i]);
    keel_free(memory);
    return node != KEEL_NONE;
}

// ---- scan --------------------------------------------------------------------------------------
//
// The gradient is a scan from the last step to the first. It carries the gradients of the carries
// that are floats, and the sums of those of what was captured; it gets those of the outputs, and
// gives those of the inputs.

enum { SCAN_REGION, SCAN_LENGTH, SCAN_CARRIES, SCAN_INPUTS, SCAN_IS_REVERSED, SCAN_SAVE };

static bool is_float_carry(const back_t *back, uint32_t which) {
    return dtype_has_gradient((keel_dtype_t)trace_node(back->context, operand(back, which))->dtype);
}

static uint32_t first_capture(const back_t *back) {
    return (uint32_t)(back->words[SCAN_CARRIES] + back->words[SCAN_INPUTS]);
}

// Results of the region, in their order: gradients of carries, captures, inputs.
static bool choose_targets(back_t *back) {
    uint32_t carries = (uint32_t)back->words[SCAN_CARRIES], first = first_capture(back);
    for (uint32_t i = 0; i < carries; ++i)
        if (is_float_carry(back, i) && !push(back, &back->targets, i)) return false;
    for (uint32_t i = first; i < back->node.operand_count; ++i)
        if (is_wanted(back, i) && !push(back, &back->targets, i)) return false;
    for (uint32_t i = carries; i < first; ++i)
        if (is_wanted(back, i) && !push(back, &back->targets, i)) return false;
    return true;
}

static bool is_input(const back_t *back, uint32_t target) {
    return target >= (uint32_t)back->words[SCAN_CARRIES] && target < first_capture(back);
}

// The carries that the gradient begins with.
static bool add_first_carries(back_t *back) {
    uint32_t carries = (uint32_t)back->words[SCAN_CARRIES];
    for (uint32_t i = 0; i < back->targets.count; ++i) {
        uint32_t target = back->targets.data[i];
        if (is_input(back, target)) continue;
        keel_tensor_t given = target < carries ? adjoint_of_part(back, target) : (keel_tensor_t){0};
        const result_t type = region_node_type(back->context, operand(back, target));
        if (!push_tensor(back, &back->operands, or_zeros(back, given, operand(back, target))) ||
            !add_type(back, &type))
            return false;
    }
    return true;
}

// A node of the forward region whose gradient the walk has: an output, or one that was saved for
// another gradient. It becomes an input, and its node a seed.
static bool add_seed(back_t *back, keel_tensor_t gradient, uint32_t node, list_t *seeds) {
    return !gradient.context ||
           (push(back, &back->operands, gradient.id) && push(back, seeds, node));
}

static bool can_seed(const back_t *back, uint32_t saved) {
    keel_context_t *context = back->context;
    if (trace_node(context, context->regions.data[context->trace.scopes.data[saved]].control)
            ->kind == back->node.kind)
        return true;
    context_fail(context, back->rule->site,
                 "gradients: of a gradient of a checkpoint in a body; there is none");
    return false;
}

static bool add_seeds(back_t *back, list_t *seeds) {
    keel_context_t *context = back->context;
    const rule_t *rule = back->rule;
    const uint32_t *results = region_results(context, (uint32_t)back->words[SCAN_REGION]);
    uint32_t count = trace_result_count(&context->trace, &back->node);
    for (uint32_t i = (uint32_t)back->words[SCAN_CARRIES]; i < count; ++i)
        if (!add_seed(back, adjoint_of_part(back, i), results[i], seeds)) return false;
    for (uint32_t i = rule->index; i < rule->reverse->end; ++i) {
        keel_tensor_t gradient = adjoint_of_saved(back, i);
        if (!gradient.context) continue;
        uint32_t saved = (uint32_t)*trace_words(&context->trace, trace_node(context, i));
        if (!can_seed(back, saved)) return false;
        if (back->control != rule->index) saved = rule->reverse->frame->values[saved]; // a copy
        if (!add_seed(back, gradient, saved, seeds)) return false;
    }
    return true;
}

// Parameters of the region, as gradients of what the forward region gives.
static bool seed(back_t *back, const list_t *seeds, list_t *carried) {
    keel_context_t *context = back->context;
    uint32_t carries = back->types.count;
    for (uint32_t i = 0; i < carries + seeds->count; ++i) {
        result_t type =
            i < carries ? back->types.data[i] : region_node_type(context, seeds->data[i - carries]);
        keel_tensor_t given = region_parameter(context, i, &type);
        if (!push_tensor(back, carried, given)) return false;
        if (i >= carries) {
            reverse_give(&back->inner, seeds->data[i - carries], given);
        } else if (back->targets.data[i] < (uint32_t)back->words[SCAN_CARRIES]) {
            uint32_t region = (uint32_t)back->words[SCAN_REGION];
            reverse_give(&back->inner, region_results(context, region)[back->targets.data[i]],
                         given);
        }
    }
    for (uint32_t i = 0; i < back->targets.count; ++i) {
        uint32_t target = back->targets.data[i];
        need(back, target < first_capture(back) ? parameter(back, target) : operand(back, target));
    }
    return true;
}

static bool give_step(back_t *back, const list_t *carried) {
    for (uint32_t i = 0; i < back->targets.count; ++i) {
        uint32_t target = back->targets.data[i];
        keel_tensor_t part;
        if (target < first_capture(back)) {
            part = or_zeros(back, adjoint_of_parameter(back, target), parameter(back, target));
        } else {
            keel_tensor_t more = reverse_adjoint(&back->inner, operand(back, target));
            part = gradient_tensor(back->context, carried->data[i]);
            if (more.context) part = keel_binary_at(back->rule->site, KEEL_OP_ADD, part, more);
        }
        if (!push_tensor(back, &back->given, part)) return false;
    }
    return true;
}

// The gradient's region; back where it was opened, whatever happens.
static bool trace_step(back_t *back, const list_t *seeds, uint32_t *out) {
    list_t carried = {0};
    *out = region_open(back->context);
    if (*out == KEEL_NONE) return false;
    bool is_good = seed(back, seeds, &carried);
    if (is_good) reverse_run(&back->inner);
    back->context->site = back->rule->site;
    is_good = is_good && !back->context->error && give_step(back, &carried);
    keel_free(carried.data);
    return region_close(back->context, back->given.data, back->given.count) && is_good;
}

// What was saved of the forward pass, as inputs.
static bool add_saved(back_t *back) {
    keel_context_t *context = back->context;
    for (uint32_t i = 0; i < back->frame.saved.count; ++i) {
        uint32_t node = back->frame.saved.data[i], input = KEEL_NONE;
        for (uint32_t k = (uint32_t)back->words[SCAN_CARRIES]; k < first_capture(back); ++k)
            if (parameter(back, k) == node) input = operand(back, k);
        const keel_shape_t shape =
            shape_stacked(trace_node_shape(context, node), back->words[SCAN_LENGTH]);
        keel_tensor_t saved = input == KEEL_NONE ? frame_saved(context, back->control, node, &shape)
                                                 : gradient_tensor(context, input);
        if (!push_tensor(back, &back->operands, saved)) return false;
    }
    return true;
}

static bool add_input_types(back_t *back) {
    for (uint32_t i = back->types.count; i < back->targets.count; ++i) {
        const result_t type = region_node_type(back->context, operand(back, back->targets.data[i]));
        if (!add_type(back, &type)) return false;
    }
    return true;
}

static bool back_through_scan(back_t *back) {
    list_t seeds = {0};
    uint32_t region = KEEL_NONE;
    bool is_good = choose_targets(back) && add_first_carries(back);
    uint32_t carries = back->operands.count;
    is_good =
        is_good && add_seeds(back, &seeds) && open_inner(back, (uint32_t)back->words[SCAN_REGION]);
    back->frame.save = (keel_save_t)back->words[SCAN_SAVE];
    back->frame.first_parameter = back->operands.count;
    is_good =
        is_good && trace_step(back, &seeds, &region) && add_saved(back) && add_input_types(back);
    keel_free(seeds.data);
    const int64_t words[] = {region,
                             back->words[SCAN_LENGTH],
                             carries,
                             back->operands.count - carries,
                             !back->words[SCAN_IS_REVERSED],
                             back->words[SCAN_SAVE]};
    return is_good && add_node(back, NODE_SCAN, words, 6, 1);
}

// ---- branches ----------------------------------------------------------------------------------

// What one branch gives to each target.
static bool trace_branch(back_t *back, uint32_t region, uint32_t *out) {
    keel_context_t *context = back->context;
    uint32_t count = trace_result_count(&context->trace, &back->node);
    back->given.count = 0;
    if (!open_inner(back, region)) return false;
    back->frame.save = KEEL_SAVE_NOTHING;
    *out = region_open(context);
    if (*out == KEEL_NONE) return false;
    for (uint32_t i = 0; i < count; ++i)
        if (adjoint_of_part(back, i).context)
            reverse_give(&back->inner, region_results(context, region)[i],
                         adjoint_of_part(back, i));
    for (uint32_t i = 0; i < back->targets.count; ++i)
        if (operand(back, back->targets.data[i]) < back->inner.end)
            need(back, operand(back, back->targets.data[i]));
    reverse_run(&back->inner);
    context->site = back->rule->site;
    bool is_good = !context->error;
    for (uint32_t i = 0; i < back->targets.count && is_good; ++i) {
        uint32_t node = operand(back, back->targets.data[i]);
        keel_tensor_t given =
            node < back->inner.end ? reverse_adjoint(&back->inner, node) : (keel_tensor_t){0};
        is_good = push_tensor(back, &back->given, or_zeros(back, given, node));
    }
    return region_close(context, back->given.data, back->given.count) && is_good;
}

static bool back_through_switch(back_t *back) {
    keel_context_t *context = back->context;
    uint32_t count, region;
    region_of_node(context, &back->node, &count);
    KEEL_TABLE(int64_t) words = {0};
    bool is_good = took(back, keel_table_reserve(&words, count)) &&
                   push(back, &back->operands, operand(back, 0));
    for (uint32_t i = 1; i < back->node.operand_count && is_good; ++i) {
        const result_t type = region_node_type(context, operand(back, i));
        if (is_wanted(back, i)) is_good = push(back, &back->targets, i) && add_type(back, &type);
    }
    for (uint32_t i = 0; i < count && is_good; ++i) {
        region = (uint32_t)trace_words(&context->trace, &back->node)[i];
        is_good = trace_branch(back, region, &region);
        close_inner(back);
        if (is_good) words.data[words.count++] = region;
    }
    is_good = is_good && add_node(back, NODE_SWITCH, words.data, count, count);
    keel_free(words.data);
    return is_good;
}

// ---- checkpoints -------------------------------------------------------------------------------
//
// The region is traced again where we are, from its operands behind a barrier with its gradients:
// so nothing of it is computed before the gradients are there, or taken from the forward pass.

enum { CHECKPOINT_REGION, CHECKPOINT_SAVE, CHECKPOINT_INPUTS };

static bool add_barrier(back_t *back, list_t *results, keel_tensor_t **out) {
    keel_context_t *context = back->context;
    uint32_t operands = back->node.operand_count;
    uint32_t count = trace_result_count(&context->trace, &back->node);
    const uint32_t *given = region_results(context, (uint32_t)back->words[CHECKPOINT_REGION]);
    for (uint32_t i = 0; i < operands; ++i)
        if (!push_tensor(back, &back->operands,
                         reverse_value(back->rule->reverse, operand(back, i))))
            return false;
    for (uint32_t i = 0; i < count; ++i) {
        keel_tensor_t gradient = adjoint_of_part(back, i);
        if (gradient.context &&
            (!push(back, &back->operands, gradient.id) || !push(back, results, given[i])))
            return false;
    }
    for (uint32_t i = back->rule->index; i < back->rule->reverse->end; ++i) {
        keel_tensor_t gradient = adjoint_of_saved(back, i);
        if (gradient.context &&
            (!push(back, &back->operands, gradient.id) ||
             !push(back, results, (uint32_t)*trace_words(&context->trace, trace_node(context, i)))))
            return false;
    }
    for (uint32_t i = 0; i < back->operands.count; ++i) {
        const result_t type = region_node_type(context, back->operands.data[i]);
        if (!add_type(back, &type)) return false;
    }
    void *memory;
    const node_spec_t spec = {.kind = NODE_BARRIER};
    if (!took(back, keel_calloc(back->types.count, sizeof(keel_tensor_t), &memory))) return false;
    *out = memory;
    context->site = back->rule->site;
    return trace_add_tuple(context, &spec, back->operands.data, back->operands.count,
                           back->types.data, back->types.count, *out) != KEEL_NONE;
}

static uint32_t inside(const back_t *back, uint32_t which) {
    return which < (uint32_t)back->words[CHECKPOINT_INPUTS] ? parameter(back, which)
                                                            : operand(back, which);
}

static bool back_through_checkpoint(back_t *back) {
    list_t results = {0};
    keel_tensor_t *behind = NULL;
    uint32_t operands = back->node.operand_count;
    bool is_good = add_barrier(back, &results, &behind) &&
                   open_inner(back, (uint32_t)back->words[CHECKPOINT_REGION]);
    back->frame.outer = back->rule->reverse->frame;
    back->frame.save = (keel_save_t)back->words[CHECKPOINT_SAVE];
    for (uint32_t i = 0; i < operands && is_good; ++i) {
        uint32_t node = inside(back, i);
        if (node == KEEL_NONE) continue;
        back->frame.values[node] = behind[i].id;
        if (is_wanted(back, i)) need(back, node);
    }
    for (uint32_t i = 0; i < results.count && is_good; ++i)
        reverse_give(&back->inner, results.data[i], behind[operands + i]);
    if (is_good) reverse_run(&back->inner);
    is_good = is_good && !back->context->error;
    back->context->site = back->rule->site;
    for (uint32_t i = 0; i < operands && is_good; ++i)
        if (is_wanted(back, i) && inside(back, i) != KEEL_NONE)
            reverse_give(back->rule->reverse, operand(back, i),
                         reverse_adjoint(&back->inner, inside(back, i)));
    keel_free(behind);
    keel_free(results.data);
    return is_good;
}

// ---- all ---------------------------------------------------------------------------------------

bool gradient_is_control(const node_t *node) {
    return node->kind == NODE_WHILE || node->kind == NODE_SCAN || node->kind == NODE_SWITCH ||
           node->kind == NODE_CHECKPOINT || node->kind == NODE_CUSTOM;
}

void gradient_control(const rule_t *rule) {
    back_t back;
    uint32_t control = rule->index;
    if (rule->node.kind == NODE_WHILE) {
        context_fail(rule->context, rule->site,
                     "while: it has no gradient, as its steps are not known; use keel_scan with "
                     "the most steps that there can be");
        return;
    }
    if (rule->node.kind == NODE_CUSTOM) {
        gradient_custom(rule);
        return;
    }
    if (rule->node.kind != NODE_CHECKPOINT) control = reverse_value(rule->reverse, control).id;
    if (rule->context->error || !open_back(&back, rule, control)) return;
    if (rule->node.kind == NODE_SCAN)
        back_through_scan(&back);
    else if (rule->node.kind == NODE_SWITCH)
        back_through_switch(&back);
    else
        back_through_checkpoint(&back);
    close_back(&back);
}
