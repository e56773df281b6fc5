// What a body's nodes were, where its gradient is computed: saved, or copied and computed again.
#include "tensor/gradient.h"

bool frame_open(frame_t *frame, keel_context_t *context, uint32_t control, uint32_t region) {
    uint32_t count = context->regions.data[region].end + 1;
    void *memory;
    *frame = (frame_t){.context = context, .control = control, .region = region};
    keel_status_t status = keel_alloc(count * sizeof(uint32_t), &memory);
    if (status) {
        context_take(context, context->site, status);
        return false;
    }
    frame->values = memory;
    for (uint32_t i = 0; i < count; ++i)
        frame->values[i] = KEEL_NONE;
    return true;
}

void frame_close(frame_t *frame) {
    void *const parts[] = {frame->values, frame->saved.data, frame->stack.data,
                           frame->operands.data, frame->words.data};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_free(parts[i]);
}

static bool took(const frame_t *frame, keel_status_t status) {
    if (!status) return true;
    context_take(frame->context, frame->context->site, status);
    return false;
}

// ---- saving ------------------------------------------------------------------------------------

static bool keeps(keel_save_t save, const node_t *node) {
    switch ((node_kind_t)node->kind) {
        case NODE_CONSTANT: // as cheap as what is saved
        case NODE_LITERAL:
        case NODE_IOTA:
        case NODE_BROADCAST:
        case NODE_STOP:
            return false;
        case NODE_DOT:
            return save != KEEL_SAVE_NOTHING;
        default:
            return save == KEEL_SAVE_ALL && node->dtype != DTYPE_TUPLE;
    }
}

static bool is_kept(const frame_t *frame, uint32_t i) {
    const node_t *node = trace_node(frame->context, i);
    if (node->kind == NODE_PARAMETER) return true; // those of other regions have their values
    if (trace_is_local(&frame->context->trace, i)) return false; // each device has its own value
    for (; frame; frame = frame->outer)
        if (!keeps(frame->save, node)) return false;
    return true;
}

keel_tensor_t frame_saved(keel_context_t *context, uint32_t control, uint32_t node,
                          const keel_shape_t *shape) {
    const int64_t words[] = {node};
    const node_spec_t spec = {.kind = NODE_SAVED,
                              .dtype = (keel_dtype_t)trace_node(context, node)->dtype,
                              .shape = *shape,
                              .words = words,
                              .word_count = 1};
    // What a node behind it takes of it must be of its region.
    if (context->trace.scopes.data[control] != context->region)
        return context_fail(context, context->site,
                            "gradients: in a body, of a loop or checkpoint outside it; take them "
                            "outside");
    return trace_add(context, &spec, &control, 1);
}

static uint32_t save(frame_t *frame, uint32_t node) {
    keel_context_t *context = frame->context;
    const result_t type = region_node_type(context, node);
    if (frame->outer) return save(frame->outer, node);
    if (trace_node(context, frame->control)->kind == NODE_CHECKPOINT) {
        keel_tensor_t saved = frame_saved(context, frame->control, node, &type.shape);
        return saved.context ? saved.id : KEEL_NONE;
    }
    if (!took(frame, keel_table_reserve(&frame->saved, 1))) return KEEL_NONE;
    keel_tensor_t parameter =
        region_parameter(context, frame->first_parameter + frame->saved.count, &type);
    frame->saved.data[frame->saved.count++] = node;
    return parameter.context ? parameter.id : KEEL_NONE;
}

// ---- copying -----------------------------------------------------------------------------------

static uint32_t known(const frame_t *frame, uint32_t node) {
    const region_t *region = &frame->context->regions.data[frame->region];
    if (node <= region->end && frame->values[node] != KEEL_NONE) return frame->values[node];
    return region_has(frame->context, frame->region, node) ? KEEL_NONE : node;
}

// The operands where they are now; false if one of them is not.
static bool read_operands(frame_t *frame, const node_t *node) {
    frame->operands.count = 0;
    if (!took(frame, keel_table_reserve(&frame->operands, node->operand_count))) return false;
    for (uint32_t i = 0; i < node->operand_count; ++i) {
        uint32_t value = known(frame, trace_operand(frame->context, node, i));
        if (value == KEEL_NONE) return false;
        frame->operands.data[frame->operands.count++] = value;
    }
    return true;
}

// A node with the operands at hand. Regions are `shift` further.
static uint32_t copy_node(frame_t *frame, uint32_t i, uint32_t shift) {
    keel_context_t *context = frame->context;
    const node_t node = *trace_node(context, i);
    uint32_t regions;
    frame->words.count = 0;
    if (!took(frame, keel_table_reserve(&frame->words, node.word_count))) return KEEL_NONE;
    for (uint32_t k = 0; k < node.word_count; ++k)
        frame->words.data[frame->words.count++] = trace_words(&context->trace, &node)[k];
    region_of_node(context, &node, &regions);
    for (uint32_t k = 0; k < regions; ++k)
        frame->words.data[k] += shift;
    if (node.kind == NODE_SAVED)
        frame->words.data[0] = known(frame, (uint32_t)frame->words.data[0]);
    const node_spec_t spec = {.kind = (node_kind_t)node.kind,
                              .op = node.op,
                              .dtype = (keel_dtype_t)node.dtype,
                              .shape = context->shapes.data[node.shape],
                              .words = frame->words.data,
                              .word_count = node.word_count};
    context->site = context->trace.sites.data[i];
    keel_tensor_t copy = trace_add(context, &spec, frame->operands.data, frame->operands.count);
    if (!copy.context) return KEEL_NONE;
    for (uint32_t k = 0; k < regions; ++k)
        context->regions.data[frame->words.data[k]].control = copy.id;
    return copy.id;
}

// A node of a region that is copied. What its results do not need may lack operands: it is left
// out.
static void copy_inner(frame_t *frame, uint32_t i, uint32_t shift) {
    keel_context_t *context = frame->context;
    const node_t node = *trace_node(context, i);
    bool is_whole = read_operands(frame, &node);
    if (node.kind == NODE_BEGIN)
        region_open(context);
    else if (node.kind == NODE_END)
        region_close(context, frame->operands.data, is_whole ? frame->operands.count : 0);
    else if (is_whole && context->trace.scopes.data[i] != KEEL_NONE)
        frame->values[i] = copy_node(frame, i, shift);
}

static void copy_regions(frame_t *frame, const node_t *control, uint32_t *shift) {
    keel_context_t *context = frame->context;
    uint32_t count;
    region_of_node(context, control, &count);
    *shift = count ? context->regions.count - (uint32_t)*trace_words(&context->trace, control) : 0;
    for (uint32_t k = 0; k < count && !context->error; ++k) {
        const region_t region = context->regions.data[trace_words(&context->trace, control)[k]];
        for (uint32_t i = region.begin; i <= region.end && !context->error; ++i)
            copy_inner(frame, i, *shift);
    }
}

// With its regions before it, and its parts behind it.
static bool copy(frame_t *frame, uint32_t i) {
    keel_context_t *context = frame->context;
    const node_t node = *trace_node(context, i);
    uint32_t shift, opened = context->region;
    copy_regions(frame, &node, &shift);
    while (context->region != opened) // an error left some open
        region_close(context, NULL, 0);
    if (context->error || !read_operands(frame, &node)) return false;
    frame->values[i] = copy_node(frame, i, shift);
    uint32_t parts = node.dtype == DTYPE_TUPLE ? trace_result_count(&context->trace, &node) : 0;
    for (uint32_t k = i + 1; k <= i + parts && frame->values[i] != KEEL_NONE; ++k) {
        const node_t part = *trace_node(context, k);
        if (!read_operands(frame, &part)) return false;
        frame->values[k] = copy_node(frame, k, 0);
    }
    return frame->values[i] != KEEL_NONE;
}

// ---- values ------------------------------------------------------------------------------------

// One step towards the value on top of the stack.
static bool advance(frame_t *frame) {
    uint32_t node = frame->stack.data[frame->stack.count - 1];
    if (known(frame, node) != KEEL_NONE) {
        --frame->stack.count;
        return true;
    }
    if (is_kept(frame, node)) {
        frame->values[node] = save(frame, node);
        return frame->values[node] != KEEL_NONE;
    }
    const node_t it = *trace_node(frame->context, node);
    uint32_t before = frame->stack.count;
    if (!took(frame, keel_table_reserve(&frame->stack, (uint64_t)it.operand_count))) return false;
    for (uint32_t i = 0; i < it.operand_count; ++i) {
        uint32_t operand = trace_operand(frame->context, &it, i);
        if (known(frame, operand) == KEEL_NONE) frame->stack.data[frame->stack.count++] = operand;
    }
    return frame->stack.count > before || copy(frame, node);
}

uint32_t frame_value(frame_t *frame, uint32_t node) {
    frame->stack.count = 0;
    if (known(frame, node) != KEEL_NONE) return known(frame, node);
    if (!took(frame, keel_table_reserve(&frame->stack, 1))) return KEEL_NONE;
    frame->stack.data[frame->stack.count++] = node;
    while (frame->stack.count)
        if (!advance(frame)) return KEEL_NONE;
    return known(frame, node);
}
