// What a context holds, its errors, and the sources of tensors.
#include "tensor/trace.h"

// ---- errors ------------------------------------------------------------------------------------

const char *caller_file(keel_caller_t site) {
    return site.file ? site.file : "?";
}

keel_tensor_t context_take(keel_context_t *context, keel_caller_t site, keel_status_t status) {
    if (context->error)
        keel_status_ignore(status);
    else
        context->error = keel_status_annotate(status, "%s:%d", caller_file(site), site.line);
    return (keel_tensor_t){0};
}

keel_tensor_t context_fail(keel_context_t *context, keel_caller_t site, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return context_take(context, site, keel_status_make(KEEL_INVALID, "%s", text));
}

const char *keel_context_error(const keel_context_t *context) {
    return context && context->error ? keel_status_message(context->error) : NULL;
}

// ---- life --------------------------------------------------------------------------------------

static keel_status_t fill(keel_context_t *context, const keel_context_options_t *options) {
    KEEL_TRY(keel_strdup(keel_str(options->name ? options->name : "step"), &context->name));
    return device_open(options->plugin, &context->device);
}

keel_status_t keel_context_create(const keel_context_options_t *options, keel_context_t **out) {
    static const keel_context_options_t defaults = {0};
    void *memory;
    if (!out)
        return keel_status_make(KEEL_INVALID, "keel_context_create: no place for the context");
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(keel_context_t), &memory));
    keel_context_t *context = memory;
    context->step = 1;
    context->free_variable = context->region = KEEL_NONE;
    keel_map_initialize(&context->shape_ids);
    keel_status_t status = fill(context, options ? options : &defaults);
    if (status)
        keel_context_free(context);
    else
        *out = context;
    return status;
}

static void drop_inputs(keel_context_t *context) {
    for (uint32_t i = 0; i < context->used_inputs; ++i) {
        input_t *input = &context->inputs.data[i];
        device_drop(context->device, input->buffer);
        input->buffer = NULL;
    }
    context->used_inputs = 0;
}

void context_begin_step(keel_context_t *context) {
    drop_inputs(context);
    for (int dtype = 0; dtype < KEEL_DTYPE_COUNT; ++dtype)
        context->numbers[dtype].count = 0;
    for (uint32_t i = 0; i < context->variables.count; ++i) {
        variable_t *variable = &context->variables.data[i];
        variable->node = variable->use = KEEL_NONE;
        variable->is_assigned = false;
        if (variable->is_doomed) context_release(context, i);
    }
    context->used.count = context->assigned.count = 0;
    trace_clear(context);
    context->regions.count = context->customs.count = 0;
    context->region = KEEL_NONE;
    ++context->step;
}

void keel_context_free(keel_context_t *context) {
    if (!context) return;
    drop_inputs(context);
    step_forget_programs(context);
    keel_buffer_deinitialize(&context->newest);
    for (uint32_t i = 0; i < context->variables.count; ++i) {
        device_drop(context->device, context->variables.data[i].buffer);
        keel_free(context->variables.data[i].name);
    }
    for (uint32_t i = 0; i < context->inputs.count; ++i)
        keel_free(context->inputs.data[i].name);
    for (int dtype = 0; dtype < KEEL_DTYPE_COUNT; ++dtype)
        keel_free(context->numbers[dtype].data);
    void *const tables[] = {context->shapes.data,   context->variables.data, context->used.data,
                            context->assigned.data, context->inputs.data,    context->adjoints.data,
                            context->regions.data,  context->customs.data,   context->declined,
                            context->name};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
        keel_free(tables[i]);
    trace_deinitialize(&context->trace);
    keel_map_deinitialize(&context->shape_ids);
    keel_status_ignore(context->error);
    device_close(context->device);
    keel_free(context);
}

keel_figures_t keel_context_figures(const keel_context_t *context) {
    return context ? context->figures : (keel_figures_t){0};
}

// ---- tensors -----------------------------------------------------------------------------------

variable_t *context_variable(keel_tensor_t tensor) {
    uint32_t index = tensor.id & VARIABLE_INDEX;
    if (!tensor.context || tensor.step || index >= tensor.context->variables.count) return NULL;
    variable_t *variable = &tensor.context->variables.data[index];
    bool is_same = variable->is_live && !variable->is_doomed &&
                   variable->generation == tensor.id >> VARIABLE_SHIFT;
    return is_same ? variable : NULL;
}

int keel_is_empty(keel_tensor_t tensor) {
    return !tensor.context;
}

keel_shape_t keel_shape(keel_tensor_t tensor) {
    if (!tensor.context) return (keel_shape_t){.rank = 1};
    const variable_t *variable = context_variable(tensor);
    if (variable) return tensor.context->shapes.data[variable->shape];
    if (tensor.step != tensor.context->step || tensor.id >= tensor.context->trace.nodes.count)
        return (keel_shape_t){.rank = 1};
    return *trace_node_shape(tensor.context, tensor.id);
}

keel_dtype_t keel_dtype(keel_tensor_t tensor) {
    if (!tensor.context) return KEEL_BOOL;
    const variable_t *variable = context_variable(tensor);
    if (variable) return variable->dtype;
    if (tensor.step != tensor.context->step || tensor.id >= tensor.context->trace.nodes.count)
        return KEEL_BOOL;
    return (keel_dtype_t)trace_node(tensor.context, tensor.id)->dtype;
}

static const char *name_of(const char *name) {
    return name ? name : "a kept tensor";
}

uint32_t context_variable_node(keel_context_t *context, uint32_t index) {
    variable_t *variable = &context->variables.data[index];
    if (variable->node != KEEL_NONE) return variable->node;
    if (!variable->buffer) {
        context_fail(context, context->site, "%s has no value yet; keel_assign one",
                     name_of(variable->name));
        return KEEL_NONE;
    }
    keel_status_t status = keel_table_reserve(&context->used, 1);
    if (status) {
        context_take(context, context->site, status);
        return KEEL_NONE;
    }
    const int64_t words[] = {context->used.count};
    const node_spec_t spec = {.kind = NODE_VARIABLE,
                              .dtype = variable->dtype,
                              .shape = context->shapes.data[variable->shape],
                              .words = words,
                              .word_count = 1};
    keel_tensor_t tensor = trace_add(context, &spec, NULL, 0);
    if (!tensor.context) return KEEL_NONE;
    variable->use = context->used.count;
    context->used.data[context->used.count++] = index;
    variable->node = tensor.id;
    return tensor.id;
}

// True if the context is there and the shape and dtype can be those of a tensor.
static bool is_source(keel_caller_t site, keel_context_t *context, const char *what,
                      keel_dtype_t dtype, const keel_shape_t *shape) {
    int64_t elements;
    char text[SHAPE_TEXT];
    if (!context) return false;
    context->site = site;
    if ((unsigned)dtype >= KEEL_DTYPE_COUNT)
        context_fail(context, site, "%s: there is no dtype %d", what, (int)dtype);
    else if (shape->rank < 0 || shape->rank > KEEL_MAX_RANK)
        context_fail(context, site, "%s: a shape of %d dimensions; there may be 0 to %d", what,
                     shape->rank, KEEL_MAX_RANK);
    else if (!shape_elements(shape, &elements))
        context_fail(context, site, "%s: %s has a negative dimension or too many elements", what,
                     shape_text(dtype, shape, text));
    else
        return true;
    return false;
}

static keel_status_t new_variable(keel_context_t *context, const char *name, keel_dtype_t dtype,
                                  const keel_shape_t *shape, uint32_t *out) {
    variable_t variable = {.dtype = dtype, .node = KEEL_NONE, .use = KEEL_NONE, .is_live = true};
    KEEL_TRY(trace_shape(context, shape, &variable.shape));
    *out = context->free_variable;
    if (*out == KEEL_NONE) {
        *out = context->variables.count;
        if (*out > VARIABLE_INDEX)
            return keel_status_make(KEEL_UNSUPPORTED, "more than %d variables and kept tensors",
                                    VARIABLE_INDEX + 1);
        KEEL_TRY(keel_table_reserve(&context->variables, 1));
        KEEL_TRY(keel_table_reserve(&context->assigned, context->variables.count + 1));
    }
    if (name) KEEL_TRY(keel_strdup(keel_str(name), &variable.name));
    if (*out == context->variables.count) {
        ++context->variables.count;
    } else {
        context->free_variable = context->variables.data[*out].next_free;
        variable.generation = context->variables.data[*out].generation;
    }
    context->variables.data[*out] = variable;
    return NULL;
}

static keel_tensor_t variable_tensor(keel_context_t *context, uint32_t index) {
    uint32_t generation = context->variables.data[index].generation;
    return (keel_tensor_t){context, generation << VARIABLE_SHIFT | index, 0};
}

keel_tensor_t keel_variable_at(keel_caller_t site, keel_context_t *context, const char *name,
                               keel_dtype_t dtype, keel_shape_t shape, const void *data) {
    uint32_t index;
    PJRT_Buffer *buffer = NULL;
    if (!is_source(site, context, "variable", dtype, &shape)) return (keel_tensor_t){0};
    keel_status_t status = data ? device_send(context->device, dtype, &shape, data, &buffer) : NULL;
    if (!status) status = new_variable(context, name ? name : "", dtype, &shape, &index);
    if (status) {
        device_drop(context->device, buffer);
        return context_take(context, site, status);
    }
    context->variables.data[index].buffer = buffer;
    return variable_tensor(context, index);
}

static keel_status_t add_input(keel_context_t *context, const char *name, keel_dtype_t dtype,
                               const keel_shape_t *shape, const void *data) {
    if (context->used_inputs == context->inputs.count) {
        input_t empty = {0};
        KEEL_PUSH(&context->inputs, empty);
    }
    input_t *input = &context->inputs.data[context->used_inputs];
    if (!input->name || strcmp(input->name, name)) {
        char *copy;
        KEEL_TRY(keel_strdup(keel_str(name), &copy));
        keel_free(input->name);
        input->name = copy;
    }
    return device_send(context->device, dtype, shape, data, &input->buffer);
}

keel_tensor_t keel_input_at(keel_caller_t site, keel_context_t *context, const char *name,
                            keel_dtype_t dtype, keel_shape_t shape, const void *data) {
    if (!is_source(site, context, "input", dtype, &shape)) return (keel_tensor_t){0};
    int64_t elements;
    if (!data && shape_elements(&shape, &elements) && elements)
        return context_fail(context, site, "input %s: no data", name ? name : "");
    keel_status_t status = add_input(context, name ? name : "", dtype, &shape, data);
    if (status) return context_take(context, site, status);
    const int64_t words[] = {context->used_inputs++};
    const node_spec_t spec = {
        .kind = NODE_INPUT, .dtype = dtype, .shape = shape, .words = words, .word_count = 1};
    return trace_add(context, &spec, NULL, 0);
}

// Only the dtype of `like` counts, so it needs no value. NULL, with an error in the context, if it
// has none.
static keel_context_t *begin_like(keel_caller_t site, const char *what, keel_tensor_t like) {
    keel_context_t *context = like.context;
    if (!context) return NULL;
    context->site = site;
    if (ops_is_usable(like)) return context;
    context_fail(context, site, "%s: the tensor was released, or is of a step that has ended",
                 what);
    return NULL;
}

keel_tensor_t keel_number_at(keel_caller_t site, keel_tensor_t like, double value) {
    keel_context_t *context = begin_like(site, "number", like);
    if (!context) return (keel_tensor_t){0};
    keel_dtype_t dtype = keel_dtype(like);
    numbers_t *numbers = &context->numbers[dtype];
    keel_status_t status = keel_table_reserve(numbers, 1);
    if (status) return context_take(context, site, status);
    const int64_t words[] = {numbers->count};
    const node_spec_t spec = {.kind = NODE_NUMBER, .dtype = dtype, .words = words, .word_count = 1};
    keel_tensor_t tensor = trace_add(context, &spec, NULL, 0);
    if (tensor.context) numbers->data[numbers->count++] = value;
    return tensor;
}

keel_tensor_t ops_constant(keel_context_t *context, keel_dtype_t dtype, double value) {
    int64_t words[1];
    memcpy(words, &value, sizeof value);
    const node_spec_t spec = {
        .kind = NODE_CONSTANT, .dtype = dtype, .words = words, .word_count = 1};
    return trace_add(context, &spec, NULL, 0);
}

keel_tensor_t keel_constant_at(keel_caller_t site, keel_tensor_t like, double value) {
    keel_context_t *context = begin_like(site, "constant", like);
    return context ? ops_constant(context, keel_dtype(like), value) : (keel_tensor_t){0};
}

keel_tensor_t keel_iota_at(keel_caller_t site, keel_context_t *context, keel_dtype_t dtype,
                           keel_shape_t shape, int axis) {
    int32_t place;
    if (!is_source(site, context, "iota", dtype, &shape)) return (keel_tensor_t){0};
    if (dtype == KEEL_BOOL) return context_fail(context, site, "iota: bool cannot count");
    if (!axis_resolve(axis, shape.rank, &place))
        return context_fail(context, site, "iota: there is no axis %d", axis);
    int bits = 8 * (int)keel_dtype_size(dtype) - (dtype < KEEL_U8);
    if (dtype_is_integer(dtype) && bits < 63 && shape.dims[place] > INT64_C(1) << bits) {
        char text[SHAPE_TEXT];
        return context_fail(context, site, "iota: %s cannot count that far",
                            shape_text(dtype, &shape, text));
    }
    const int64_t words[] = {place};
    const node_spec_t spec = {
        .kind = NODE_IOTA, .dtype = dtype, .shape = shape, .words = words, .word_count = 1};
    return trace_add(context, &spec, NULL, 0);
}

// ---- assignments -------------------------------------------------------------------------------

static void assign(keel_context_t *context, uint32_t index, uint32_t node) {
    variable_t *variable = &context->variables.data[index];
    variable->node = node;
    if (variable->is_assigned) return;
    variable->is_assigned = true;
    context->assigned.data[context->assigned.count++] = index; // new_variable made room
}

void keel_assign_at(keel_caller_t site, keel_tensor_t target, keel_tensor_t value) {
    uint32_t node;
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    if (region_refuses(target.context, site, "assign")) return;
    keel_context_t *context = ops_begin(site, "assign", &value, 1, &node);
    if (!context && target.context)
        context_fail(target.context, site, "assign: the value is empty");
    if (!context) return;
    const variable_t *variable = context_variable(target);
    if (target.context != context || !variable) {
        context_fail(context, site, "assign: the target is no variable of this context");
        return;
    }
    const keel_shape_t *shape = &context->shapes.data[variable->shape];
    if (variable->dtype != trace_node(context, node)->dtype ||
        !shape_equal(shape, trace_node_shape(context, node))) {
        context_fail(
            context, site, "assign: %s is %s, and the value is %s", name_of(variable->name),
            shape_text(variable->dtype, shape, text),
            shape_text(trace_node(context, node)->dtype, trace_node_shape(context, node), other));
        return;
    }
    assign(context, target.id & VARIABLE_INDEX, node);
}

keel_tensor_t keel_keep_at(keel_caller_t site, keel_tensor_t value) {
    uint32_t node, index;
    if (region_refuses(value.context, site, "keep")) return (keel_tensor_t){0};
    keel_context_t *context = ops_begin(site, "keep", &value, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t shape = *trace_node_shape(context, node);
    keel_status_t status =
        new_variable(context, NULL, (keel_dtype_t)trace_node(context, node)->dtype, &shape, &index);
    if (status) return context_take(context, site, status);
    assign(context, index, node);
    return variable_tensor(context, index);
}

static void forget_assignment(keel_context_t *context, uint32_t index) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < context->assigned.count; ++i)
        if (context->assigned.data[i] != index)
            context->assigned.data[kept++] = context->assigned.data[i];
    context->assigned.count = kept;
}

void keel_release(keel_tensor_t tensor) {
    variable_t *variable = context_variable(tensor);
    if (!variable) return;
    keel_context_t *context = tensor.context;
    if (variable->use != KEEL_NONE) { // this step still needs its value
        variable->is_doomed = true;
        return;
    }
    context_release(context, tensor.id & VARIABLE_INDEX);
}

void context_release(keel_context_t *context, uint32_t index) {
    variable_t *variable = &context->variables.data[index];
    if (variable->is_assigned) forget_assignment(context, index);
    device_drop(context->device, variable->buffer);
    keel_free(variable->name);
    uint32_t generation = variable->generation + 1;
    *variable = (variable_t){.generation = generation,
                             .next_free = context->free_variable,
                             .node = KEEL_NONE,
                             .use = KEEL_NONE};
    // A place whose generations are used up stays empty: an old handle would mean a new tensor.
    if (generation <= UINT32_MAX >> VARIABLE_SHIFT) context->free_variable = index;
}
