// Executions: buffers of the results' shapes, and donated arguments.
#include "rehearse/objects.h"

static bool is_kept(const PJRT_ExecuteOptions *options, size_t argument) {
    for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i)
        if (options->non_donatable_input_indices[i] == (int64_t)argument) return true;
    return false;
}

static keel_status_t check_arguments(const PJRT_LoadedExecutable_Execute_Args *args,
                                     const facts_t *facts) {
    if (args->num_args != facts->signature.parameter_count)
        return keel_status_make(KEEL_INVALID, "%s takes %u arguments and was given %zu",
                                facts->name, facts->signature.parameter_count, args->num_args);
    for (size_t device = 0; device < args->num_devices; ++device) {
        for (size_t i = 0; i < args->num_args; ++i) {
            PJRT_Buffer *buffer = args->argument_lists[device][i];
            pthread_mutex_lock(&buffer->lock);
            bool is_deleted = buffer->is_deleted;
            pthread_mutex_unlock(&buffer->lock);
            if (is_deleted)
                return keel_status_make(
                    KEEL_INVALID, "argument %zu of %s has been deleted or donated", i, facts->name);
        }
    }
    return NULL;
}

static keel_status_t make_results(const facts_t *facts, PJRT_Device *device, PJRT_Buffer **out) {
    for (uint32_t i = 0; i < facts->signature.result_count; ++i) {
        const keel_array_t *result = &facts->signature.results[i];
        const making_t making = {.memory = device_memory(device, result->memory),
                                 .type = facts->types[i],
                                 .dims = result->shard.dims,
                                 .rank = result->shard.rank,
                                 .layout = facts->layouts[i],
                                 .maker = facts->name};
        keel_status_t status = buffer_create(&making, &out[i]);
        if (!status) continue;
        while (i--)
            buffer_destroy(out[i]);
        return status;
    }
    return NULL;
}

static void donate(const PJRT_LoadedExecutable_Execute_Args *args, const facts_t *facts) {
    for (size_t i = 0; i < args->num_args; ++i) {
        if (!facts->signature.parameters[i].donated || is_kept(args->options, i)) continue;
        for (size_t device = 0; device < args->num_devices; ++device)
            buffer_delete(args->argument_lists[device][i]);
    }
}

static void unmake(const PJRT_LoadedExecutable_Execute_Args *args, const facts_t *facts,
                   size_t devices) {
    for (size_t device = 0; device < devices; ++device)
        for (uint32_t i = 0; i < facts->signature.result_count; ++i)
            buffer_destroy(args->output_lists[device][i]);
}

static keel_status_t run(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *executable = args->executable;
    const facts_t *facts = executable->facts;
    if (atomic_load(&executable->is_deleted))
        return keel_status_make(KEEL_INVALID, "%s has been deleted", facts->name);
    KEEL_TRY(check_arguments(args, facts));
    for (size_t i = 0; i < args->num_devices; ++i) {
        PJRT_Device *device = args->execute_device ? args->execute_device : executable->devices[i];
        keel_status_t status = make_results(facts, device, args->output_lists[i]);
        if (status) {
            unmake(args, facts, i);
            return status;
        }
    }
    values_compute(args);
    donate(args, facts);
    for (size_t i = 0; args->device_complete_events && i < args->num_devices; ++i)
        args->device_complete_events[i] = event_ready();
    return NULL;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    keel_status_t status = run(args);
    return status ? keel_pjrt_error(status) : NULL;
}

void execute_fill(PJRT_Api *table) {
    table->PJRT_LoadedExecutable_Execute = execute;
}
