// A child's compiles.
#include <stdio.h>
#include <sys/resource.h>

#include "compiler/worker.h"
#include "pjrt/bridge.h"
#include "pjrt/kernels.h"
#include "read/read.h"
#include "read/write.h"

// ---- errors ------------------------------------------------------------------------------------

static worker_t *the_worker; // a process has one
static const PJRT_Api *plugin_api;

// Replaces the table's function: reading an error's message also records its code and its words,
// of which a status keeps the beginning only.
static void note_message(PJRT_Error_Message_Args *args) {
    plugin_api->PJRT_Error_Message(args);
    the_worker->code = keel_pjrt_code_of(plugin_api, args->error);
    the_worker->words.size = 0;
    keel_buffer_append(&the_worker->words, args->message, args->message_size);
}

// ---- opening -----------------------------------------------------------------------------------

static keel_status_t load(worker_t *worker, const char *path) {
    keel_plugin_t plugin;
    PJRT_Plugin_Initialize_Args first = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(keel_plugin_load(path, &plugin));
    KEEL_TRY(keel_bridge_create(plugin.api, &worker->api));
    plugin_api = plugin.api;
    the_worker = worker;
    worker->api->PJRT_Error_Message = note_message;
    if (keel_pjrt_has(worker->api, PJRT_Plugin_Initialize))
        KEEL_TRY(KEEL_PJRT_CALL(worker->api, PJRT_Plugin_Initialize, first));
    return NULL;
}

keel_status_t worker_open(const wire_setup_t *setup, worker_t *out) {
    char *path;
    KEEL_TRY(keel_strdup(setup->plugin, &path));
    KEEL_TRY(keel_target_parse("the target", setup->target, &out->target));
    KEEL_TRY(keel_target_set_environment(&out->target));
    KEEL_TRY(load(out, path));
    keel_free(path);
    if (out->target.platform == KEEL_TARGET_CPU) {
        KEEL_TRY(keel_target_client(&out->target, out->api, &out->client));
        keel_kernels_register(out->api, out->client);
        return NULL;
    }
    return keel_target_topology(&out->target, out->api, &out->topology);
}

// ---- compiling ---------------------------------------------------------------------------------

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

// Of this process and of the programs that the compiler ran.
static uint64_t cpu_nanoseconds(void) {
    struct rusage own = {0}, others = {0};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    return 1000 * (microseconds(own.ru_utime) + microseconds(own.ru_stime) +
                   microseconds(others.ru_utime) + microseconds(others.ru_stime));
}

// The option that ends a compile behind the layouts of parameters and results; XLA's compiler for
// the processor has none and leaves out what takes most of its time.
//
// Source: xla/pjrt/proto/compile_options.proto: a map from names to OptionOverrideProto.
static void put_partition_option(const worker_t *worker, keel_buffer_t *out) {
    enum { OVERRIDES = 7, NAME = 1, VALUE = 2, BOOL = 2, INT = 3 };
    size_t entry = keel_proto_open(out, OVERRIDES);
    keel_proto_put_bytes(out, NAME,
                         keel_str_bytes(worker->client ? KEEL_STR("xla_backend_optimization_level")
                                                       : KEEL_STR("xla_early_exit_with_layouts")));
    size_t value = keel_proto_open(out, VALUE);
    keel_proto_put_number(out, worker->client ? INT : BOOL, KEEL_WIRE_VARINT, !worker->client);
    keel_proto_close(out, value);
    keel_proto_close(out, entry);
}

static keel_status_t compile_for_topology(const worker_t *worker, const PJRT_Program *program,
                                          keel_bytes_t options, PJRT_Executable **out) {
    PJRT_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Compile), .topology = worker->topology,
                              .program = program, .compile_options = (const char *)options.data,
                              .compile_options_size = options.size};
    KEEL_TRY(KEEL_PJRT_CALL(worker->api, PJRT_Compile, args));
    *out = args.executable;
    return *out ? NULL : keel_status_make(KEEL_PLUGIN, "PJRT_Compile returned no executable");
}

static keel_status_t compile_by_client(const worker_t *worker, const PJRT_Program *program,
                                       keel_bytes_t options, PJRT_LoadedExecutable **out) {
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = worker->client, .program = program,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
    KEEL_TRY(KEEL_PJRT_CALL(worker->api, PJRT_Client_Compile, args));
    *out = args.executable;
    return *out ? NULL
                : keel_status_make(KEEL_PLUGIN, "PJRT_Client_Compile returned no executable");
}

// ---- the answer --------------------------------------------------------------------------------

static keel_status_t describe_partition(worker_t *worker, PJRT_Executable *executable,
                                        wire_answer_t *answer, keel_buffer_t *program) {
    KEEL_TRY(
        keel_pjrt_optimized_program(worker->api, executable, program, &answer->program_format));
    answer->program = keel_buffer_bytes(program);
    answer->is_partition = true;
    return NULL;
}

static void describe_costs(const worker_t *worker, PJRT_Executable *executable,
                           keel_buffer_t *out) {
    // libtpu 0.0.21, of 75, looks for a chip of the machine's, which ends the process. 0.0.48 does
    // not.
    enum { FIRST_THAT_ANSWERS = 115 };
    bool answers =
        worker->client || worker->api->pjrt_api_version.minor_version >= FIRST_THAT_ANSWERS;
    PJRT_Executable_GetCostAnalysis_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_GetCostAnalysis),
                                                 .executable = executable};
    if (!answers || !keel_pjrt_has(worker->api, PJRT_Executable_GetCostAnalysis)) return;
    keel_status_t status = KEEL_PJRT_CALL(worker->api, PJRT_Executable_GetCostAnalysis, args);
    for (size_t i = 0; !status && i < args.num_properties; ++i) {
        const PJRT_NamedValue *cost = &args.properties[i];
        if (cost->type == PJRT_NamedValue_kFloat)
            wire_put_cost(out, (keel_str_t){cost->name, cost->name_size}, cost->float_value);
    }
    keel_status_ignore(status);
}

// The serialized bytes, and what the plugin tells beside. Not all plugins tell all.
static keel_status_t describe(worker_t *worker, PJRT_Executable *executable, wire_answer_t *answer,
                              keel_buffer_t *program, keel_buffer_t *costs) {
    uint8_t *serialized;
    size_t size;
    KEEL_TRY(keel_pjrt_serialize(worker->api, executable, &serialized, &size));
    answer->executable = keel_bytes(serialized, size);
    keel_status_t status =
        keel_pjrt_optimized_program(worker->api, executable, program, &answer->program_format);
    if (!status) answer->program = keel_buffer_bytes(program);
    keel_status_ignore(status);
    status = keel_pjrt_program_memory(worker->api, executable, &answer->memory);
    answer->has_memory = !status;
    keel_status_ignore(status);
    describe_costs(worker, executable, costs);
    answer->costs = keel_buffer_bytes(costs);
    if (keel_pjrt_has(worker->api, PJRT_Executable_Fingerprint)) {
        PJRT_Executable_Fingerprint_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_Fingerprint),
                                                 .executable = executable};
        status = KEEL_PJRT_CALL(worker->api, PJRT_Executable_Fingerprint, args);
        if (!status)
            answer->fingerprint =
                keel_bytes(args.executable_fingerprint, args.executable_fingerprint_size);
        keel_status_ignore(status);
    }
    return NULL;
}

static keel_status_t put_answer(worker_t *worker, PJRT_Executable *executable, bool is_partition,
                                wire_answer_t *answer, keel_buffer_t *out) {
    keel_buffer_t program, costs;
    struct rusage usage = {0};
    keel_buffer_initialize(&program, 0);
    keel_buffer_initialize(&costs, 0);
    keel_status_t status = is_partition ? describe_partition(worker, executable, answer, &program)
                                        : describe(worker, executable, answer, &program, &costs);
    getrusage(RUSAGE_SELF, &usage);
    answer->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
    if (!status) {
        wire_put_answer(out, answer);
        status = keel_buffer_status(out);
    }
    keel_free((void *)(uintptr_t)answer->executable.data);
    keel_buffer_deinitialize(&program);
    keel_buffer_deinitialize(&costs);
    return status;
}

// What cannot be loaded back is worth nothing.
static keel_status_t prove(worker_t *worker, keel_bytes_t serialized) {
    PJRT_LoadedExecutable *loaded;
    KEEL_TRY(keel_pjrt_load(worker->api, worker->client, serialized, keel_bytes("", 0), &loaded));
    keel_pjrt_destroy_loaded(worker->api, loaded);
    return NULL;
}

static keel_status_t compile_on_client(worker_t *worker, const PJRT_Program *program,
                                       keel_bytes_t options, bool is_partition,
                                       keel_buffer_t *out) {
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *executable;
    wire_answer_t answer = {0}, written;
    uint64_t began = keel_clock_monotonic(), cpu = cpu_nanoseconds();
    KEEL_TRY(compile_by_client(worker, program, options, &loaded));
    answer.nanoseconds = keel_clock_monotonic() - began;
    answer.cpu_nanoseconds = cpu_nanoseconds() - cpu;
    keel_status_t status = keel_pjrt_executable(worker->api, loaded, &executable);
    if (!status) {
        status = put_answer(worker, executable, is_partition, &answer, out);
        keel_pjrt_destroy_executable(worker->api, executable);
    }
    keel_pjrt_destroy_loaded(worker->api, loaded);
    if (is_partition || status) return status;
    status = wire_read_answer(keel_bytes(out->data + WIRE_HEAD, out->size - WIRE_HEAD), &written);
    return status ? status : prove(worker, written.executable);
}

static keel_status_t compile_on_topology(worker_t *worker, const PJRT_Program *program,
                                         keel_bytes_t options, bool is_partition,
                                         keel_buffer_t *out) {
    PJRT_Executable *executable;
    wire_answer_t answer = {0};
    uint64_t began = keel_clock_monotonic(), cpu = cpu_nanoseconds();
    KEEL_TRY(compile_for_topology(worker, program, options, &executable));
    answer.nanoseconds = keel_clock_monotonic() - began;
    answer.cpu_nanoseconds = cpu_nanoseconds() - cpu;
    keel_status_t status = put_answer(worker, executable, is_partition, &answer, out);
    keel_pjrt_destroy_executable(worker->api, executable);
    return status;
}

static keel_status_t compile(worker_t *worker, keel_bytes_t code, const wire_job_t *job,
                             keel_buffer_t *out) {
    const PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                  .code = (char *)(uintptr_t)code.data,
                                  .code_size = code.size,
                                  .format = job->format.data,
                                  .format_size = job->format.size};
    keel_buffer_t options;
    keel_buffer_initialize(&options, 0);
    keel_buffer_append(&options, job->options.data, job->options.size);
    if (job->is_partition) put_partition_option(worker, &options);
    keel_status_t status = keel_buffer_status(&options);
    if (!status)
        status = worker->client ? compile_on_client(worker, &program, keel_buffer_bytes(&options),
                                                    job->is_partition, out)
                                : compile_on_topology(worker, &program, keel_buffer_bytes(&options),
                                                      job->is_partition, out);
    keel_buffer_deinitialize(&options);
    return status;
}

static keel_status_t write_again(keel_bytes_t code, keel_buffer_t *out) {
    keel_program_t program;
    KEEL_TRY(keel_read_mlir(code, &program));
    keel_status_t status = keel_write_mlir(&program, out);
    keel_program_deinitialize(&program);
    return status;
}

// A client writes operations in the versions that its own compiler reads, and this one may be older
// than the client's. It names the first that it does not know as one of the dialect vhlo.
keel_status_t worker_compile(worker_t *worker, const wire_job_t *job, keel_buffer_t *out) {
    keel_buffer_t code;
    keel_status_t status = compile(worker, job->code, job, out);
    if (!status || !keel_str_is(job->format, "mlir") ||
        !keel_str_contains(keel_bytes_str(keel_buffer_bytes(&worker->words)), "vhlo"))
        return status;
    keel_buffer_initialize(&code, KEEL_READ_SIZE_LIMIT);
    keel_status_t written = write_again(job->code, &code);
    if (!written) {
        keel_status_ignore(status);
        worker->code = PJRT_Error_Code_OK;
        worker->words.size = 0;
        status = compile(worker, keel_buffer_bytes(&code), job, out);
    }
    keel_status_ignore(written); // what the compiler says of the client's bytes counts
    keel_buffer_deinitialize(&code);
    return status;
}
