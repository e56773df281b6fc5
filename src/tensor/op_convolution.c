// Convolutions. What a node has: x [n, c, ...], w [o, c / groups, ...] and the result [n, o, ...],
// with up to 6 dimensions in space. Its gradients are convolutions of the same kind, of operands
// whose axes are exchanged: XLA gives them whatever layout is best.
#include "tensor/operation.h"
#include "tensor/window.h"

// Words: groups, then a window for each dimension in space.
typedef struct convolution_t {
    int64_t groups;
    int32_t dimensions; // in space
    window_t windows[KEEL_CONVOLUTION_DIMENSIONS];
} convolution_t;

static void put_words(const convolution_t *convolution, int64_t *words) {
    *words = convolution->groups;
    memcpy(words + 1, convolution->windows,
           (size_t)convolution->dimensions * sizeof *convolution->windows);
}

static convolution_t read_words(const node_t *node, const int64_t *words) {
    convolution_t out = {.groups = *words,
                         .dimensions = (int32_t)(node->word_count - 1) / WINDOW_WORDS};
    memcpy(out.windows, words + 1, (size_t)out.dimensions * sizeof *out.windows);
    return out;
}

// ---- shapes -------------------------------------------------------------------------------------

// Cuts what padding takes from x, as far as that is there: XLA's CPU compiler reads beyond x where
// one end is cut and the other padded.
static keel_tensor_t cut(keel_caller_t site, keel_tensor_t x, convolution_t *convolution) {
    for (int32_t i = 0; i < convolution->dimensions && x.context; ++i) {
        window_t *window = &convolution->windows[i];
        const int64_t size = keel_shape(x).dims[2 + i];
        int64_t before = window->before < 0 ? -window->before : 0;
        int64_t after = window->after < 0 ? -window->after : 0;
        if (window->x_dilation > 1 || before + after == 0) continue;
        if (before > size) before = size;
        if (after > size - before) after = size - before;
        x = keel_slice_at(site, x, 2 + i, before, size - after);
        window->before += before;
        window->after += after;
    }
    return x;
}

static keel_tensor_t convolve(keel_caller_t site, keel_tensor_t x, keel_tensor_t w,
                              convolution_t *convolution) {
    uint32_t nodes[2];
    int64_t words[1 + KEEL_CONVOLUTION_DIMENSIONS * WINDOW_WORDS];
    keel_context_t *context = ops_begin(site, "convolution", (keel_tensor_t[]){x, w}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t *a = trace_node_shape(context, nodes[0]);
    const keel_shape_t *b = trace_node_shape(context, nodes[1]);
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype;
    if (dtype != trace_node(context, nodes[1])->dtype || !dtype_is_float(dtype))
        return ops_refuse_two(context, "convolution", nodes[0], nodes[1],
                              "are not of one dtype of floats");
    if (a->rank < 3 || a->rank != b->rank)
        return ops_refuse_two(context, "convolution", nodes[0], nodes[1],
                              "are not [n, c, ...] and [o, c / groups, ...] of one rank above 2");
    int64_t groups = convolution->groups;
    if (groups < 1 || a->dims[1] % groups || b->dims[0] % groups ||
        a->dims[1] / groups != b->dims[1])
        return ops_refuse_two(context, "convolution", nodes[0], nodes[1],
                              "do not fit: the channels of x are those of w for each group, and "
                              "the groups divide both");
    node_spec_t spec = {.kind = NODE_CONVOLUTION,
                        .op = (int)ops_precision(context),
                        .dtype = dtype,
                        .shape = {.rank = a->rank, .dims = {a->dims[0], b->dims[0]}},
                        .words = words,
                        .word_count = 1 + (uint32_t)convolution->dimensions * WINDOW_WORDS};
    for (int32_t i = 0; i < convolution->dimensions; ++i) {
        const window_t *window = &convolution->windows[i];
        if (!window_is_good(window, a->dims[2 + i], b->dims[2 + i]))
            return ops_refuse_two(context, "convolution", nodes[0], nodes[1],
                                  "with a stride, padding or dilation that is not possible");
        spec.shape.dims[2 + i] = window_count(window, a->dims[2 + i], b->dims[2 + i]);
    }
    x = cut(site, ops_tensor(context, nodes[0]), convolution);
    if (!x.context) return x;
    nodes[0] = x.id;
    put_words(convolution, words);
    return trace_add(context, &spec, nodes, 2);
}

keel_tensor_t keel_convolution_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t w,
                                  const keel_convolution_t *options) {
    static const keel_convolution_t plain = {.groups = 1};
    if (!options) options = &plain;
    int32_t rank = x.context && ops_is_usable(x) ? keel_shape(x).rank : 0;
    convolution_t convolution = {.groups = window_or_one(options->groups),
                                 .dimensions = rank > 2 ? rank - 2 : 0};
    for (int32_t i = 0; i < convolution.dimensions; ++i)
        convolution.windows[i] = (window_t){.stride = window_or_one(options->stride[i]),
                                            .before = options->before[i],
                                            .after = options->after[i],
                                            .dilation = window_or_one(options->dilation[i]),
                                            .x_dilation = window_or_one(options->x_dilation[i])};
    return convolve(site, x, w, &convolution);
}

// ---- in HLO -------------------------------------------------------------------------------------

static keel_status_t put_numbers(emitter_t *e, int32_t dimensions, fields_t *fields) {
    static const int64_t space[KEEL_CONVOLUTION_DIMENSIONS] = {2, 3, 4, 5, 6, 7};
    fields_t numbers = {0};
    uint32_t count = (uint32_t)dimensions;
    KEEL_TRY(emit_int(e, &numbers, "input_feature_dimension", 1));
    KEEL_TRY(emit_ints(e, &numbers, "input_spatial_dimensions", space, count));
    KEEL_TRY(emit_int(e, &numbers, "kernel_input_feature_dimension", 1));
    KEEL_TRY(emit_ints(e, &numbers, "kernel_spatial_dimensions", space, count));
    KEEL_TRY(emit_int(e, &numbers, "output_feature_dimension", 1));
    KEEL_TRY(emit_ints(e, &numbers, "output_spatial_dimensions", space, count));
    return emit_message(e, fields, "convolution_dimension_numbers", &numbers);
}

static keel_status_t emit_convolution(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    const convolution_t convolution = read_words(item->node, item->words);
    const keel_shape_t *w = trace_node_shape(e->context, trace_operand(e->context, item->node, 1));
    fields_t fields = {0};
    KEEL_TRY(emit_window(e, &fields, convolution.windows, w->dims + 2, convolution.dimensions));
    KEEL_TRY(put_numbers(e, convolution.dimensions, &fields));
    KEEL_TRY(emit_int(e, &fields, "feature_group_count", convolution.groups));
    KEEL_TRY(emit_int(e, &fields, "batch_group_count", 1));
    KEEL_TRY(emit_precision(e, item->node, &fields));
    return emit_plain(e, item, "convolution", &fields, out);
}

// ---- gradients ----------------------------------------------------------------------------------

// [a, b, ...] -> [b, a, ...]
static keel_tensor_t exchange(keel_caller_t site, keel_tensor_t x) {
    keel_axes_t order = keel_all_axes(x);
    order.items[0] = 1;
    order.items[1] = 0;
    return keel_transpose_at(site, x, order);
}

// [groups * a, b, ...] -> [groups * b, a, ...]: exchanged in each group. Everything in space is one
// axis for a while, so that there are axes enough.
static keel_tensor_t exchange_in_groups(keel_caller_t site, keel_tensor_t x, int64_t groups) {
    if (groups == 1) return exchange(site, x);
    const keel_shape_t shape = keel_shape(x);
    int64_t a = shape.dims[0] / groups, b = shape.dims[1], space = 1;
    for (int32_t i = 2; i < shape.rank; ++i)
        space *= shape.dims[i];
    x = keel_reshape_at(site, x, KEEL_SHAPE(groups, a, b, space));
    x = keel_transpose_at(site, x, KEEL_AXES(0, 2, 1, 3));
    keel_shape_t back = shape;
    back.dims[0] = groups * b;
    back.dims[1] = a;
    return keel_reshape_at(site, x, back);
}

// [n, groups * c, ...] -> [c, groups * n, ...]
static keel_tensor_t groups_to_channels(keel_caller_t site, keel_tensor_t x, int64_t groups) {
    if (groups == 1) return exchange(site, x);
    const keel_shape_t shape = keel_shape(x);
    int64_t n = shape.dims[0], c = shape.dims[1] / groups, space = 1;
    for (int32_t i = 2; i < shape.rank; ++i)
        space *= shape.dims[i];
    x = keel_reshape_at(site, x, KEEL_SHAPE(n, groups, c, space));
    x = keel_transpose_at(site, x, KEEL_AXES(2, 1, 0, 3));
    keel_shape_t back = shape;
    back.dims[0] = c;
    back.dims[1] = groups * n;
    return keel_reshape_at(site, x, back);
}

static keel_tensor_t reverse_space(keel_caller_t site, keel_tensor_t x) {
    keel_axes_t axes = {.count = keel_shape(x).rank - 2};
    for (int32_t i = 0; i < axes.count; ++i)
        axes.items[i] = 2 + i;
    return keel_reverse_at(site, x, axes);
}

// Of x: each element of the gradient is spread over what it was computed of.
static keel_tensor_t gradient_of_x(const rule_t *rule, const convolution_t *convolution,
                                   const keel_shape_t *x, keel_tensor_t w) {
    convolution_t back = {.groups = convolution->groups, .dimensions = convolution->dimensions};
    const keel_shape_t g = keel_shape(rule->gradient), kernel = keel_shape(w);
    for (int32_t i = 0; i < back.dimensions; ++i)
        back.windows[i] = window_back(&convolution->windows[i], x->dims[2 + i], kernel.dims[2 + i],
                                      g.dims[2 + i]);
    w = reverse_space(rule->site, exchange_in_groups(rule->site, w, back.groups));
    return convolve(rule->site, rule->gradient, w, &back);
}

// Of w: x convolved with the gradient, summed over the batch.
static keel_tensor_t gradient_of_w(const rule_t *rule, const convolution_t *convolution,
                                   keel_tensor_t x, const keel_shape_t *w) {
    convolution_t back = {.groups = convolution->groups, .dimensions = convolution->dimensions};
    const keel_shape_t g = keel_shape(rule->gradient), from = keel_shape(x);
    for (int32_t i = 0; i < back.dimensions; ++i) {
        const window_t *window = &convolution->windows[i];
        int64_t needed = window_dilated(g.dims[2 + i], window->stride) +
                         window_dilated(w->dims[2 + i], window->dilation) - 1;
        back.windows[i] = (window_t){
            .stride = window->dilation,
            .before = window->before,
            .after = needed - window_dilated(from.dims[2 + i], window->x_dilation) - window->before,
            .dilation = window->stride,
            .x_dilation = window->x_dilation};
    }
    x = groups_to_channels(rule->site, x, back.groups);
    return exchange(rule->site,
                    convolve(rule->site, x, exchange(rule->site, rule->gradient), &back));
}

static keel_tensor_t gradient_convolution(const rule_t *rule, int which) {
    const convolution_t convolution =
        read_words(&rule->node, trace_words(&rule->context->trace, &rule->node));
    keel_tensor_t x = gradient_operand(rule, 0), w = gradient_operand(rule, 1);
    const keel_shape_t of_x = keel_shape(x), of_w = keel_shape(w);
    int64_t count;
    if (!shape_elements(trace_node_shape(rule->context, rule->index), &count) || !count)
        return (keel_tensor_t){0};
    keel_precision_begin_at(rule->site, rule->context, (keel_precision_t)rule->node.op);
    keel_tensor_t gradient = which ? gradient_of_w(rule, &convolution, x, &of_w)
                                   : gradient_of_x(rule, &convolution, &of_x, w);
    keel_precision_end(rule->context);
    return gradient;
}

const operation_t operation_convolution = {emit_convolution, gradient_convolution,
                                           SHARDING_OF_OPERANDS};
