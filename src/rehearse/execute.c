// Executions: buffers of the results' shapes, and donated arguments.
#include "rehearse/objects.h"

static bool is_kept(const PJRT_ExecuteOptions *options, size_t argument) {
    for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i)
        if (options->non_donatable_input_indices[i] == (int64_t)argument) return true;
    return false;
}

static bool is_donated(const PJRT_LoadedExecutable_Execute_Args *args, size_t argument) {
    return args->executable->facts->signature.parameters[argument].donated &&
           !is_kept(args->options, argument);
}

static keel_status_t gone(const facts_t *facts, size_t argument) {
    return keel_status_make(KEEL_INVALID, "argument %zu of %s has been deleted or donated",
                            argument, facts->name);
}

static keel_status_t check_count(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *executable = args->executable;
    const facts_t *facts = executable->facts;
    if (args->num_args != facts->signature.parameter_count)
        return keel_status_make(KEEL_INVALID, "%s takes %u arguments and was given %zu",
                                facts->name, facts->signature.parameter_count, args->num_args);
    bool is_portable = args->execute_device && args->num_devices == 1;
    if (!is_portable && args->num_devices != executable->device_count)
        return keel_status_make(KEEL_INVALID, "%s runs on %zu devices and was given %zu lists",
                                facts->name, executable->device_count, args->num_devices);
    return NULL;
}

// As a device sees it: an array has as many bytes as the program says. Clients pass tokens as
// arrays without elements. Where it is only guessed how the argument or what is given for it is
// sharded, nothing can be said.
static keel_status_t check_size(const facts_t *facts, size_t argument, const PJRT_Buffer *buffer) {
    const keel_array_t *parameter = &facts->signature.parameters[argument];
    const keel_array_shape_t *shape = &parameter->shard;
    bool is_guess = parameter->guessed || buffer->is_guess;
    if (is_guess || shape->element == KEEL_PRIMITIVE_TOKEN) return NULL;
    uint64_t wanted = bytes_of_elements(buffer_type_of(shape->element), shape->dims, shape->rank);
    uint64_t given = bytes_of_elements(buffer->type, buffer->dims, buffer->rank);
    if (wanted == given) return NULL;
    return keel_status_make(KEEL_INVALID, "argument %zu of %s has %llu bytes, not %llu", argument,
                            facts->name, (unsigned long long)given, (unsigned long long)wanted);
}

static keel_status_t check_argument(const facts_t *facts, size_t argument, PJRT_Buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    bool is_deleted = buffer->is_deleted;
    pthread_mutex_unlock(&buffer->lock);
    return is_deleted ? gone(facts, argument) : check_size(facts, argument, buffer);
}

// ---- donated arguments -------------------------------------------------------------------------

// A place in the lists of arguments.
typedef struct place_t {
    size_t device, argument;
} place_t;

// The next donated argument; false behind the last one.
static bool next_donated(const PJRT_LoadedExecutable_Execute_Args *args, place_t *place) {
    for (; place->device < args->num_devices; ++place->device, place->argument = 0)
        for (; place->argument < args->num_args; ++place->argument)
            if (is_donated(args, place->argument)) return true;
    return false;
}

static PJRT_Buffer *buffer_at(const PJRT_LoadedExecutable_Execute_Args *args, place_t place) {
    return args->argument_lists[place.device][place.argument];
}

// Those before `end`.
static void take_back(const PJRT_LoadedExecutable_Execute_Args *args, place_t end) {
    for (place_t at = {0, 0}; next_donated(args, &at); ++at.argument) {
        if (at.device == end.device && at.argument == end.argument) return;
        buffer_take_back(buffer_at(args, at));
    }
}

// Their memory is that of the results: it is given back before those are counted.
static keel_status_t hand_over(const PJRT_LoadedExecutable_Execute_Args *args) {
    const facts_t *facts = args->executable->facts;
    for (place_t at = {0, 0}; next_donated(args, &at); ++at.argument) {
        if (buffer_hand_over(buffer_at(args, at))) continue;
        take_back(args, at);
        return keel_status_make(KEEL_INVALID,
                                "argument %zu of %s is donated twice, or was donated meanwhile",
                                at.argument, facts->name);
    }
    return NULL;
}

static void forget_donated(const PJRT_LoadedExecutable_Execute_Args *args) {
    for (place_t at = {0, 0}; next_donated(args, &at); ++at.argument)
        buffer_forget(buffer_at(args, at));
}

static keel_status_t check_arguments(const PJRT_LoadedExecutable_Execute_Args *args) {
    const facts_t *facts = args->executable->facts;
    for (size_t device = 0; device < args->num_devices; ++device)
        for (size_t i = 0; i < args->num_args; ++i)
            KEEL_TRY(check_argument(facts, i, args->argument_lists[device][i]));
    return NULL;
}

// An argument that stays must not be one that is donated, too.
static keel_status_t check_kept(const PJRT_LoadedExecutable_Execute_Args *args) {
    for (size_t device = 0; device < args->num_devices; ++device)
        for (size_t i = 0; i < args->num_args; ++i)
            if (!is_donated(args, i))
                KEEL_TRY(
                    check_argument(args->executable->facts, i, args->argument_lists[device][i]));
    return NULL;
}

// ---- results -----------------------------------------------------------------------------------

static keel_status_t make_results(const facts_t *facts, PJRT_Device *device, PJRT_Buffer **out) {
    for (uint32_t i = 0; i < facts->signature.result_count; ++i) {
        const keel_array_t *result = &facts->signature.results[i];
        const making_t making = {.memory = device_memory(device, result->memory),
                                 .type = facts->types[i],
                                 .dims = result->shard.dims,
                                 .rank = result->shard.rank,
                                 .layout = facts->layouts[i],
                                 .maker = facts->name,
                                 .is_guess = result->guessed,
                                 .is_share = keel_sharding_is_unreduced(result->sharding)};
        keel_status_t status = buffer_create(&making, &out[i]);
        if (!status) continue;
        while (i--)
            buffer_destroy(out[i]);
        return status;
    }
    return NULL;
}

static void unmake(const PJRT_LoadedExecutable_Execute_Args *args, const facts_t *facts,
                   size_t devices) {
    for (size_t device = 0; device < devices; ++device)
        for (uint32_t i = 0; i < facts->signature.result_count; ++i)
            buffer_destroy(args->output_lists[device][i]);
}

static keel_status_t make_all(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *executable = args->executable;
    for (size_t i = 0; i < args->num_devices; ++i) {
        PJRT_Device *device = args->execute_device ? args->execute_device : executable->devices[i];
        keel_status_t status = make_results(executable->facts, device, args->output_lists[i]);
        if (!status) continue;
        unmake(args, executable->facts, i);
        return status;
    }
    return NULL;
}

static keel_status_t run(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *executable = args->executable;
    if (atomic_load(&executable->is_deleted))
        return keel_status_make(KEEL_INVALID, "%s has been deleted", executable->facts->name);
    KEEL_TRY(check_count(args));
    KEEL_TRY(check_arguments(args));
    KEEL_TRY(hand_over(args));
    keel_status_t status = check_kept(args);
    if (!status) status = make_all(args);
    if (status) {
        take_back(args, (place_t){args->num_devices, 0});
        return status;
    }
    values_compute(args);
    forget_donated(args);
    for (size_t i = 0; args->device_complete_events && i < args->num_devices; ++i)
        args->device_complete_events[i] = event_ready();
    return NULL;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    return refuse(KEEL_REHEARSE_EXECUTION, args->executable->facts->name, run(args));
}

void execute_fill(PJRT_Api *table) {
    table->PJRT_LoadedExecutable_Execute = execute;
}
