// The end of a step: a trace that is known runs at once, a new one is compiled first.
#include "tensor/trace.h"

struct compiled_t {
    trace_t trace; // a copy, without sites
    uint32_t *results, *aliases, *shardings;
    uint32_t result_count;
    argument_t *arguments;
    uint32_t argument_count;
    keel_digest_t digest; // emit_t's
    PJRT_LoadedExecutable *loaded;
    bool is_shared; // with an earlier trace, whose program it is
    sent_numbers_t sent;
    PJRT_Buffer ***inputs, ***outputs; // room for one execution: of each lane, its buffers
};

static void forget(keel_context_t *context, compiled_t *compiled) {
    if (!compiled) return;
    if (!compiled->is_shared) device_forget(context->device, compiled->loaded);
    sent_close(context->device, &compiled->sent);
    trace_deinitialize(&compiled->trace);
    void *const parts[] = {compiled->results, compiled->arguments, compiled->inputs,
                           compiled->outputs};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_free(parts[i]);
    keel_free(compiled);
}

void step_forget_programs(keel_context_t *context) {
    for (uint32_t i = 0; i < context->compiled.count; ++i)
        forget(context, context->compiled.data[i]);
    keel_free(context->compiled.data);
    context->compiled.data = NULL;
    context->compiled.count = context->compiled.capacity = 0;
}

PJRT_LoadedExecutable *step_last_loaded(const keel_context_t *context) {
    uint32_t count = context->compiled.count;
    return count ? context->compiled.data[count - 1]->loaded : NULL;
}

// ---- finding and making programs ---------------------------------------------------------------

static bool is_it(const compiled_t *compiled, const keel_context_t *context, const emit_t *emit) {
    size_t size = emit->result_count * sizeof(uint32_t);
    return compiled->result_count == emit->result_count &&
           trace_equal(&compiled->trace, &context->trace) &&
           !memcmp(compiled->results, emit->results, size) &&
           !memcmp(compiled->aliases, emit->aliases, size) &&
           !memcmp(compiled->shardings, emit->shardings, size);
}

static compiled_t *find_compiled(const keel_context_t *context, const emit_t *emit) {
    for (uint32_t i = context->compiled.count; i-- > 0;)
        if (is_it(context->compiled.data[i], context, emit)) return context->compiled.data[i];
    return NULL;
}

#define COPY(from, to, table)                                                                      \
    do {                                                                                           \
        KEEL_TRY(keel_table_reserve(&(to)->table, (from)->table.count));                           \
        if ((from)->table.count)                                                                   \
            memcpy((to)->table.data, (from)->table.data,                                           \
                   (from)->table.count * sizeof *(from)->table.data);                              \
        (to)->table.count = (from)->table.count;                                                   \
    } while (0)

static keel_status_t copy_trace(const trace_t *from, trace_t *to) {
    COPY(from, to, nodes);
    COPY(from, to, operands);
    COPY(from, to, words);
    to->hash = from->hash;
    return NULL;
}

static keel_status_t keep_results(compiled_t *compiled, const emit_t *emit) {
    void *memory;
    uint32_t count = emit->result_count;
    KEEL_TRY(keel_calloc(3 * (size_t)count, sizeof(uint32_t), &memory));
    compiled->results = memory;
    compiled->aliases = compiled->results + count;
    compiled->shardings = compiled->aliases + count;
    compiled->result_count = count;
    memcpy(compiled->results, emit->results, count * sizeof(uint32_t));
    memcpy(compiled->aliases, emit->aliases, count * sizeof(uint32_t));
    memcpy(compiled->shardings, emit->shardings, count * sizeof(uint32_t));
    return NULL;
}

// Lists of `count` buffers, one for each lane.
static keel_status_t make_lists(size_t lanes, size_t count, PJRT_Buffer ****out) {
    void *memory;
    KEEL_TRY(keel_calloc(lanes * (count + 1), sizeof(PJRT_Buffer *), &memory));
    PJRT_Buffer ***lists = memory;
    for (size_t i = 0; i < lanes; ++i)
        lists[i] = (PJRT_Buffer **)memory + lanes + i * count;
    *out = lists;
    return NULL;
}

static uint32_t count_numbers(const compiled_t *compiled) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < compiled->argument_count; ++i)
        count += compiled->arguments[i].kind == ARGUMENT_NUMBER;
    return count;
}

// The executable of an earlier trace that differed only in what nothing uses.
static bool share(const keel_context_t *context, compiled_t *compiled) {
    for (uint32_t i = 0; i < context->compiled.count && !compiled->is_shared; ++i) {
        const compiled_t *other = context->compiled.data[i];
        if (!keel_digest_equal(&other->digest, &compiled->digest)) continue;
        compiled->loaded = other->loaded;
        compiled->is_shared = true;
    }
    return compiled->is_shared;
}

static keel_status_t compile(keel_context_t *context, keel_bytes_t hlo, compiled_t *compiled) {
    if (share(context, compiled)) return NULL;
    KEEL_TRY(device_compile(context->device, hlo, &compiled->loaded));
    ++context->figures.programs;
    return NULL;
}

static keel_status_t fill(keel_context_t *context, emit_t *emit, compiled_t *compiled) {
    keel_buffer_t hlo;
    size_t lanes = device_lanes(context->device);
    KEEL_TRY(copy_trace(&context->trace, &compiled->trace));
    KEEL_TRY(keep_results(compiled, emit));
    keel_buffer_initialize(&hlo, 0);
    keel_status_t status = emit_program(context, emit, &hlo);
    compiled->arguments = emit->arguments.data;
    compiled->argument_count = emit->arguments.count;
    compiled->digest = emit->digest;
    if (!status) status = compile(context, keel_buffer_bytes(&hlo), compiled);
    keel_buffer_deinitialize(status ? &hlo : &context->newest);
    KEEL_TRY(status);
    context->newest = hlo;
    KEEL_TRY(sent_open(count_numbers(compiled), lanes, &compiled->sent));
    KEEL_TRY(make_lists(lanes, compiled->argument_count, &compiled->inputs));
    KEEL_TRY(make_lists(lanes, compiled->result_count, &compiled->outputs));
    return keel_table_reserve(&context->compiled, 1);
}

static keel_status_t find_or_compile(keel_context_t *context, emit_t *emit, compiled_t **out) {
    void *memory;
    *out = find_compiled(context, emit);
    if (*out) return NULL;
    KEEL_TRY(keel_calloc(1, sizeof(compiled_t), &memory));
    compiled_t *compiled = memory;
    keel_status_t status = fill(context, emit, compiled);
    if (status) {
        forget(context, compiled);
        return status;
    }
    context->compiled.data[context->compiled.count++] = compiled;
    *out = compiled;
    return NULL;
}

// ---- running one -------------------------------------------------------------------------------

static keel_status_t gather(keel_context_t *context, compiled_t *compiled) {
    const size_t lanes = device_lanes(context->device);
    uint32_t numbers = 0;
    for (uint32_t i = 0; i < compiled->argument_count; ++i) {
        const argument_t *argument = &compiled->arguments[i];
        PJRT_Buffer **buffers;
        if (argument->kind == ARGUMENT_VARIABLE)
            buffers = context->variables.data[context->used.data[argument->index]].buffers;
        else if (argument->kind == ARGUMENT_INPUT)
            buffers = context->inputs.data[argument->index].buffers;
        else
            KEEL_TRY(sent_find(context, &compiled->sent, numbers++,
                               &context->numbers.data[argument->index], &buffers));
        for (size_t lane = 0; lane < lanes; ++lane)
            compiled->inputs[lane][i] = buffers[lane];
    }
    return NULL;
}

static keel_status_t run(keel_context_t *context, compiled_t *compiled) {
    KEEL_TRY(gather(context, compiled));
    return device_execute(context->device, compiled->loaded,
                          (PJRT_Buffer *const *const *)compiled->inputs, compiled->argument_count,
                          compiled->outputs);
}

static void take_result(const keel_context_t *context, const compiled_t *compiled, uint32_t result,
                        PJRT_Buffer **out) {
    for (size_t lane = 0; lane < device_lanes(context->device); ++lane)
        out[lane] = compiled->outputs[lane][result];
}

keel_status_t step_compute(keel_context_t *context, uint32_t node, PJRT_Buffer **out) {
    const uint32_t alias = KEEL_NONE, sharding = SHARDING_WHOLE;
    emit_t emit = {.results = &node, .aliases = &alias, .shardings = &sharding, .result_count = 1};
    compiled_t *compiled;
    KEEL_TRY(find_or_compile(context, &emit, &compiled));
    KEEL_TRY(run(context, compiled));
    take_result(context, compiled, 0, out);
    return NULL;
}

static keel_status_t run_assignments(keel_context_t *context) {
    uint32_t count = context->assigned.count;
    compiled_t *compiled = NULL;
    if (!count) return NULL;
    KEEL_TRY(keel_table_reserve(&context->adjoints, 3 * (uint64_t)count)); // free by now
    uint32_t *results = context->adjoints.data, *aliases = results + count;
    uint32_t *shardings = aliases + count;
    for (uint32_t i = 0; i < count; ++i) {
        const variable_t *variable = &context->variables.data[context->assigned.data[i]];
        results[i] = variable->node;
        aliases[i] = variable->use;
        shardings[i] = variable->sharding;
    }
    emit_t emit = {.variables = context->assigned.data,
                   .results = results,
                   .aliases = aliases,
                   .shardings = shardings,
                   .result_count = count};
    KEEL_TRY(find_or_compile(context, &emit, &compiled));
    KEEL_TRY(run(context, compiled));
    for (uint32_t i = 0; i < count; ++i) {
        variable_t *variable = &context->variables.data[context->assigned.data[i]];
        device_drop(context->device, variable->buffers);
        take_result(context, compiled, i, variable->buffers);
    }
    return NULL;
}

// ---- what the user calls -----------------------------------------------------------------------

keel_status_t keel_step_end_at(keel_caller_t site, keel_context_t *context) {
    if (!context) return keel_status_make(KEEL_INVALID, "keel_step_end: no context");
    if (region_refuses(context, site, "step_end"))
        return keel_status_make(KEEL_INVALID, "%s:%d: step_end: a body is being traced",
                                caller_file(site), site.line);
    keel_status_t status = context->error;
    context->error = NULL;
    context->adjoints.count = 0;
    if (!status) {
        device_at(&site);
        status = run_assignments(context);
        device_at(NULL);
        if (status)
            status = keel_status_annotate(status, "%s:%d: step %u", caller_file(site), site.line,
                                          context->step);
    }
    if (!status) {
        ++context->figures.steps;
        device_step();
    }
    context_begin_step(context);
    return status;
}

void keel_step_discard(keel_context_t *context) {
    if (!context || region_refuses(context, context->site, "step_discard")) return;
    keel_status_ignore(context->error);
    context->error = NULL;
    context_begin_step(context);
}

static keel_status_t read_node(keel_context_t *context, uint32_t node, const layout_t *layout,
                               void *data) {
    PJRT_Buffer **buffers = context->computed;
    if (device_is_frozen())
        return keel_status_make(KEEL_REFUSED,
                                "read: a value of the open step is a program of its own, and this "
                                "process is frozen: keep it, and read it after keel_step_end");
    KEEL_TRY(step_compute(context, node, buffers));
    keel_status_t status = device_receive(context->device, layout, buffers, data);
    device_drop(context->device, buffers);
    return status;
}

// The node to compute; KEEL_NONE for a variable whose value is there already. The error is the
// context's.
static keel_status_t find_node(keel_caller_t site, keel_tensor_t tensor, uint32_t *out) {
    keel_context_t *context = tensor.context;
    const variable_t *variable = context_variable(tensor);
    *out = KEEL_NONE;
    if (variable && variable->buffers[0] && !variable->is_assigned) return NULL;
    if (!region_refuses(context, site, "read") && ops_begin(site, "read", &tensor, 1, out) &&
        !local_refuses(context, "read", *out))
        return NULL;
    keel_status_t status = context->error;
    context->error = NULL;
    return status;
}

static keel_status_t read(keel_tensor_t tensor, uint32_t node, void *data, size_t size) {
    keel_context_t *context = tensor.context;
    int64_t elements;
    char text[SHAPE_TEXT];
    const keel_shape_t shape = keel_shape(tensor);
    if (!shape_elements(&shape, &elements)) elements = 0;
    size_t expected = (size_t)elements * keel_dtype_size(keel_dtype(tensor));
    if (size != expected || (!data && size))
        return keel_status_make(KEEL_INVALID, "read: %s has %zu bytes, and there is room for %zu",
                                shape_text(keel_dtype(tensor), &shape, text), expected,
                                data ? size : 0);
    if (!size) return NULL;
    const variable_t *variable = context_variable(tensor);
    uint32_t sharding = node == KEEL_NONE ? variable->sharding : SHARDING_WHOLE;
    const layout_t layout = {keel_dtype(tensor), &shape, &context->shardings.data[sharding]};
    if (node != KEEL_NONE) return read_node(context, node, &layout, data);
    return device_receive(context->device, &layout, variable->buffers, data);
}

keel_status_t keel_read_at(keel_caller_t site, keel_tensor_t tensor, void *data, size_t size) {
    uint32_t node;
    if (!tensor.context)
        return keel_status_make(KEEL_INVALID, "%s:%d: read: the tensor is empty", caller_file(site),
                                site.line);
    ++tensor.context->figures.reads;
    if (tensor.context->error)
        return keel_status_make(KEEL_INVALID, "%s:%d: read: the step has an error already",
                                caller_file(site), site.line);
    KEEL_TRY(find_node(site, tensor, &node));
    device_at(&site);
    keel_status_t status = read(tensor, node, data, size);
    device_at(NULL);
    return status ? keel_status_annotate(status, "%s:%d", caller_file(site), site.line) : NULL;
}
