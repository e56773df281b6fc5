// Executables: what they are made of is in facts.c.
#include "pjrt/outlines.h"
#include "rehearse/objects.h"

// ---- loaded executables ------------------------------------------------------------------------

static void destroy_loaded(PJRT_LoadedExecutable *loaded) {
    if (!loaded) return;
    facts_release(loaded->facts);
    keel_free((void *)loaded->devices);
    keel_free(loaded->ids);
    keel_free(loaded);
}

static keel_status_t choose_devices(PJRT_LoadedExecutable *loaded) {
    const keel_signature_t *signature = &loaded->facts->signature;
    PJRT_Client *client = loaded->client;
    uint64_t count = (uint64_t)signature->replicas * signature->partitions;
    void *memory;
    if (count > client->count)
        return keel_status_make(KEEL_INVALID,
                                "keel: %s is for %llu devices, and %s has %zu; rehearse it on a "
                                "larger target",
                                loaded->facts->name, (unsigned long long)count,
                                rehearsal.target->name, client->count);
    KEEL_TRY(keel_calloc((size_t)count, sizeof *loaded->ids, &memory));
    loaded->ids = memory;
    KEEL_TRY(keel_calloc((size_t)count, sizeof *loaded->devices, &memory));
    loaded->devices = memory;
    for (uint64_t i = 0; i < count; ++i) {
        loaded->ids[i] = signature->devices ? signature->devices[i] : client->all[i]->id;
        PJRT_Device *device = client_device(client, loaded->ids[i]);
        if (!device)
            return keel_status_make(KEEL_INVALID, "keel: %s is for device %lld, which %s lacks",
                                    loaded->facts->name, (long long)loaded->ids[i],
                                    rehearsal.target->name);
        if (device->local_id >= 0) loaded->devices[loaded->device_count++] = device;
    }
    if (loaded->device_count) return NULL;
    return keel_status_make(KEEL_INVALID, "keel: %s is for devices of other processes only",
                            loaded->facts->name);
}

// Chooses its devices. Takes over the facts.
static keel_status_t begin_loaded(PJRT_Client *client, facts_t *facts,
                                  PJRT_LoadedExecutable **out) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(PJRT_LoadedExecutable), &memory);
    if (status) {
        facts_release(facts);
        return status;
    }
    PJRT_LoadedExecutable *loaded = memory;
    loaded->client = client;
    loaded->facts = facts;
    status = choose_devices(loaded);
    if (status)
        destroy_loaded(loaded);
    else
        *out = loaded;
    return status;
}

static PJRT_Error *await_shardings(facts_t *facts) {
    const keel_compiled_t *compiled = compiling_wait(facts->compiling);
    if (compiled->error) return compiling_refusal(compiled);
    keel_status_t status =
        facts_take_module(facts, keel_bytes(compiled->program, compiled->program_size),
                          keel_str(compiled->program_format ? compiled->program_format : ""));
    return status ? keel_pjrt_error(status) : NULL;
}

// Some compilers cannot stop there, and one that crashes may do so only there. So this does not say
// whether they take the program: without an answer it is compiled.
static keel_status_t await_partition(const PJRT_Client_Compile_Args *args, facts_t *facts) {
    compiling_t *compiling;
    KEEL_TRY(compiling_begin(args, true, &compiling));
    const keel_compiled_t *compiled = compiling_wait(compiling);
    keel_status_t status = NULL;
    facts->is_partitioned = !compiled->error && compiled->program_size;
    facts->partition_seconds = compiled->seconds;
    if (facts->is_partitioned)
        status = facts_take_shardings(
            facts, keel_bytes(compiled->program, compiled->program_size),
            keel_str(compiled->program_format ? compiled->program_format : ""));
    compiling_release(compiling);
    return status;
}

// Only the compiler knows how it shards results. Every other program is compiled while the client
// goes on.
static PJRT_Error *complete(const PJRT_Client_Compile_Args *args, PJRT_LoadedExecutable *loaded) {
    facts_t *facts = loaded->facts;
    keel_status_t status = NULL;
    bool compiles = rehearsal.compiles != KEEL_REHEARSE_NONE && !is_forked();
    bool is_open = keel_signature_is_open(&facts->signature);
    if (is_open && !compiles) {
        status = await_partition(args, facts);
        is_open = !facts->is_partitioned;
    }
    if (!status && (is_open || compiles)) status = compiling_begin(args, false, &facts->compiling);
    if (status) return keel_pjrt_error(status);
    PJRT_Error *error = is_open ? await_shardings(facts) : NULL;
    if (error) return error;
    status = facts_finish(facts, loaded->devices[0]);
    return status ? keel_pjrt_error(status) : NULL;
}

static PJRT_Error *compile(PJRT_Client_Compile_Args *args) {
    facts_t *facts;
    PJRT_LoadedExecutable *loaded;
    keel_status_t status = facts_begin(args, &facts);
    if (!status) status = begin_loaded(args->client, facts, &loaded);
    if (status) return keel_pjrt_error(status);
    PJRT_Error *error = complete(args, loaded);
    if (error)
        destroy_loaded(loaded);
    else
        args->executable = loaded;
    return error;
}

keel_status_t keel_rehearse_when_compiled(PJRT_LoadedExecutable *loaded, keel_rehearse_done_t *done,
                                          void *context, bool *out_called) {
    *out_called = loaded->facts->compiling;
    if (!*out_called) return NULL;
    keel_status_t status = compiling_when_done(loaded->facts->compiling, done, context);
    if (status) *out_called = false;
    return status;
}

// ---- state -------------------------------------------------------------------------------------

keel_rehearse_state_t keel_rehearse_state(PJRT_LoadedExecutable *loaded) {
    compiling_t *compiling = loaded->facts->compiling;
    if (!compiling) return KEEL_REHEARSE_NOT_COMPILED;
    return compiling_look(compiling) ? KEEL_REHEARSE_COMPILED : KEEL_REHEARSE_COMPILING;
}

bool keel_rehearse_is_guess(const PJRT_LoadedExecutable *loaded) {
    return facts_are_guessed(loaded->facts);
}

bool keel_rehearse_is_partitioned(const PJRT_LoadedExecutable *loaded, keel_bytes_t *out_module,
                                  const char **out_format, double *out_seconds) {
    const facts_t *facts = loaded->facts;
    *out_module = keel_buffer_bytes(&facts->module);
    *out_format = facts->format;
    *out_seconds = facts->partition_seconds;
    return facts->is_partitioned;
}

keel_status_t keel_rehearse_load(const PJRT_Client_Compile_Args *args, keel_bytes_t serialized,
                                 keel_bytes_t module, keel_str_t module_format,
                                 const keel_program_memory_t *memory, PJRT_LoadedExecutable **out) {
    facts_t *facts;
    PJRT_LoadedExecutable *loaded;
    KEEL_TRY(facts_begin(args, &facts));
    facts->has_memory = memory;
    if (memory) facts->memory = *memory;
    KEEL_TRY(begin_loaded(args->client, facts, &loaded));
    keel_buffer_append(&facts->serialized, serialized.data, serialized.size);
    keel_status_t status = keel_buffer_status(&facts->serialized);
    if (!status) status = facts_take_module(facts, module, module_format);
    if (!status) status = facts_finish(facts, loaded->devices[0]);
    if (status)
        destroy_loaded(loaded);
    else
        *out = loaded;
    return status;
}

bool keel_rehearse_spans(const PJRT_LoadedExecutable *loaded) {
    uint32_t partitions = loaded->facts->signature.partitions;
    return partitions > 1 && partitions > loaded->device_count && !loaded->facts->is_alone;
}

uint64_t keel_rehearse_computes(const PJRT_LoadedExecutable *loaded) {
    return loaded->facts->combines ? loaded->facts->result_bytes : 0;
}

uint64_t keel_rehearse_adds(const PJRT_LoadedExecutable *loaded) {
    const facts_t *facts = loaded->facts;
    if (facts->result_bytes <= facts->donated_bytes) return 0;
    return facts->result_bytes - facts->donated_bytes;
}

uint64_t keel_rehearse_in_use(const PJRT_LoadedExecutable *loaded) {
    uint64_t most = 0;
    for (size_t i = 0; i < loaded->device_count; ++i) {
        uint64_t bytes = atomic_load(&loaded->devices[i]->standard->in_use);
        if (bytes > most) most = bytes;
    }
    return most;
}

// ---- the table ---------------------------------------------------------------------------------

static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    destroy_loaded(args->executable);
    return NULL;
}

static PJRT_Error *loaded_delete(PJRT_LoadedExecutable_Delete_Args *args) {
    atomic_store(&args->executable->is_deleted, true);
    return NULL;
}

static PJRT_Error *loaded_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args *args) {
    args->is_deleted = atomic_load(&args->executable->is_deleted);
    return NULL;
}

static PJRT_Error *get_executable(PJRT_LoadedExecutable_GetExecutable_Args *args) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(PJRT_Executable), &memory);
    if (status) return keel_pjrt_error(status);
    PJRT_Executable *executable = memory;
    executable->facts = args->loaded_executable->facts;
    atomic_fetch_add(&executable->facts->references, 1);
    args->executable = executable;
    return NULL;
}

static PJRT_Error *own_devices(PJRT_LoadedExecutable_AddressableDevices_Args *args) {
    args->addressable_devices = args->executable->devices;
    args->num_addressable_devices = args->executable->device_count;
    return NULL;
}

// Source: DeviceAssignmentProto of xla_data.proto.
static void write_assignment(const PJRT_LoadedExecutable *loaded, keel_buffer_t *out) {
    enum { REPLICAS = 1, COMPUTATIONS = 2, DEVICES = 3, REPLICA_DEVICES = 1 };
    const keel_signature_t *signature = &loaded->facts->signature;
    keel_proto_put_number(out, REPLICAS, KEEL_WIRE_VARINT, signature->replicas);
    keel_proto_put_number(out, COMPUTATIONS, KEEL_WIRE_VARINT, signature->partitions);
    for (uint32_t partition = 0; partition < signature->partitions; ++partition) {
        size_t devices = keel_proto_open(out, DEVICES);
        size_t packed = keel_proto_open(out, REPLICA_DEVICES);
        for (uint32_t replica = 0; replica < signature->replicas; ++replica)
            keel_proto_put_varint(
                out, (uint64_t)loaded->ids[(size_t)replica * signature->partitions + partition]);
        keel_proto_close(out, packed);
        keel_proto_close(out, devices);
    }
}

static void free_assignment(PJRT_DeviceAssignmentSerialized *assignment) {
    keel_free(assignment);
}

static PJRT_Error *assignment_of(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args) {
    keel_buffer_t bytes;
    uint8_t *data;
    size_t size;
    keel_buffer_initialize(&bytes, 0);
    write_assignment(args->executable, &bytes);
    keel_status_t status = keel_buffer_take(&bytes, &data, &size);
    keel_buffer_deinitialize(&bytes);
    if (status) return keel_pjrt_error(status);
    args->serialized_bytes = (const char *)data;
    args->serialized_bytes_size = size;
    args->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized *)data;
    args->serialized_device_assignment_deleter = free_assignment;
    return NULL;
}

static PJRT_Error *destroy(PJRT_Executable_Destroy_Args *args) {
    if (!args->executable) return NULL;
    unloaded_forget(args->executable);
    facts_release(args->executable->facts);
    keel_free(args->executable);
    return NULL;
}

static PJRT_Error *name_of(PJRT_Executable_Name_Args *args) {
    args->executable_name = args->executable->facts->name;
    args->executable_name_size = strlen(args->executable_name);
    return NULL;
}

static PJRT_Error *replicas_of(PJRT_Executable_NumReplicas_Args *args) {
    args->num_replicas = args->executable->facts->signature.replicas;
    return NULL;
}

static PJRT_Error *partitions_of(PJRT_Executable_NumPartitions_Args *args) {
    args->num_partitions = args->executable->facts->signature.partitions;
    return NULL;
}

static PJRT_Error *outputs_of(PJRT_Executable_NumOutputs_Args *args) {
    args->num_outputs = args->executable->facts->signature.result_count;
    return NULL;
}

static PJRT_Error *output_types(PJRT_Executable_OutputElementTypes_Args *args) {
    args->output_types = args->executable->facts->types;
    args->num_output_types = args->executable->facts->signature.result_count;
    return NULL;
}

static PJRT_Error *output_dimensions(PJRT_Executable_OutputDimensions_Args *args) {
    args->num_outputs = args->executable->facts->signature.result_count;
    args->dims = args->executable->facts->dims;
    args->dim_sizes = args->executable->facts->ranks;
    return NULL;
}

static PJRT_Error *output_kinds(PJRT_Executable_OutputMemoryKinds_Args *args) {
    args->num_outputs = args->executable->facts->signature.result_count;
    args->memory_kinds = args->executable->facts->kinds;
    args->memory_kind_sizes = args->executable->facts->kind_sizes;
    return NULL;
}

static PJRT_Error *not_compiled(const facts_t *facts, const char *what) {
    return keel_pjrt_error(keel_status_make(
        KEEL_UNSUPPORTED, "keel: %s was not compiled in this process, so %s is not known",
        facts->name, what));
}

// What the compiler made of it; NULL with *out_error if it made nothing.
static const keel_compiled_t *await_compiled(facts_t *facts, const char *what,
                                             PJRT_Error **out_error) {
    const keel_compiled_t *compiled = facts->compiling ? compiling_wait(facts->compiling) : NULL;
    *out_error = !compiled         ? not_compiled(facts, what)
                 : compiled->error ? compiling_refusal(compiled)
                                   : NULL;
    return *out_error ? NULL : compiled;
}

// NULL if it is not known, or the program does not compile: *out_error.
static const keel_program_memory_t *await_memory(facts_t *facts, PJRT_Error **out_error) {
    *out_error = NULL;
    if (facts->has_memory) return &facts->memory;
    const keel_compiled_t *compiled = await_compiled(facts, "its memory", out_error);
    return compiled && compiled->has_memory ? &compiled->memory : NULL;
}

// 0 if it is not known: JAX adds it up for its profile of memory, and aborts if this fails.
static PJRT_Error *code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args) {
    PJRT_Error *error;
    const keel_program_memory_t *memory = await_memory(args->executable->facts, &error);
    args->size_in_bytes = memory ? (int64_t)memory->code : 0;
    keel_pjrt_error_destroy(error);
    return NULL;
}

static PJRT_Error *cost_analysis(PJRT_Executable_GetCostAnalysis_Args *args) {
    PJRT_Error *error;
    facts_t *facts = args->executable->facts;
    const keel_compiled_t *compiled = await_compiled(facts, "its cost", &error);
    if (!compiled) return error;
    args->properties = compiled->costs;
    args->num_properties = compiled->cost_count;
    if (compiled->cost_count) return NULL;
    return keel_pjrt_error(keel_status_make(
        KEEL_UNSUPPORTED, "keel: the compiler of %s does not say what an execution of %s costs",
        rehearsal.target->name, facts->name));
}

static PJRT_Error *memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args *args) {
    PJRT_Error *error;
    const facts_t *facts = args->executable->facts;
    const keel_program_memory_t *memory = await_memory(args->executable->facts, &error);
    if (!memory) return error ? error : not_compiled(facts, "its memory");
    size_t first =
        offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, executable) + sizeof args->executable;
    if (args->struct_size > first) memset((char *)args + first, 0, args->struct_size - first);
    args->generated_code_size_in_bytes = (int64_t)memory->code;
    args->argument_size_in_bytes = (int64_t)memory->arguments;
    args->output_size_in_bytes = (int64_t)memory->outputs;
    args->alias_size_in_bytes = (int64_t)memory->aliased;
    args->temp_size_in_bytes = (int64_t)memory->temporaries;
    args->peak_memory_in_bytes = (int64_t)memory->peak;
    return NULL;
}

// Asked for the size first, then for the bytes: both times it is the same module.
static PJRT_Error *optimized_program(PJRT_Executable_OptimizedProgram_Args *args) {
    const facts_t *facts = args->executable->facts;
    bool suffices = facts->has_outline && keel_outlines_suffice(args->executable);
    const keel_buffer_t *module = suffices ? &facts->outline : &facts->module;
    PJRT_Program *program = args->program;
    if (program->code && program->code_size < module->size)
        return keel_pjrt_error(keel_status_make(KEEL_INVALID,
                                                "%zu bytes of room for a module of %zu",
                                                program->code_size, module->size));
    if (program->code) memcpy(program->code, module->data, module->size);
    program->code_size = module->size;
    program->format = facts->format;
    program->format_size = strlen(facts->format);
    return NULL;
}

static void release_serialized(PJRT_SerializedExecutable *serialized) {
    facts_release((facts_t *)serialized);
}

static PJRT_Error *serialize(PJRT_Executable_Serialize_Args *args) {
    PJRT_Error *error;
    facts_t *facts = args->executable->facts;
    if (facts->serialized.size) {
        args->serialized_bytes = (const char *)facts->serialized.data;
        args->serialized_bytes_size = facts->serialized.size;
    } else {
        const keel_compiled_t *compiled = await_compiled(facts, "its serialized form", &error);
        if (!compiled) return error;
        args->serialized_bytes = (const char *)compiled->executable;
        args->serialized_bytes_size = compiled->executable_size;
    }
    atomic_fetch_add(&facts->references, 1);
    args->serialized_executable = (PJRT_SerializedExecutable *)facts;
    args->serialized_executable_deleter = release_serialized;
    return NULL;
}

void executable_fill(PJRT_Api *table) {
    table->PJRT_Client_Compile = compile;
    table->PJRT_LoadedExecutable_Destroy = loaded_destroy;
    table->PJRT_LoadedExecutable_Delete = loaded_delete;
    table->PJRT_LoadedExecutable_IsDeleted = loaded_is_deleted;
    table->PJRT_LoadedExecutable_GetExecutable = get_executable;
    table->PJRT_LoadedExecutable_AddressableDevices = own_devices;
    table->PJRT_LoadedExecutable_GetDeviceAssignment = assignment_of;
    table->PJRT_Executable_Destroy = destroy;
    table->PJRT_Executable_Name = name_of;
    table->PJRT_Executable_NumReplicas = replicas_of;
    table->PJRT_Executable_NumPartitions = partitions_of;
    table->PJRT_Executable_NumOutputs = outputs_of;
    table->PJRT_Executable_OutputElementTypes = output_types;
    table->PJRT_Executable_OutputDimensions = output_dimensions;
    table->PJRT_Executable_OutputMemoryKinds = output_kinds;
    table->PJRT_Executable_SizeOfGeneratedCodeInBytes = code_size;
    table->PJRT_Executable_GetCostAnalysis = cost_analysis;
    table->PJRT_Executable_GetCompiledMemoryStats = memory_stats;
    table->PJRT_Executable_OptimizedProgram = optimized_program;
    table->PJRT_Executable_Serialize = serialize;
}
