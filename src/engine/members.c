// The compile options name the devices by number; the client knows each one's process. Without
// names, more devices than this process has are those of all processes.
#include "engine/members.h"

#include "base/proto.h"
#include "engine/portable.h"

// CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto, ComputationDevice.
enum { BUILD_OPTIONS = 3, DEVICE_ASSIGNMENT = 9, COMPUTATION_DEVICES = 3, REPLICA_DEVICE_IDS = 1 };

typedef struct listing_t {
    keel_map_t processes; // of the client's devices, by number
    bool *are_members;    // each process
    uint32_t count;       // of processes
    bool has_names, failed;
} listing_t;

static keel_status_t add_device(const PJRT_Api *api, PJRT_Device *device, listing_t *listing) {
    PJRT_Device_GetDescription_Args of = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                          .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, of));
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = of.device_description};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex),
        .device_description = of.device_description};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Id, id));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    int64_t number = id.id;
    return keel_map_put(&listing->processes, keel_bytes(&number, sizeof number),
                        (uint64_t)process.process_index);
}

static keel_status_t add_devices(const PJRT_Api *api, PJRT_Client *client, listing_t *listing) {
    PJRT_Client_Devices_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Devices), .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, args));
    for (size_t i = 0; i < args.num_devices; ++i)
        KEEL_TRY(add_device(api, args.devices[i], listing));
    return NULL;
}

static void name(listing_t *listing, uint64_t value) {
    int64_t number = (int64_t)value;
    const uint64_t *process =
        keel_map_find(&listing->processes, keel_bytes(&number, sizeof number));
    listing->has_names = true;
    if (process && *process < listing->count)
        listing->are_members[*process] = true;
    else
        listing->failed = true;
}

static void read_ids(keel_bytes_t computation, listing_t *listing) {
    keel_cursor_t cursor = keel_cursor(computation);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != REPLICA_DEVICE_IDS) continue;
        if (field.wire == KEEL_WIRE_VARINT) name(listing, field.value);
        keel_cursor_t packed = keel_cursor(field.bytes);
        while (field.wire == KEEL_WIRE_BYTES && packed.at < packed.end && !packed.failed)
            name(listing, keel_proto_varint(&packed));
        if (packed.failed) listing->failed = true;
    }
    if (cursor.failed) listing->failed = true;
}

static void read_inside(keel_bytes_t bytes, const uint32_t *path, listing_t *listing) {
    if (!*path) {
        read_ids(bytes, listing);
        return;
    }
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == *path && field.wire == KEEL_WIRE_BYTES)
            read_inside(field.bytes, path + 1, listing);
    if (cursor.failed) listing->failed = true;
}

static keel_status_t list(const PJRT_Api *api, const client_t *client, keel_bytes_t options,
                          listing_t *listing) {
    static const uint32_t path[] = {BUILD_OPTIONS, DEVICE_ASSIGNMENT, COMPUTATION_DEVICES, 0};
    void *memory;
    KEEL_TRY(keel_calloc(listing->count, sizeof *listing->are_members, &memory));
    listing->are_members = memory;
    KEEL_TRY(add_devices(api, client->client, listing));
    read_inside(options, path, listing);
    if (listing->has_names || listing->failed) return NULL;
    bool is_for_all = client->addressable && portable_devices(options) > client->addressable;
    for (uint32_t i = 0; i < listing->count; ++i)
        listing->are_members[i] = is_for_all || i == client->process;
    return NULL;
}

static keel_status_t take(const listing_t *listing, keel_arena_t *arena, const uint32_t **out,
                          size_t *out_count) {
    void *memory;
    KEEL_TRY(keel_arena_alloc(arena, listing->count * sizeof(uint32_t), &memory));
    uint32_t *numbers = memory;
    for (uint32_t i = 0; i < listing->count; ++i)
        if (listing->are_members[i]) numbers[(*out_count)++] = i;
    *out = numbers;
    return NULL;
}

keel_status_t members_list(const PJRT_Api *api, const client_t *client, keel_bytes_t options,
                           keel_arena_t *arena, const uint32_t **out, size_t *out_count) {
    listing_t listing = {.count = client->process_count};
    *out = NULL;
    *out_count = 0;
    keel_map_initialize(&listing.processes);
    keel_status_t status = list(api, client, options, &listing);
    if (!status && !listing.failed) status = take(&listing, arena, out, out_count);
    keel_map_deinitialize(&listing.processes);
    keel_free(listing.are_members);
    return status;
}
