// A rehearsal on two processors that are not there, in this process, and small programs of HLO for
// it. Nothing is compiled, except what the real plugin computes.
#ifndef KEEL_TESTS_REHEARSE_HELP_H_
#define KEEL_TESTS_REHEARSE_HELP_H_

#include "hlo_proto.h"
#include "pjrt_help.h"
#include "place.h"

#include "rehearse/objects.h"

static const PJRT_Api *api;
static PJRT_Client *client;

// "" as the calculator: nothing is computed. PJRT's functions carry no context, so a test has one
// rehearsal.
static inline int rehearse(const char *name, const char *calculator) {
    static keel_target_t target;
    static keel_plugin_t plugin;
    if (!target.name) {
        assert_ok(keel_target_read(name, &target));
        assert_ok(keel_plugin_load(KEEL_TEST_CPU_PLUGIN, &plugin));
        PJRT_Plugin_Initialize_Args args = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
        NO_ERROR(plugin.api, plugin.api->PJRT_Plugin_Initialize(&args));
    }
    const keel_rehearse_settings_t settings = {.target = &target,
                                               .plugin = &plugin,
                                               .compiles = KEEL_REHEARSE_NONE,
                                               .calculator = calculator};
    assert_ok(keel_rehearse_begin(&settings, &api));
    client = door_client(api);
    return 0;
}

static inline void assert_error(PJRT_Error *error, const char *words) {
    char text[1024];
    assert_non_null(error);
    door_message(api, error, text);
    door_drop(api, error);
    if (!strstr(text, words)) fail_msg("'%s' does not say '%s'", text, words);
}

// ---- programs ----------------------------------------------------------------------------------

enum { HLO_ALIAS = 8, HLO_SHARDING = 40, HLO_PARAMETER_NUMBER = 9 };

typedef struct made_program_t {
    proto_t body, extra;   // extra: fields of the module
    proto_t shape, result; // of the program; of the last operation
    int64_t last;          // id
} made_program_t;

static inline made_program_t begin_program(void) {
    return (made_program_t){.body = proto(), .extra = proto(), .shape = proto(), .result = proto()};
}

// `sharding`: an OpSharding, or NULL.
static inline int64_t add_operation(made_program_t *made, const char *opcode,
                                    const int64_t *operands, size_t count, proto_t *type,
                                    const proto_t *sharding) {
    proto_t p = proto();
    char name[24];
    snprintf(name, sizeof name, "v%lld", (long long)++made->last);
    put_text(&p, 1, name);
    put_text(&p, 2, opcode);
    put_bytes(&p, 3, type->data, type->size);
    put_int(&p, 35, made->last);
    if (count) put_packed(&p, 36, operands, count);
    if (strcmp(opcode, "parameter") == 0) {
        put_int(&p, HLO_PARAMETER_NUMBER, made->last - 1);
        put_bytes(&made->shape, 1, type->data, type->size);
    }
    if (sharding) put_bytes(&p, HLO_SHARDING, sharding->data, sharding->size);
    put_message(&made->body, 2, &p);
    keel_buffer_deinitialize(&made->result);
    made->result = *type;
    return made->last;
}

// Parameters come first, in order.
static inline int64_t add_parameter(made_program_t *made, int element, const int64_t *dims,
                                    size_t rank, const proto_t *sharding) {
    proto_t type = shape(element, dims, rank);
    return add_operation(made, "parameter", NULL, 0, &type, sharding);
}

static inline int64_t add_binary(made_program_t *made, const char *opcode, int64_t a, int64_t b,
                                 int element, const int64_t *dims, size_t rank,
                                 const proto_t *sharding) {
    const int64_t operands[] = {a, b};
    proto_t type = shape(element, dims, rank);
    return add_operation(made, opcode, operands, 2, &type, sharding);
}

// The only result takes the parameter's memory.
static inline void donate(made_program_t *made, int64_t parameter) {
    proto_t alias = proto(), entry = proto();
    put_int(&entry, 2, parameter);
    put_message(&alias, 1, &entry);
    put_message(&made->extra, HLO_ALIAS, &alias);
}

// {devices=[parts of each dimension]}
static inline proto_t sharded(const int64_t *parts, size_t rank) {
    static const int64_t devices[] = {0, 1};
    proto_t p = proto();
    put_int(&p, 1, 3);
    put_packed(&p, 3, parts, rank);
    put_packed(&p, 4, devices, 2);
    return p;
}

static inline proto_t module_of_program(made_program_t *made) {
    put_message(&made->shape, 2, &made->result);
    put_bytes(&made->body, 4, made->shape.data, made->shape.size);
    proto_t module = module_of(&made->body, made->last);
    put_message(&module, 4, &made->shape);
    keel_buffer_append(&module, made->extra.data, made->extra.size);
    keel_buffer_deinitialize(&made->extra);
    return module;
}

static inline PJRT_Error *try_module(const proto_t *module, const char *options,
                                     PJRT_LoadedExecutable **out) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)module->data,
                            .code_size = module->size,
                            .format = "hlo",
                            .format_size = 3};
    PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client,
                                     .program = &program, .compile_options = options,
                                     .compile_options_size = strlen(options)};
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    *out = error ? NULL : args.executable;
    return error;
}

static inline PJRT_Error *try_program(made_program_t *made, const char *options,
                                      PJRT_LoadedExecutable **out) {
    proto_t module = module_of_program(made);
    PJRT_Error *error = try_module(&module, options, out);
    keel_buffer_deinitialize(&module);
    return error;
}

// CompileOptionsProto: one partition, and two with SPMD.
static const char one_device[] = "\x1a\x04\x20\x01\x28\x01",
                  two_devices[] = "\x1a\x06\x20\x01\x28\x02\x30\x01";

static inline PJRT_LoadedExecutable *end_program(made_program_t *made, const char *options) {
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, try_program(made, options, &loaded));
    return loaded;
}

// x + x of f32[size], the first of two parameters donated if `donates`.
static inline PJRT_LoadedExecutable *sum_program(int64_t size, bool donates) {
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    int64_t b = add_parameter(&made, F32, &size, 1, NULL);
    add_binary(&made, "add", a, b, F32, &size, 1, NULL);
    if (donates) donate(&made, 0);
    return end_program(&made, one_device);
}

// ---- arrays ------------------------------------------------------------------------------------

static inline PJRT_Buffer *send_to(PJRT_Device *device, const void *data, PJRT_Buffer_Type type,
                                   const int64_t *dims, size_t rank) {
    PJRT_Client_BufferFromHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
                                                  .client = client,
                                                  .data = data,
                                                  .type = type,
                                                  .dims = dims,
                                                  .num_dims = rank,
                                                  .device = device};
    NO_ERROR(api, api->PJRT_Client_BufferFromHostBuffer(&args));
    return args.buffer;
}

static inline PJRT_Buffer *send_floats(const float *data, int64_t size) {
    return send_to(client->all[0], data, PJRT_Buffer_Type_F32, &size, 1);
}

static inline PJRT_Error *execute_on(PJRT_LoadedExecutable *loaded,
                                     PJRT_Buffer *const *const *lists, size_t devices, size_t count,
                                     PJRT_Buffer **const *results, PJRT_ExecuteOptions *options) {
    PJRT_ExecuteOptions usual = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = loaded,
                                               .options = options ? options : &usual,
                                               .argument_lists = lists,
                                               .num_devices = devices,
                                               .num_args = count,
                                               .output_lists = results};
    return api->PJRT_LoadedExecutable_Execute(&args);
}

static inline PJRT_Error *try_execute(PJRT_LoadedExecutable *loaded, PJRT_Buffer *const *arguments,
                                      size_t count, PJRT_Buffer **result) {
    PJRT_Buffer *const *lists[] = {arguments};
    PJRT_Buffer **const results[] = {result};
    return execute_on(loaded, lists, 1, count, results, NULL);
}

static inline void assert_floats(PJRT_Buffer *buffer, const float *wanted, size_t count) {
    float got[64];
    assert_int_equal(door_to_host(api, buffer, got, sizeof got), count * sizeof *got);
    assert_memory_equal(got, wanted, count * sizeof *got);
}

static inline bool is_gone(PJRT_Buffer *buffer) {
    PJRT_Buffer_IsDeleted_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_IsDeleted), .buffer = buffer};
    NO_ERROR(api, api->PJRT_Buffer_IsDeleted(&args));
    return args.is_deleted;
}

static inline uint64_t in_use(size_t device) {
    return atomic_load(&client->all[device]->standard->in_use);
}

#endif // KEEL_TESTS_REHEARSE_HELP_H_
