// What a context holds, its errors, and the sources of tensors.
#include "base/text.h"
#include "tensor/tensor.h"
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

// "mean: ..." for "sum: ..." in a part of mean.
static keel_status_t fail_whole(keel_caller_t site, const char *text) {
    const char *rest = site.operation ? strstr(text, ": ") : NULL;
    if (!rest) return keel_status_make(KEEL_INVALID, "%s", text);
    return keel_status_make(KEEL_INVALID, "%s%s", site.operation, rest);
}

keel_tensor_t context_fail(keel_context_t *context, keel_caller_t site, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return context_take(context, site, fail_whole(site, text));
}

const char *keel_context_error(const keel_context_t *context) {
    return context && context->error ? keel_status_message(context->error) : NULL;
}

bool context_is_text(const char *name) {
    keel_str_t text = keel_str(name);
    size_t length;
    for (size_t at = 0; at < text.size; at += length) {
        length = keel_utf8_length(text, at);
        if (!length) return false;
    }
    return true;
}

// ---- life --------------------------------------------------------------------------------------

static keel_status_t make_lanes(const keel_context_t *context, PJRT_Buffer ***out) {
    void *memory;
    KEEL_TRY(keel_calloc(device_lanes(context->device), sizeof(PJRT_Buffer *), &memory));
    *out = memory;
    return NULL;
}

static keel_status_t fill(keel_context_t *context, const keel_context_options_t *options) {
    const char *name = options->name ? options->name : "step";
    const sharding_t whole = {{0}};
    if (!context_is_text(name))
        return keel_status_make(KEEL_INVALID, "keel_context_create: the name is not UTF-8");
    KEEL_TRY(keel_strdup(keel_str(name), &context->name));
    KEEL_PUSH(&context->shardings, whole);
    KEEL_TRY(mesh_open(&options->mesh, &context->mesh));
    const job_t job = {options->process, options->processes, options->meet};
    KEEL_TRY(
        device_open(options->plugin, &context->mesh, &job, options->devices, &context->device));
    KEEL_TRY(make_lanes(context, &context->room));
    return make_lanes(context, &context->computed);
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
    context->free_variable = context->region = context->naming = KEEL_NONE;
    keel_map_initialize(&context->shape_ids);
    keel_status_t status = fill(context, options ? options : &defaults);
    if (status)
        keel_context_free(context);
    else
        *out = context;
    return status;
}

static void drop_inputs(keel_context_t *context) {
    for (uint32_t i = 0; i < context->used_inputs; ++i)
        device_drop(context->device, context->inputs.data[i].buffers);
    context->used_inputs = 0;
}

void context_begin_step(keel_context_t *context) {
    drop_inputs(context);
    for (uint32_t i = 0; i < context->variables.count; ++i) {
        variable_t *variable = &context->variables.data[i];
        variable->node = variable->use = KEEL_NONE;
        variable->is_assigned = false;
        if (variable->is_doomed) context_release(context, i);
    }
    context->used.count = context->assigned.count = context->numbers.count = 0;
    trace_clear(context);
    context->regions.count = context->customs.count = context->losses.count = 0;
    context->region = context->naming = KEEL_NONE;
    context->namings.count = context->naming_text.count = context->naming_skipped = 0;
    context->precisions.count = 0;
    ++context->step;
}

// In front of the memory.
typedef struct borrowed_t {
    struct borrowed_t *next;
    size_t size;
} borrowed_t;

keel_status_t context_borrow(keel_context_t *context, size_t size, void **out) {
    borrowed_t *block = context->spare;
    void *memory = block;
    if (block) context->spare = block->next;
    if (!block || block->size < size) {
        keel_free(memory);
        KEEL_TRY(keel_alloc(sizeof *block + size, &memory));
        block = memory;
        block->size = size;
    }
    *out = block + 1;
    return NULL;
}

void context_return(keel_context_t *context, void *memory) {
    if (!memory) return;
    borrowed_t *block = (borrowed_t *)memory - 1;
    block->next = context->spare;
    context->spare = block;
}

static void free_spare(keel_context_t *context) {
    while (context->spare) {
        borrowed_t *block = context->spare;
        context->spare = block->next;
        keel_free(block);
    }
}

void keel_context_free(keel_context_t *context) {
    if (!context) return;
    drop_inputs(context);
    step_forget_programs(context);
    keel_buffer_deinitialize(&context->newest);
    for (uint32_t i = 0; i < context->variables.count; ++i) {
        device_drop(context->device, context->variables.data[i].buffers);
        keel_free(context->variables.data[i].buffers);
        keel_free(context->variables.data[i].name);
    }
    free_spare(context);
    for (uint32_t i = 0; i < context->inputs.count; ++i) {
        keel_free(context->inputs.data[i].buffers);
        keel_free(context->inputs.data[i].name);
    }
    void *const tables[] = {
        context->shapes.data,     context->variables.data, context->used.data,
        context->assigned.data,   context->inputs.data,    context->adjoints.data,
        context->shardings.data,  context->regions.data,   context->customs.data,
        context->declined,        context->mixed.data,     context->room,
        context->computed,        context->namings.data,   context->naming_text.data,
        context->numbers.data,    context->made.data,      context->name,
        context->precisions.data, context->losses.data};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
        keel_free(tables[i]);
    trace_deinitialize(&context->trace);
    keel_map_deinitialize(&context->shape_ids);
    keel_status_ignore(context->error);
    device_close(context->device);
    mesh_close(&context->mesh);
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

const char *keel_name(keel_tensor_t tensor) {
    const variable_t *variable = context_variable(tensor);
    return variable && variable->name ? variable->name : "";
}

static const char *name_of(const char *name) {
    return name ? name : "a kept tensor";
}

uint32_t context_variable_node(keel_context_t *context, uint32_t index) {
    variable_t *variable = &context->variables.data[index];
    if (variable->node != KEEL_NONE) return variable->node;
    if (!variable->buffers[0]) {
        context_fail(context, context->site, "%s has no value yet; keel_assign one",
                     name_of(variable->name));
        return KEEL_NONE;
    }
    keel_status_t status = keel_table_reserve(&context->used, 1);
    if (status) {
        context_take(context, context->site, status);
        return KEEL_NONE;
    }
    const int64_t words[] = {context->used.count, variable->sharding};
    const node_spec_t spec = {.kind = NODE_VARIABLE,
                              .dtype = variable->dtype,
                              .shape = context->shapes.data[variable->shape],
                              .words = words,
                              .word_count = sizeof words / sizeof *words};
    keel_tensor_t tensor = trace_add(context, &spec, NULL, 0);
    if (!tensor.context) return KEEL_NONE;
    variable->use = context->used.count;
    context->used.data[context->used.count++] = index;
    variable->node = tensor.id;
    return tensor.id;
}

// True if the context is there and the shape and dtype can be those of a tensor.
static bool is_source(keel_caller_t site, keel_context_t *context, const char *what,
                      const char *name, keel_dtype_t dtype, const keel_shape_t *shape) {
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
    else if (name && !context_is_text(name))
        context_fail(context, site, "%s: the name is not UTF-8", what);
    else
        return true;
    return false;
}

static keel_status_t new_variable(keel_context_t *context, const char *name, keel_dtype_t dtype,
                                  const keel_shape_t *shape, uint32_t sharding, uint32_t *out) {
    variable_t variable = {.dtype = dtype,
                           .sharding = sharding,
                           .site = context->site,
                           .node = KEEL_NONE,
                           .use = KEEL_NONE,
                           .is_live = true};
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
    if (*out < context->variables.count) variable.buffers = context->variables.data[*out].buffers;
    if (name) KEEL_TRY(keel_strdup(keel_str(name), &variable.name));
    keel_status_t status = variable.buffers ? NULL : make_lanes(context, &variable.buffers);
    if (status) {
        keel_free(variable.name);
        return status;
    }
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

static keel_tensor_t make_variable(keel_context_t *context, const char *name, keel_dtype_t dtype,
                                   const keel_shape_t *shape, uint32_t sharding, const void *data) {
    uint32_t index;
    keel_status_t status = new_variable(context, name, dtype, shape, sharding, &index);
    if (status) return context_take(context, context->site, status);
    const layout_t layout = {dtype, shape, &context->shardings.data[sharding]};
    if (data)
        status =
            device_send(context->device, &layout, data, context->variables.data[index].buffers);
    if (!status) return variable_tensor(context, index);
    context_release(context, index);
    return context_take(context, context->site, status);
}

keel_tensor_t keel_sharded_variable_at(keel_caller_t site, keel_context_t *context,
                                       const char *name, keel_dtype_t dtype, keel_shape_t shape,
                                       const void *data, keel_spec_t spec) {
    site = keel_tensor_part_of(site, "sharded_variable");
    uint32_t sharding;
    if (!is_source(site, context, "variable", name, dtype, &shape) ||
        !mesh_resolve(context, "variable", &spec, dtype, &shape, &sharding))
        return (keel_tensor_t){0};
    return make_variable(context, name ? name : "", dtype, &shape, sharding, data);
}

keel_tensor_t keel_variable_at(keel_caller_t site, keel_context_t *context, const char *name,
                               keel_dtype_t dtype, keel_shape_t shape, const void *data) {
    site = keel_tensor_part_of(site, "variable");
    return keel_sharded_variable_at(site, context, name, dtype, shape, data, KEEL_WHOLE);
}

void context_fill(keel_context_t *context, variable_t *variable, PJRT_Buffer **buffers) {
    size_t size = device_lanes(context->device) * sizeof *buffers;
    device_drop(context->device, variable->buffers);
    memcpy(variable->buffers, buffers, size);
    memset(buffers, 0, size);
}

// Sends the value anew.
static keel_status_t move(keel_context_t *context, variable_t *variable, uint32_t sharding) {
    const keel_shape_t shape = context->shapes.data[variable->shape];
    layout_t layout = {variable->dtype, &shape, &context->shardings.data[variable->sharding]};
    int64_t elements;
    void *data;
    if (!variable->buffers[0] || !shape_elements(&shape, &elements)) return NULL;
    KEEL_TRY(keel_calloc((size_t)elements + 1, keel_dtype_size(variable->dtype), &data));
    keel_status_t status =
        elements ? device_receive(context->device, &layout, variable->buffers, data) : NULL;
    layout.sharding = &context->shardings.data[sharding];
    if (!status) status = device_send(context->device, &layout, data, context->room);
    keel_free(data);
    if (!status) context_fill(context, variable, context->room);
    return status;
}

void keel_place_at(keel_caller_t site, keel_tensor_t tensor, keel_spec_t spec) {
    variable_t *variable = context_variable(tensor);
    keel_context_t *context = tensor.context;
    uint32_t sharding;
    if (!context) return;
    context->site = site;
    if (!variable) {
        context_fail(context, site, "place: it is not a variable");
        return;
    }
    if (variable->node != KEEL_NONE) {
        context_fail(context, site, "place: %s is used by the open step; end it first",
                     name_of(variable->name));
        return;
    }
    if (!mesh_resolve(context, "place", &spec, variable->dtype,
                      &context->shapes.data[variable->shape], &sharding))
        return;
    keel_status_t status = move(context, variable, sharding);
    if (status)
        context_take(context, site, status);
    else
        variable->sharding = sharding;
}

static keel_status_t make_input(keel_context_t *context) {
    input_t input = {0};
    KEEL_TRY(keel_table_reserve(&context->inputs, 1));
    KEEL_TRY(make_lanes(context, &input.buffers));
    context->inputs.data[context->inputs.count++] = input;
    return NULL;
}

static keel_status_t add_input(keel_context_t *context, const char *name, const layout_t *layout,
                               const void *data) {
    if (context->used_inputs == context->inputs.count) KEEL_TRY(make_input(context));
    input_t *input = &context->inputs.data[context->used_inputs];
    if (!input->name || strcmp(input->name, name)) {
        char *copy;
        KEEL_TRY(keel_strdup(keel_str(name), &copy));
        keel_free(input->name);
        input->name = copy;
    }
    return device_send(context->device, layout, data, input->buffers);
}

keel_tensor_t keel_sharded_input_at(keel_caller_t site, keel_context_t *context, const char *name,
                                    keel_dtype_t dtype, keel_shape_t shape, const void *data,
                                    keel_spec_t spec) {
    site = keel_tensor_part_of(site, "sharded_input");
    int64_t elements;
    uint32_t sharding;
    if (!is_source(site, context, "input", name, dtype, &shape) ||
        !mesh_resolve(context, "input", &spec, dtype, &shape, &sharding))
        return (keel_tensor_t){0};
    if (!data && shape_elements(&shape, &elements) && elements)
        return context_fail(context, site, "input: %s has no data", name ? name : "it");
    const layout_t layout = {dtype, &shape, &context->shardings.data[sharding]};
    keel_status_t status = add_input(context, name ? name : "", &layout, data);
    if (status) return context_take(context, site, status);
    const int64_t words[] = {context->used_inputs++, sharding};
    const node_spec_t node = {.kind = NODE_INPUT,
                              .dtype = dtype,
                              .shape = shape,
                              .words = words,
                              .word_count = sizeof words / sizeof *words};
    return trace_add(context, &node, NULL, 0);
}

keel_tensor_t keel_input_at(keel_caller_t site, keel_context_t *context, const char *name,
                            keel_dtype_t dtype, keel_shape_t shape, const void *data) {
    site = keel_tensor_part_of(site, "input");
    return keel_sharded_input_at(site, context, name, dtype, shape, data, KEEL_WHOLE);
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

// False, with an error, if the dtype cannot have it.
static bool can_be(keel_caller_t site, const char *what, keel_context_t *context,
                   keel_dtype_t dtype, double value) {
    if (number_fits(dtype, value)) return true;
    context_fail(context, site, "%s: %s cannot hold %g; keel_cast what it is used with", what,
                 keel_dtype_text(dtype), value);
    return false;
}

static keel_tensor_t add_number(keel_context_t *context, const number_t *number) {
    keel_status_t status = keel_table_reserve(&context->numbers, 1);
    if (status) return context_take(context, context->site, status);
    const int64_t words[] = {context->numbers.count};
    const node_spec_t spec = {
        .kind = NODE_NUMBER, .dtype = number->dtype, .words = words, .word_count = 1};
    keel_tensor_t tensor = trace_add(context, &spec, NULL, 0);
    if (tensor.context) context->numbers.data[context->numbers.count++] = *number;
    return tensor;
}

static keel_tensor_t take_stand_in(keel_context_t *context, keel_dtype_t dtype) {
    stand_ins_t *stand_ins = context->stand_ins;
    if (stand_ins->next < stand_ins->count &&
        keel_dtype(stand_ins->numbers[stand_ins->next]) == dtype)
        return stand_ins->numbers[stand_ins->next++];
    return context_fail(context, context->site,
                        "number: the layer asks for other numbers each time that it is traced");
}

static keel_tensor_t note_made(keel_context_t *context, keel_tensor_t number) {
    keel_status_t status = number.context ? keel_table_reserve(&context->made, 1) : NULL;
    if (status) return context_take(context, context->site, status);
    if (number.context) context->made.data[context->made.count++] = number.id;
    return number;
}

keel_tensor_t keel_tensor_number(keel_caller_t site, keel_context_t *context, keel_dtype_t dtype,
                                 double value, const char *name) {
    context->site = site;
    if (!can_be(site, "number", context, dtype, value)) return (keel_tensor_t){0};
    keel_tensor_t number = context->stand_ins
                               ? take_stand_in(context, dtype)
                               : add_number(context, &(number_t){value, dtype, name});
    return context->layers ? note_made(context, number) : number;
}

keel_tensor_t keel_number_at(keel_caller_t site, keel_tensor_t like, double value,
                             const char *name) {
    keel_context_t *context = begin_like(site, "number", like);
    if (!context) return (keel_tensor_t){0};
    return keel_tensor_number(site, context, keel_dtype(like), value, name);
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
    if (!context || !can_be(site, "constant", context, keel_dtype(like), value))
        return (keel_tensor_t){0};
    return ops_constant(context, keel_dtype(like), value);
}

keel_tensor_t keel_constant_array_at(keel_caller_t site, keel_context_t *context,
                                     keel_dtype_t dtype, keel_shape_t shape, const void *data) {
    enum { LIMIT = 65536 };
    int64_t words[LIMIT / sizeof(int64_t)] = {0}, elements = 0;
    char text[SHAPE_TEXT];
    if (!is_source(site, context, "constant_array", NULL, dtype, &shape) ||
        !shape_elements(&shape, &elements))
        return (keel_tensor_t){0};
    const size_t limit = LIMIT / keel_dtype_size(dtype);
    if ((uint64_t)elements > limit)
        return context_fail(context, site,
                            "constant_array: %s has more than %d bytes; make it a variable",
                            shape_text(dtype, &shape, text), LIMIT);
    if (!elements || !data)
        return context_fail(context, site, "constant_array: %s without elements",
                            shape_text(dtype, &shape, text));
    const size_t size = (size_t)elements * keel_dtype_size(dtype);
    memcpy(words, data, size);
    const node_spec_t spec = {.kind = NODE_LITERAL,
                              .dtype = dtype,
                              .shape = shape,
                              .words = words,
                              .word_count = (uint32_t)((size + 7) / 8)};
    return trace_add(context, &spec, NULL, 0);
}

keel_tensor_t keel_lowest_at(keel_caller_t site, keel_tensor_t like) {
    keel_context_t *context = begin_like(site, "lowest", like);
    if (!context) return (keel_tensor_t){0};
    const keel_dtype_t dtype = keel_dtype(like);
    if (dtype == KEEL_BOOL || dtype_is_complex(dtype))
        return context_fail(context, site, "lowest: %s has none", keel_dtype_text(dtype));
    return ops_constant(context, dtype, number_lowest(dtype));
}

keel_tensor_t keel_iota_at(keel_caller_t site, keel_context_t *context, keel_dtype_t dtype,
                           keel_shape_t shape, int axis) {
    int32_t place;
    if (!is_source(site, context, "iota", NULL, dtype, &shape)) return (keel_tensor_t){0};
    if (dtype == KEEL_BOOL || dtype_is_complex(dtype))
        return context_fail(context, site, "iota: %s cannot count", keel_dtype_text(dtype));
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
    if (target.context && value.context && value.context != target.context) {
        context_fail(target.context, site, "assign: the value belongs to another context");
        return;
    }
    keel_context_t *context = ops_begin(site, "assign", &value, 1, &node);
    if (!context && target.context)
        context_fail(target.context, site, "assign: the value is empty");
    if (!context || local_refuses(context, "assign", node)) return;
    const variable_t *variable = context_variable(target);
    if (target.context != context || !variable) {
        context_fail(context, site, "assign: the target is not a variable of this context");
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

static keel_tensor_t keep(keel_context_t *context, uint32_t node, uint32_t sharding) {
    uint32_t index;
    const keel_shape_t shape = *trace_node_shape(context, node);
    const keel_dtype_t dtype = (keel_dtype_t)trace_node(context, node)->dtype;
    keel_status_t status = new_variable(context, NULL, dtype, &shape, sharding, &index);
    if (status) return context_take(context, context->site, status);
    assign(context, index, node);
    return variable_tensor(context, index);
}

keel_tensor_t keel_keep_at(keel_caller_t site, keel_tensor_t value) {
    uint32_t node;
    if (region_refuses(value.context, site, "keep")) return (keel_tensor_t){0};
    keel_context_t *context = ops_begin(site, "keep", &value, 1, &node);
    if (!context || local_refuses(context, "keep", node)) return (keel_tensor_t){0};
    const node_t *value_node = trace_node(context, node);
    uint32_t sharding = value_node->kind == NODE_SHARD
                            ? (uint32_t)*trace_words(&context->trace, value_node)
                            : SHARDING_WHOLE;
    return keep(context, node, sharding);
}

keel_tensor_t keel_tensor_copy(keel_caller_t site, keel_tensor_t tensor) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "keep", &tensor, 1, &node);
    const variable_t *variable = context_variable(tensor);
    if (!context || !variable) return (keel_tensor_t){0};
    return keep(context, node,
                device_has_all(context->device) ? variable->sharding : SHARDING_WHOLE);
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
    device_drop(context->device, variable->buffers);
    keel_free(variable->name);
    uint32_t generation = variable->generation + 1;
    *variable = (variable_t){.buffers = variable->buffers, // room for those of the next one
                             .generation = generation,
                             .next_free = context->free_variable,
                             .node = KEEL_NONE,
                             .use = KEEL_NONE};
    // A place whose generations are used up stays empty: an old handle would mean a new tensor.
    if (generation <= UINT32_MAX >> VARIABLE_SHIFT) context->free_variable = index;
}
