// The functions of the table that move data between host and device: the plugin's own, with
// counting around them.
#include <stdatomic.h>

#include "pjrt/error.h"
#include "shim/shim.h"

static const PJRT_Api *plugin;
static keel_engine_t *engine;
static _Atomic(keel_engine_t *) stepping; // the same; keel_step may run before it is set

// Bits of one element; 0 if it has none, or a type that this header does not know.
static uint64_t element_bits(PJRT_Buffer_Type type) {
    switch (type) {
        case PJRT_Buffer_Type_S2:
        case PJRT_Buffer_Type_U2:
            return 2;
        case PJRT_Buffer_Type_S4:
        case PJRT_Buffer_Type_U4:
        case PJRT_Buffer_Type_F4E2M1FN:
            return 4;
        case PJRT_Buffer_Type_PRED:
        case PJRT_Buffer_Type_S8:
        case PJRT_Buffer_Type_U8:
        case PJRT_Buffer_Type_F8E5M2:
        case PJRT_Buffer_Type_F8E4M3FN:
        case PJRT_Buffer_Type_F8E4M3B11FNUZ:
        case PJRT_Buffer_Type_F8E5M2FNUZ:
        case PJRT_Buffer_Type_F8E4M3FNUZ:
        case PJRT_Buffer_Type_F8E4M3:
        case PJRT_Buffer_Type_F8E3M4:
        case PJRT_Buffer_Type_F8E8M0FNU:
            return 8;
        case PJRT_Buffer_Type_S16:
        case PJRT_Buffer_Type_U16:
        case PJRT_Buffer_Type_F16:
        case PJRT_Buffer_Type_BF16:
            return 16;
        case PJRT_Buffer_Type_S32:
        case PJRT_Buffer_Type_U32:
        case PJRT_Buffer_Type_F32:
            return 32;
        case PJRT_Buffer_Type_S64:
        case PJRT_Buffer_Type_U64:
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_C64:
            return 64;
        case PJRT_Buffer_Type_C128:
            return 128;
        default:
            return 0;
    }
}

static uint64_t host_bytes(const PJRT_Client_BufferFromHostBuffer_Args *args) {
    uint64_t elements = 1;
    for (size_t i = 0; i < args->num_dims; ++i)
        elements *= (uint64_t)args->dims[i];
    return (elements * element_bits(args->type) + 7) / 8;
}

// ---- to the device -----------------------------------------------------------------------------

static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *args) {
    uint64_t started = keel_clock_monotonic();
    PJRT_Error *error = plugin->PJRT_Client_BufferFromHostBuffer(args);
    if (error) return error;
    keel_engine_sent(engine, host_bytes(args), keel_clock_monotonic() - started);
    keel_engine_sent_array(engine, args->buffer, args->type, args->dims, args->num_dims);
    return NULL;
}

static PJRT_Error *transfer_data(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args) {
    uint64_t started = keel_clock_monotonic();
    PJRT_Error *error = plugin->PJRT_AsyncHostToDeviceTransferManager_TransferData(args);
    if (!error)
        keel_engine_sent(engine, args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0,
                         keel_clock_monotonic() - started);
    return error;
}

// ---- from the device ---------------------------------------------------------------------------

// Without a destination, the call asks for the size.
static PJRT_Error *to_host(PJRT_Buffer_ToHostBuffer_Args *args) {
    if (!args->dst) return plugin->PJRT_Buffer_ToHostBuffer(args);
    keel_reading_t reading = keel_engine_read_begins(engine, args->src, args->dst_size);
    if (reading.refusal) return keel_pjrt_error(reading.refusal);
    PJRT_Error *error = plugin->PJRT_Buffer_ToHostBuffer(args);
    keel_engine_read_ends(engine, &reading, error ? NULL : args->event);
    return error;
}

static PJRT_Error *raw_to_host(PJRT_Buffer_CopyRawToHost_Args *args) {
    keel_reading_t reading = keel_engine_read_begins(
        engine, args->buffer, args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0);
    if (reading.refusal) return keel_pjrt_error(reading.refusal);
    PJRT_Error *error = plugin->PJRT_Buffer_CopyRawToHost(args);
    keel_engine_read_ends(engine, &reading, error ? NULL : args->event);
    return error;
}

static uint64_t device_bytes(PJRT_Buffer *buffer) {
    PJRT_Buffer_OnDeviceSizeInBytes_Args args = {
        .struct_size = PJRT_Buffer_OnDeviceSizeInBytes_Args_STRUCT_SIZE, .buffer = buffer};
    PJRT_Error *error = plugin->PJRT_Buffer_OnDeviceSizeInBytes(&args);
    if (!error) return args.on_device_size_in_bytes;
    keel_status_ignore(keel_pjrt_status(plugin, error, "PJRT_Buffer_OnDeviceSizeInBytes"));
    return 0;
}

// If host and device share memory, JAX copies nothing: it holds the buffer and reads from it.
static PJRT_Error *hold(PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
    keel_reading_t reading =
        keel_engine_read_begins(engine, args->buffer, device_bytes(args->buffer));
    if (reading.refusal) return keel_pjrt_error(reading.refusal);
    PJRT_Error *error = plugin->PJRT_Buffer_IncreaseExternalReferenceCount(args);
    keel_engine_read_ends(engine, &reading, NULL);
    return error;
}

// ---- the table ---------------------------------------------------------------------------------

#define TAKE(function, ours)                                                                       \
    if (keel_pjrt_has(real, function)) table->function = (ours)

void keel_shim_take_transfers(PJRT_Api *table, const PJRT_Api *real, keel_engine_t *counting) {
    plugin = real;
    engine = counting;
    atomic_store(&stepping, counting);
    TAKE(PJRT_Client_BufferFromHostBuffer, from_host);
    TAKE(PJRT_AsyncHostToDeviceTransferManager_TransferData, transfer_data);
    TAKE(PJRT_Buffer_ToHostBuffer, to_host);
    TAKE(PJRT_Buffer_CopyRawToHost, raw_to_host);
    if (keel_pjrt_has(real, PJRT_Buffer_OnDeviceSizeInBytes))
        TAKE(PJRT_Buffer_IncreaseExternalReferenceCount, hold);
}

void keel_shim_step(void) {
    keel_engine_t *counting = atomic_load(&stepping);
    if (counting) keel_engine_step(counting);
}
