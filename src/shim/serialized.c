// What the client serializes: it may load it again, here or in another process.
#include "shim/shim.h"

static keel_engine_t *engine;
static PJRT_Error *(*serialize_inside)(PJRT_Executable_Serialize_Args *args);
static PJRT_Error *(*destroy_inside)(PJRT_Executable_Destroy_Args *args);

static PJRT_Error *serialize(PJRT_Executable_Serialize_Args *args) {
    PJRT_Error *error = serialize_inside(args);
    if (!error)
        keel_engine_serialized(engine, args->executable,
                               keel_bytes(args->serialized_bytes, args->serialized_bytes_size));
    return error;
}

// Also of a topology's executables, which are not always the plugin's.
static PJRT_Error *destroy(PJRT_Executable_Destroy_Args *args) {
    keel_engine_executable_closing(engine, args->executable);
    return destroy_inside(args);
}

void keel_shim_take_serialized(PJRT_Api *table, keel_engine_t *own) {
    engine = own;
    serialize_inside = table->PJRT_Executable_Serialize;
    destroy_inside = table->PJRT_Executable_Destroy;
    table->PJRT_Executable_Serialize = serialize;
    table->PJRT_Executable_Destroy = destroy;
}
