#include "device.h"

#include <stdlib.h>

#include "read/print.h"
#include "read/read.h"

keel_status_t device_open(const char *path, device_t *out) {
    KEEL_TRY(keel_plugin_load(path, &out->plugin));
    const PJRT_Api *api = out->plugin.api;
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Plugin_Initialize, initialize));
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Create, create));
    PJRT_Client_AddressableDevices_Args devices = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                                   .client = create.client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_AddressableDevices, devices));
    if (!devices.num_addressable_devices)
        return keel_status_make(KEEL_NOT_FOUND, "%s has no device", path);
    out->client = create.client;
    out->first = devices.addressable_devices[0];
    return NULL;
}

// ---- compiling ---------------------------------------------------------------------------------

// CompileOptionsProto: executable_build_options = 3 {num_replicas = 4, num_partitions = 5,
// use_spmd_partitioning = 6, use_shardy_partitioner = 19}.
static keel_status_t put_options(keel_buffer_t *out, unsigned partitions) {
    size_t build = keel_proto_open(out, 3);
    keel_proto_put_number(out, 4, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, 5, KEEL_WIRE_VARINT, partitions);
    if (partitions > 1) {
        keel_proto_put_number(out, 6, KEEL_WIRE_VARINT, 1);
        keel_proto_put_number(out, 19, KEEL_WIRE_VARINT, 1);
    }
    keel_proto_close(out, build);
    return keel_buffer_status(out);
}

keel_status_t device_compile(const device_t *device, const char *format, keel_bytes_t code,
                             unsigned partitions, PJRT_LoadedExecutable **out) {
    keel_buffer_t options;
    keel_buffer_initialize(&options, 0);
    keel_status_t status = put_options(&options, partitions);
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code.data,
                            .code_size = code.size,
                            .format = format,
                            .format_size = strlen(format)};
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = device->client, .program = &program,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
    if (!status) status = KEEL_PJRT_CALL(device->plugin.api, PJRT_Client_Compile, args);
    keel_buffer_deinitialize(&options);
    if (!status) *out = args.executable;
    return status;
}

// XLA derives the names of computations from those of instructions: "@while.15_computation". Each
// becomes the number of those before it.
static keel_status_t number_names(keel_str_t text, keel_buffer_t *out) {
    keel_map_t names;
    keel_status_t status = NULL;
    keel_map_initialize(&names);
    for (size_t at = 0, end; at < text.size && !status; at = end) {
        for (end = at; end < text.size && text.data[end] != '@';)
            ++end;
        keel_buffer_append(out, text.data + at, end - at);
        for (at = end; end < text.size && !strchr("(, ]\n", text.data[end]);)
            ++end;
        keel_bytes_t name = keel_bytes(text.data + at, end - at);
        if (!name.size) continue;
        if (!keel_map_find(&names, name)) status = keel_map_put(&names, name, names.count);
        if (!status)
            keel_buffer_format(out, "@%llu", (unsigned long long)*keel_map_find(&names, name));
    }
    keel_map_deinitialize(&names);
    return status ? status : keel_buffer_status(out);
}

static keel_status_t print_program(keel_bytes_t proto, keel_buffer_t *out) {
    keel_program_t program;
    keel_buffer_t text;
    KEEL_TRY(keel_read_hlo(proto, &program));
    // The schedule: what does not depend on each other is ordered by ids.
    for (uint32_t i = 0; i < program.functions.count; ++i)
        program.functions.data[i].attributes = KEEL_NONE;
    keel_buffer_initialize(&text, 0);
    const keel_print_options_t options = {.largest_value = UINT32_MAX};
    keel_status_t status = keel_print_text(&program, &options, &text);
    if (!status) status = number_names(keel_bytes_str(keel_buffer_bytes(&text)), out);
    keel_buffer_deinitialize(&text);
    keel_program_deinitialize(&program);
    return status;
}

// HloModuleProtoWithConfig: hlo_module = 1.
static keel_status_t print_optimized(keel_bytes_t bytes, keel_str_t format, keel_buffer_t *out) {
    keel_cursor_t c = keel_cursor(bytes);
    keel_proto_field_t field;
    if (keel_str_is(format, "hlo")) return print_program(bytes, out);
    while (keel_str_is(format, "hlo_with_config") && keel_proto_next(&c, &field))
        if (field.number == 1) return print_program(field.bytes, out);
    return keel_status_make(KEEL_UNSUPPORTED, "an optimized program in the format %.*s",
                            KEEL_STR_ARGS(format));
}

keel_status_t device_optimized(const device_t *device, PJRT_LoadedExecutable *loaded,
                               keel_buffer_t *out) {
    const PJRT_Api *api = device->plugin.api;
    PJRT_Executable *executable;
    keel_buffer_t bytes;
    keel_str_t format;
    KEEL_TRY(keel_pjrt_executable(api, loaded, &executable));
    keel_buffer_initialize(&bytes, 0);
    keel_status_t status = keel_pjrt_optimized_program(api, executable, &bytes, &format);
    if (!status) status = print_optimized(keel_buffer_bytes(&bytes), format, out);
    keel_buffer_deinitialize(&bytes);
    keel_pjrt_destroy_executable(api, executable);
    return status;
}

// ---- running -----------------------------------------------------------------------------------

PJRT_Buffer_Type device_type(const keel_program_t *program, keel_type_id_t array) {
    static const PJRT_Buffer_Type floats[KEEL_FLOAT_COUNT] = {
        [KEEL_FLOAT_BF16] = PJRT_Buffer_Type_BF16,
        [KEEL_FLOAT_F16] = PJRT_Buffer_Type_F16,
        [KEEL_FLOAT_F32] = PJRT_Buffer_Type_F32,
        [KEEL_FLOAT_F64] = PJRT_Buffer_Type_F64,
        [KEEL_FLOAT_F8E5M2] = PJRT_Buffer_Type_F8E5M2,
        [KEEL_FLOAT_F8E4M3FN] = PJRT_Buffer_Type_F8E4M3FN,
    };
    const keel_type_t *type = keel_program_type(program, array);
    if (type->kind != KEEL_TYPE_TENSOR) return PJRT_Buffer_Type_INVALID;
    const keel_type_t *element = keel_program_type(program, type->a);
    bool is_unsigned = element->aux == KEEL_UNSIGNED;
    if (element->kind == KEEL_TYPE_FLOAT && element->a < KEEL_FLOAT_COUNT)
        return floats[element->a];
    if (element->kind == KEEL_TYPE_COMPLEX) {
        const keel_type_t *part = keel_program_type(program, element->a);
        return part->a == KEEL_FLOAT_F32 ? PJRT_Buffer_Type_C64 : PJRT_Buffer_Type_C128;
    }
    if (element->kind != KEEL_TYPE_INTEGER) return PJRT_Buffer_Type_INVALID;
    switch (element->a) {
        case 1:
            return PJRT_Buffer_Type_PRED;
        case 8:
            return is_unsigned ? PJRT_Buffer_Type_U8 : PJRT_Buffer_Type_S8;
        case 16:
            return is_unsigned ? PJRT_Buffer_Type_U16 : PJRT_Buffer_Type_S16;
        case 32:
            return is_unsigned ? PJRT_Buffer_Type_U32 : PJRT_Buffer_Type_S32;
        case 64:
            return is_unsigned ? PJRT_Buffer_Type_U64 : PJRT_Buffer_Type_S64;
        default:
            return PJRT_Buffer_Type_INVALID;
    }
}

size_t device_size(const keel_program_t *program, keel_type_id_t array) {
    static const uint8_t sizes[] = {
        [PJRT_Buffer_Type_PRED] = 1,     [PJRT_Buffer_Type_S8] = 1,
        [PJRT_Buffer_Type_U8] = 1,       [PJRT_Buffer_Type_S16] = 2,
        [PJRT_Buffer_Type_U16] = 2,      [PJRT_Buffer_Type_S32] = 4,
        [PJRT_Buffer_Type_U32] = 4,      [PJRT_Buffer_Type_S64] = 8,
        [PJRT_Buffer_Type_U64] = 8,      [PJRT_Buffer_Type_F16] = 2,
        [PJRT_Buffer_Type_BF16] = 2,     [PJRT_Buffer_Type_F32] = 4,
        [PJRT_Buffer_Type_F64] = 8,      [PJRT_Buffer_Type_C64] = 8,
        [PJRT_Buffer_Type_C128] = 16,    [PJRT_Buffer_Type_F8E5M2] = 1,
        [PJRT_Buffer_Type_F8E4M3FN] = 1,
    };
    PJRT_Buffer_Type kind = device_type(program, array);
    size_t size = (size_t)kind < sizeof sizes ? sizes[kind] : 0;
    keel_ints_t dims = keel_program_ints(program, keel_program_type(program, array)->b);
    for (uint32_t i = 0; i < dims.count; ++i)
        size *= dims.items[i] < 0 ? 0 : (size_t)dims.items[i];
    return size;
}

static keel_status_t await_event(const PJRT_Api *api, PJRT_Event *event) {
    if (!event) return NULL;
    PJRT_Event_Await_Args await = {KEEL_PJRT_SIZE(PJRT_Event_Await), .event = event};
    PJRT_Event_Destroy_Args destroy = {KEEL_PJRT_SIZE(PJRT_Event_Destroy), .event = event};
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Event_Await, await);
    keel_status_t after = KEEL_PJRT_CALL(api, PJRT_Event_Destroy, destroy);
    if (!status) return after;
    keel_status_ignore(after);
    return status;
}

static keel_status_t send(const device_t *device, const keel_program_t *program,
                          keel_type_id_t type, const array_t *array, PJRT_Buffer **out) {
    keel_ints_t dims = keel_program_ints(program, keel_program_type(program, type)->b);
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = device->client,
        .data = array->data,
        .type = device_type(program, type),
        .dims = dims.items,
        .num_dims = dims.count,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device->first};
    KEEL_TRY(KEEL_PJRT_CALL(device->plugin.api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return await_event(device->plugin.api, args.done_with_host_buffer);
}

static keel_status_t receive(const device_t *device, PJRT_Buffer *buffer, array_t *out) {
    const PJRT_Api *api = device->plugin.api;
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer};
    void *memory;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args)); // asks for the size
    KEEL_TRY(keel_calloc(args.dst_size + 1, 1, &memory));
    out->data = memory;
    out->size = args.dst_size;
    args.dst = memory;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    return await_event(api, args.event);
}

static void drop(const device_t *device, PJRT_Buffer **buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        PJRT_Buffer_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_Destroy), .buffer = buffers[i]};
        if (buffers[i])
            keel_status_ignore(KEEL_PJRT_CALL(device->plugin.api, PJRT_Buffer_Destroy, args));
    }
    free(buffers);
}

static keel_status_t execute(const device_t *device, PJRT_LoadedExecutable *loaded,
                             PJRT_Buffer *const *arguments, size_t count, PJRT_Buffer **results) {
    PJRT_Buffer *const *argument_lists[] = {arguments};
    PJRT_Buffer **const result_lists[] = {results};
    PJRT_Event *done = NULL;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = loaded,
                                               .options = &options,
                                               .argument_lists = argument_lists,
                                               .num_devices = 1,
                                               .num_args = count,
                                               .output_lists = result_lists,
                                               .device_complete_events = &done};
    KEEL_TRY(KEEL_PJRT_CALL(device->plugin.api, PJRT_LoadedExecutable_Execute, args));
    return await_event(device->plugin.api, done);
}

keel_status_t device_run(const device_t *device, PJRT_LoadedExecutable *loaded,
                         const keel_program_t *program, const keel_type_id_t *types,
                         const array_t *arguments, uint32_t argument_count, array_t *results,
                         uint32_t result_count) {
    PJRT_Buffer **in = calloc(argument_count + 1, sizeof *in);
    PJRT_Buffer **out = calloc(result_count + 1, sizeof *out);
    keel_status_t status = NULL;
    if (!in || !out) abort();
    for (uint32_t i = 0; i < argument_count && !status; ++i)
        status = send(device, program, types[i], &arguments[i], &in[i]);
    if (!status) status = execute(device, loaded, in, argument_count, out);
    for (uint32_t i = 0; i < result_count && !status; ++i)
        status = receive(device, out[i], &results[i]);
    drop(device, in, argument_count);
    drop(device, out, result_count);
    return status;
}
