// The memories of devices: their kinds, and how much of them is in use.
#include <stdio.h>

#include "rehearse/objects.h"

// Source: the kinds that XLA's clients name (xla/pjrt), in their order; the first is the standard
// one. The processor's come from its own client.
static const char *const kinds_apart[] = {"device", "pinned_host"};

static void describe_memory(PJRT_Memory *memory, PJRT_Device *device, size_t index,
                            keel_str_t kind) {
    static const char *const known[] = {"device", "pinned_host", "unpinned_host"};
    memory->device = device;
    memory->id = (int)(device->id * MEMORY_KINDS + (int)index);
    memory->kind = "device";
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (!keel_str_is(kind, known[i])) continue;
        memory->kind = known[i];
        memory->kind_id = (int)i;
    }
    snprintf(memory->text, sizeof memory->text, "%s memory %d of device %d", memory->kind,
             memory->id, device->id);
    device->memory_list[index] = memory;
}

static keel_status_t copy_kinds(PJRT_Device *device, PJRT_Device *backing) {
    const PJRT_Api *api = rehearsal.plugin;
    PJRT_Device_AddressableMemories_Args all = {KEEL_PJRT_SIZE(PJRT_Device_AddressableMemories),
                                                .device = backing};
    PJRT_Device_DefaultMemory_Args standard = {KEEL_PJRT_SIZE(PJRT_Device_DefaultMemory),
                                               .device = backing};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_AddressableMemories, all));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_DefaultMemory, standard));
    for (size_t i = 0; i < all.num_memories && i < MEMORY_KINDS; ++i) {
        PJRT_Memory_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_Memory_Kind), .memory = all.memories[i]};
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Memory_Kind, kind));
        describe_memory(&device->memories[i], device, i, (keel_str_t){kind.kind, kind.kind_size});
        device->memory_count = i + 1;
        if (all.memories[i] == standard.memory) device->standard = &device->memories[i];
    }
    return NULL;
}

keel_status_t memories_make(PJRT_Device *device, PJRT_Device *backing) {
    if (backing) {
        KEEL_TRY(copy_kinds(device, backing));
    } else {
        device->memory_count = sizeof kinds_apart / sizeof *kinds_apart;
        for (size_t i = 0; i < device->memory_count; ++i)
            describe_memory(&device->memories[i], device, i, keel_str(kinds_apart[i]));
    }
    if (!device->standard) device->standard = &device->memories[0];
    return NULL;
}

PJRT_Memory *device_memory(PJRT_Device *device, keel_str_t kind) {
    for (size_t i = 0; i < device->memory_count; ++i)
        if (keel_str_is(kind, device->memories[i].kind)) return &device->memories[i];
    return device->standard;
}

void memory_take(PJRT_Memory *memory, uint64_t bytes) {
    uint64_t now = atomic_fetch_add(&memory->in_use, bytes) + bytes;
    uint64_t peak = atomic_load(&memory->peak);
    while (now > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, now)) {
    }
}

void memory_give(PJRT_Memory *memory, uint64_t bytes) {
    atomic_fetch_sub(&memory->in_use, bytes);
}

static PJRT_Error *memory_id(PJRT_Memory_Id_Args *args) {
    args->id = args->memory->id;
    return NULL;
}

static PJRT_Error *memory_kind(PJRT_Memory_Kind_Args *args) {
    args->kind = args->memory->kind;
    args->kind_size = strlen(args->kind);
    return NULL;
}

static PJRT_Error *memory_kind_id(PJRT_Memory_Kind_Id_Args *args) {
    args->kind_id = args->memory->kind_id;
    return NULL;
}

static PJRT_Error *memory_debug_string(PJRT_Memory_DebugString_Args *args) {
    args->debug_string = args->memory->text;
    args->debug_string_size = strlen(args->debug_string);
    return NULL;
}

static PJRT_Error *memory_to_string(PJRT_Memory_ToString_Args *args) {
    args->to_string = args->memory->text;
    args->to_string_size = strlen(args->to_string);
    return NULL;
}

static PJRT_Error *memory_devices(PJRT_Memory_AddressableByDevices_Args *args) {
    args->devices = &args->memory->device;
    args->num_devices = 1;
    return NULL;
}

static PJRT_Error *memories_of(PJRT_Device_AddressableMemories_Args *args) {
    args->memories = args->device->memory_list;
    args->num_memories = args->device->memory_count;
    return NULL;
}

static PJRT_Error *standard_memory(PJRT_Device_DefaultMemory_Args *args) {
    args->memory = args->device->standard;
    return NULL;
}

// The processor's client does not tell any. The limit becomes one of the compile options, so it is
// told only if the target knows it. The struct may be longer than this header's, and clients do not
// clear it.
static PJRT_Error *memory_stats(PJRT_Device_MemoryStats_Args *args) {
    if (rehearsal.backing)
        return keel_pjrt_error(
            keel_status_make(KEEL_UNSUPPORTED, "memory statistics are not known"));
    size_t first = offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use);
    if (args->struct_size > first) memset((char *)args + first, 0, args->struct_size - first);
    const PJRT_Memory *memory = args->device->standard;
    args->bytes_in_use = (int64_t)atomic_load(&memory->in_use);
    args->peak_bytes_in_use = (int64_t)atomic_load(&memory->peak);
    args->peak_bytes_in_use_is_set = true;
    args->bytes_limit = (int64_t)atomic_load(&rehearsal.memory_limit);
    args->bytes_limit_is_set = args->bytes_limit != 0;
    return NULL;
}

void memories_fill(PJRT_Api *table) {
    table->PJRT_Device_AddressableMemories = memories_of;
    table->PJRT_Device_DefaultMemory = standard_memory;
    table->PJRT_Device_MemoryStats = memory_stats;
    table->PJRT_Memory_Id = memory_id;
    table->PJRT_Memory_Kind = memory_kind;
    table->PJRT_Memory_Kind_Id = memory_kind_id;
    table->PJRT_Memory_DebugString = memory_debug_string;
    table->PJRT_Memory_ToString = memory_to_string;
    table->PJRT_Memory_AddressableByDevices = memory_devices;
}
