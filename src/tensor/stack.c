// Layers as a scan, if all of them trace the same; otherwise one behind another.
#include "tensor/trace.h"

typedef struct stack_t {
    keel_context_t *context;
    keel_caller_t site;
    keel_layer_t trace;
    void *user;
    const keel_layers_t *layers;
    size_t layer;              // at hand
    uint32_t first;            // the region of the first layer
    keel_tensor_t *in;         // carries and parameters of a layer
    result_t *types;           // of these, for the first layer
    uint32_t made, made_here;  // where its numbers and those of the layer at hand begin
    uint32_t number_count;     // of each layer
    list_t numbers;            // which of these is which input of the scan
    KEEL_TABLE(uint32_t) same; // for each node of the first region, that of the layer at hand
} stack_t;

static bool took(stack_t *stack, keel_status_t status) {
    if (!status) return true;
    context_take(stack->context, stack->site, status);
    return false;
}

static void decline(stack_t *stack, const char *format, ...) KEEL_PRINTF(2, 3);
static void decline(stack_t *stack, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keel_free(stack->context->declined);
    stack->context->declined = NULL;
    took(stack, keel_strdup(keel_str(text), &stack->context->declined));
}

static bool is_declined(const stack_t *stack) {
    return stack->context->declined || stack->context->error;
}

static const keel_tensor_t *parameters_of(const stack_t *stack, size_t layer) {
    return stack->layers->parameters + layer * stack->layers->parameter_count;
}

// Whether all of them are there; otherwise the context has an error.
static bool check_tensors(const stack_t *stack, const keel_tensor_t *tensors, size_t count,
                          const char *what) {
    uint32_t node;
    for (size_t i = 0; i < count; ++i) {
        if (tensors[i].context != stack->context) {
            context_fail(stack->context, stack->site, "layers: %s %zu %s", what, i + 1,
                         tensors[i].context ? "belongs to another context" : "is empty");
            return false;
        }
        if (!ops_begin(stack->site, "layers", &tensors[i], 1, &node)) return false;
    }
    return true;
}

// ---- are they the same? ------------------------------------------------------------------------

static bool is_same_type(const result_t *x, const result_t *y) {
    return x->dtype == y->dtype && shape_equal(&x->shape, &y->shape);
}

static void compare_parameters(stack_t *stack) {
    const keel_layers_t *layers = stack->layers;
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    for (size_t l = 1; l < layers->layer_count && !is_declined(stack); ++l)
        for (size_t i = 0; i < layers->parameter_count && !is_declined(stack); ++i) {
            const keel_tensor_t x = parameters_of(stack, 0)[i], y = parameters_of(stack, l)[i];
            const result_t first = {keel_dtype(x), keel_shape(x)};
            const result_t type = {keel_dtype(y), keel_shape(y)};
            if (!is_same_type(&first, &type))
                decline(stack, "parameter %zu is %s in the first layer, and %s in layer %zu", i + 1,
                        shape_text(first.dtype, &first.shape, text),
                        shape_text(type.dtype, &type.shape, other), l + 1);
        }
}

static void trace_layer(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const stack_t *stack = user;
    stack->trace(stack->user, stack->layer, in, out);
}

static bool trace_region(stack_t *stack, uint32_t *out) {
    const keel_layers_t *layers = stack->layers;
    const body_t body = {.what = "layers",
                         .site = stack->site,
                         .trace = trace_layer,
                         .user = stack,
                         .parameters = stack->types,
                         .parameter_count =
                             (uint32_t)(layers->carry_count + layers->parameter_count),
                         .result_count = (uint32_t)layers->carry_count};
    return region_trace(stack->context, &body, out);
}

static void check_carry(stack_t *stack) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    for (uint32_t i = 0; i < stack->layers->carry_count && !is_declined(stack); ++i) {
        const result_t given =
            region_node_type(stack->context, region_results(stack->context, stack->first)[i]);
        const result_t *type = &stack->types[i];
        if (!is_same_type(type, &given))
            decline(stack, "carry %u is %s, and the first layer makes %s of it", i + 1,
                    shape_text(type->dtype, &type->shape, text),
                    shape_text(given.dtype, &given.shape, other));
    }
}

// Numbers are the same if the layers asked for them in the same place. Their values do not matter:
// a program must not depend on them.
static bool is_same_operand(const stack_t *stack, uint32_t x, uint32_t y) {
    const keel_context_t *context = stack->context;
    const uint32_t *made = context->made.data;
    if (region_has(context, stack->first, x))
        return stack->same.data[x - context->regions.data[stack->first].begin] == y;
    for (uint32_t i = 0; i < stack->number_count; ++i)
        if (made[stack->made + i] == x) return made[stack->made_here + i] == y;
    return x == y;
}

static void compare_numbers(stack_t *stack) {
    const keel_context_t *context = stack->context;
    const uint32_t count = context->made.count - stack->made_here;
    if (count != stack->number_count)
        decline(stack, "the first layer has %u numbers, and layer %zu has %u", stack->number_count,
                stack->layer + 1, count);
    for (uint32_t i = 0; i < stack->number_count && !is_declined(stack); ++i)
        if (trace_node(context, context->made.data[stack->made + i])->dtype !=
            trace_node(context, context->made.data[stack->made_here + i])->dtype)
            decline(stack, "number %u of layer %zu has a different dtype than in the first", i + 1,
                    stack->layer + 1);
}

// Regions are numbered in the order of their beginnings, so those of a layer are further by one
// distance.
static bool is_same_word(const stack_t *stack, const node_t *x, const node_t *y, uint32_t which,
                         uint32_t region) {
    const trace_t *trace = &stack->context->trace;
    const callbacks_t *customs = stack->context->customs.data;
    int64_t a = trace_words(trace, x)[which], b = trace_words(trace, y)[which];
    uint32_t regions;
    region_of_node(stack->context, x, &regions);
    if (x->kind == NODE_BEGIN || which < regions) return a - stack->first == b - region;
    if (x->kind == NODE_SAVED) return is_same_operand(stack, (uint32_t)a, (uint32_t)b);
    if (x->kind == NODE_CUSTOM && !which)
        return customs[a].backward == customs[b].backward && customs[a].user == customs[b].user;
    return a == b;
}

static bool is_same_node(const stack_t *stack, uint32_t i, uint32_t k, uint32_t region) {
    const keel_context_t *context = stack->context;
    const node_t *x = trace_node(context, i), *y = trace_node(context, k);
    if (x->kind != y->kind || x->op != y->op || x->dtype != y->dtype || x->shape != y->shape ||
        x->operand_count != y->operand_count || x->word_count != y->word_count)
        return false;
    for (uint32_t which = 0; which < x->operand_count; ++which)
        if (!is_same_operand(stack, trace_operand(context, x, which),
                             trace_operand(context, y, which)))
            return false;
    for (uint32_t which = 0; which < x->word_count; ++which)
        if (!is_same_word(stack, x, y, which, region)) return false;
    return true;
}

// The next node that is of a region.
static uint32_t skip_sources(const keel_context_t *context, uint32_t i, uint32_t end) {
    while (i < end && context->trace.scopes.data[i] == KEEL_NONE)
        ++i;
    return i;
}

static void compare_region(stack_t *stack, uint32_t region) {
    const keel_context_t *context = stack->context;
    const region_t x = context->regions.data[stack->first], y = context->regions.data[region];
    uint32_t i = x.begin + 1, k = y.begin + 1;
    stack->same.count = 0;
    if (!took(stack, keel_table_reserve(&stack->same, x.end - x.begin + 1))) return;
    for (;; ++i, ++k) {
        i = skip_sources(context, i, x.end);
        k = skip_sources(context, k, y.end);
        if (!is_same_node(stack, i, k, region)) break;
        if (i == x.end || k == y.end) return;
        stack->same.data[i - x.begin] = k;
    }
    const keel_caller_t site = context->trace.sites.data[k];
    decline(stack, "layer %zu does something else than the first at %s:%d", stack->layer + 1,
            caller_file(site), site.line);
}

static bool read_types(stack_t *stack) {
    const keel_layers_t *layers = stack->layers;
    for (size_t i = 0; i < layers->carry_count; ++i)
        stack->in[i] = layers->carry[i];
    for (size_t i = 0; i < layers->parameter_count; ++i)
        stack->in[layers->carry_count + i] = layers->parameters[i];
    for (size_t i = 0; i < layers->carry_count + layers->parameter_count; ++i)
        stack->types[i] = (result_t){keel_dtype(stack->in[i]), keel_shape(stack->in[i])};
    return !stack->context->error;
}

static void compare_layers(stack_t *stack) {
    uint32_t region;
    if (stack->layers->is_unrolled) decline(stack, "it was asked not to");
    if (stack->layers->layer_count < 2) decline(stack, "there is one layer");
    compare_parameters(stack);
    if (is_declined(stack) || !read_types(stack)) return;
    stack->layer = 0;
    stack->made = stack->context->made.count;
    if (!trace_region(stack, &stack->first)) return;
    stack->number_count = stack->context->made.count - stack->made;
    check_carry(stack);
    for (stack->layer = 1; stack->layer < stack->layers->layer_count && !is_declined(stack);
         ++stack->layer) {
        stack->made_here = stack->context->made.count;
        if (!trace_region(stack, &region)) return;
        compare_numbers(stack);
        if (!is_declined(stack)) compare_region(stack, region);
    }
}

// ---- one scan ----------------------------------------------------------------------------------

// A parameter, or a number that follows them, of one layer.
static keel_tensor_t input_of(const stack_t *stack, size_t layer, size_t which) {
    const size_t parameters = stack->layers->parameter_count;
    if (which < parameters) return parameters_of(stack, layer)[which];
    const size_t number = layer * stack->number_count + stack->numbers.data[which - parameters];
    return (keel_tensor_t){stack->context, stack->context->made.data[stack->made + number],
                           stack->context->step};
}

// The same of all layers along a new axis 0.
static keel_tensor_t stacked(stack_t *stack, size_t which) {
    const keel_layers_t *layers = stack->layers;
    void *memory;
    if (keel_shape(input_of(stack, 0, which)).rank == KEEL_MAX_RANK)
        return context_fail(stack->context, stack->site,
                            "layers: a parameter of %d dimensions cannot be stacked",
                            KEEL_MAX_RANK);
    if (!took(stack, keel_calloc(layers->layer_count, sizeof(keel_tensor_t), &memory)))
        return (keel_tensor_t){0};
    keel_tensor_t *all = memory;
    for (size_t l = 0; l < layers->layer_count; ++l)
        all[l] = input_of(stack, l, which);
    keel_tensor_t result = ops_stack(stack->site, all, (uint32_t)layers->layer_count);
    keel_free(all);
    return result;
}

static void trace_with_stand_ins(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    stack_t *stack = user;
    keel_context_t *context = stack->context;
    stand_ins_t *outer = context->stand_ins;
    stand_ins_t numbers = {in + stack->layers->carry_count + stack->layers->parameter_count,
                           stack->number_count, 0};
    context->stand_ins = &numbers;
    stack->trace(stack->user, 0, in, out);
    context->stand_ins = outer;
    if (numbers.next != numbers.count)
        context_fail(context, stack->site,
                     "layers: the layer asks for other numbers each time that it is traced");
}

// The layer once more, with parameters in the place of its numbers. What it asks for is nothing
// that a layer around it would ask for.
static bool trace_scanned(stack_t *stack, uint32_t *out) {
    const keel_layers_t *layers = stack->layers;
    keel_context_t *context = stack->context;
    const uint32_t made = context->made.count;
    const size_t fixed = layers->carry_count + layers->parameter_count;
    void *memory;
    if (!took(stack, keel_calloc(fixed + stack->number_count, sizeof(result_t), &memory)))
        return false;
    result_t *types = memory;
    memcpy(types, stack->types, fixed * sizeof *types);
    for (uint32_t i = 0; i < stack->number_count; ++i)
        types[fixed + i] = region_node_type(context, context->made.data[stack->made + i]);
    const body_t body = {.what = "layers",
                         .site = stack->site,
                         .trace = trace_with_stand_ins,
                         .user = stack,
                         .parameters = types,
                         .parameter_count = (uint32_t)fixed + stack->number_count,
                         .result_count = (uint32_t)layers->carry_count};
    bool is_good = region_trace(context, &body, out);
    context->made.count = made;
    keel_free(types);
    return is_good;
}

// The numbers in the order in which the layer's results need them; those that they do not need
// come last.
static keel_status_t sort_numbers(stack_t *stack, uint32_t region, bool *is_used, list_t *used) {
    keel_context_t *context = stack->context;
    trace_t *trace = &context->trace;
    const region_t *it = &context->regions.data[region];
    const size_t fixed = stack->layers->carry_count + stack->layers->parameter_count;
    KEEL_TRY(region_uses(context, region, is_used, used));
    KEEL_TRY(keel_table_reserve(&stack->numbers, stack->number_count));
    KEEL_TRY(keel_table_reserve(used, it->end - it->begin));
    for (uint32_t i = it->begin; i < it->end; ++i)
        if (!is_used[i]) used->data[used->count++] = i;
    for (uint32_t i = 0; i < used->count; ++i) {
        const node_t *node = trace_node(context, used->data[i]);
        int64_t *which = trace->words.data + node->first_word;
        if (node->kind != NODE_PARAMETER || trace->scopes.data[used->data[i]] != region ||
            *which < (int64_t)fixed)
            continue;
        stack->numbers.data[stack->numbers.count] = (uint32_t)(*which - (int64_t)fixed);
        *which = (int64_t)fixed + stack->numbers.count++;
    }
    return NULL;
}

// As the numbers become inputs of the scan, the order in which a compiler of C had the layer ask
// for them must not be that of the inputs.
static bool order_numbers(stack_t *stack, uint32_t region) {
    void *memory;
    list_t used = {0};
    if (!took(stack, keel_calloc((size_t)stack->context->trace.nodes.count + 1, 1, &memory)))
        return false;
    bool is_good = took(stack, sort_numbers(stack, region, memory, &used));
    keel_free(used.data);
    keel_free(memory);
    return is_good;
}

static void scan_layers(stack_t *stack, keel_tensor_t *out) {
    const keel_layers_t *layers = stack->layers;
    const size_t count = layers->parameter_count + stack->number_count;
    uint32_t region = stack->first;
    void *memory;
    if (!took(stack, keel_calloc(count + 1, sizeof(keel_tensor_t), &memory))) return;
    keel_tensor_t *inputs = memory;
    const keel_scan_t scan = {.carry = layers->carry,
                              .carry_count = layers->carry_count,
                              .inputs = inputs,
                              .input_count = count,
                              .length = (int64_t)layers->layer_count,
                              .save = layers->save};
    if (!stack->number_count || (trace_scanned(stack, &region) && order_numbers(stack, region))) {
        for (size_t i = 0; i < count; ++i)
            inputs[i] = stacked(stack, i);
        control_scan(stack->site, stack->context, &scan, region, out);
    }
    keel_free(inputs);
}

// ---- one behind another ------------------------------------------------------------------------

static void run_layer(stack_t *stack, keel_tensor_t *out) {
    const keel_layers_t *layers = stack->layers;
    size_t count = layers->carry_count;
    for (size_t i = 0; i < layers->parameter_count; ++i)
        stack->in[count + i] = parameters_of(stack, stack->layer)[i];
    for (size_t i = 0; i < count; ++i)
        out[i] = (keel_tensor_t){0};
    if (layers->save == KEEL_SAVE_ALL)
        trace_layer(stack, stack->in, out);
    else
        keel_checkpoint_at(stack->site, stack->context, trace_layer, stack, layers->save, stack->in,
                           count + layers->parameter_count, count, out);
    if (!check_tensors(stack, out, count, "result")) return;
    for (size_t i = 0; i < count; ++i)
        stack->in[i] = out[i];
}

static void unroll(stack_t *stack, keel_tensor_t *out) {
    const keel_layers_t *layers = stack->layers;
    size_t count = layers->carry_count;
    for (size_t i = 0; i < count; ++i)
        stack->in[i] = layers->carry[i];
    for (size_t l = 0; l < layers->layer_count && !stack->context->error; ++l) {
        stack->layer = l;
        run_layer(stack, out);
        bool is_last = l + 1 == layers->layer_count;
        if (layers->barrier_every && !is_last && !((l + 1) % layers->barrier_every))
            keel_barrier_at(stack->site, stack->in, count, stack->in);
    }
}

// ---- what the user calls -----------------------------------------------------------------------

static bool check(const stack_t *stack, const keel_tensor_t *out) {
    const keel_layers_t *layers = stack->layers;
    size_t limit = UINT16_MAX;
    if (layers && stack->trace && out && layers->carry && layers->carry_count &&
        layers->layer_count && (layers->parameters || !layers->parameter_count) &&
        layers->carry_count <= limit && layers->parameter_count <= limit)
        return true;
    context_fail(stack->context, stack->site,
                 "layers: a callback is needed, carries, layers and a place for the results");
    return false;
}

static bool make_room(stack_t *stack) {
    void *memory;
    size_t count = stack->layers->carry_count + stack->layers->parameter_count;
    if (!took(stack, keel_calloc(count, sizeof(keel_tensor_t), &memory))) return false;
    stack->in = memory;
    if (!took(stack, keel_calloc(count, sizeof(result_t), &memory))) return false;
    stack->types = memory;
    return true;
}

void keel_layers_at(keel_caller_t site, keel_context_t *context, keel_layer_t layer, void *user,
                    const keel_layers_t *layers, keel_tensor_t *out) {
    stack_t stack = {
        .context = context, .site = site, .trace = layer, .user = user, .layers = layers};
    if (!context) return;
    context->site = site;
    keel_free(context->declined);
    context->declined = NULL;
    ++context->layers;
    if (check(&stack, out) && make_room(&stack) &&
        check_tensors(&stack, layers->carry, layers->carry_count, "carry") &&
        check_tensors(&stack, layers->parameters, layers->parameter_count * layers->layer_count,
                      "parameter")) {
        compare_layers(&stack);
        if (context->declined && layers->layer_count > 1 && !layers->is_unrolled)
            keel_log_once("layers", "%s:%d: layers are not scanned: %s", caller_file(site),
                          site.line, context->declined);
        if (context->declined)
            unroll(&stack, out);
        else if (!context->error)
            scan_layers(&stack, out);
    }
    if (!--context->layers) context->made.count = 0;
    for (size_t i = 0; out && layers && i < layers->carry_count && context->error; ++i)
        out[i] = (keel_tensor_t){0};
    keel_free(stack.in);
    keel_free(stack.types);
    keel_free(stack.same.data);
    keel_free(stack.numbers.data);
}

const char *keel_layers_declined(const keel_context_t *context) {
    return context ? context->declined : NULL;
}
