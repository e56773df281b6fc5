// What compile options say about devices: libtpu aborts if there are fewer.
//
// CompileOptionsProto (xla/pjrt/proto/compile_options.proto): executable_build_options = 3
// {num_replicas = 4, num_partitions = 5, device_assignment = 9 {computation_devices = 3
// {replica_device_ids = 1}}}.
#include "compiler/internal.h"

enum { BUILD_OPTIONS = 3, REPLICAS = 4, PARTITIONS = 5, ASSIGNMENT = 9 };
enum { COMPUTATION_DEVICES = 3, DEVICE_IDS = 1 };

typedef struct wanted_t {
    uint64_t replicas, partitions, highest;
} wanted_t;

static void see_device(uint64_t id, wanted_t *out) {
    if (id > out->highest) out->highest = id;
}

// A field may be packed or not.
static void read_ids(keel_bytes_t bytes, wanted_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != DEVICE_IDS) continue;
        if (field.wire == KEEL_WIRE_VARINT) see_device(field.value, out);
        keel_cursor_t packed = keel_cursor(field.bytes);
        while (field.wire == KEEL_WIRE_BYTES && keel_cursor_left(&packed)) {
            uint64_t id = keel_proto_varint(&packed);
            if (!packed.failed) see_device(id, out);
        }
    }
}

static void read_assignment(keel_bytes_t bytes, wanted_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == COMPUTATION_DEVICES && field.wire == KEEL_WIRE_BYTES)
            read_ids(field.bytes, out);
}

static void read_build(keel_bytes_t bytes, wanted_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == REPLICAS && field.wire == KEEL_WIRE_VARINT) out->replicas = field.value;
        if (field.number == PARTITIONS && field.wire == KEEL_WIRE_VARINT)
            out->partitions = field.value;
        if (field.number == ASSIGNMENT && field.wire == KEEL_WIRE_BYTES)
            read_assignment(field.bytes, out);
    }
}

keel_status_t compiler_check_devices(keel_bytes_t options, uint64_t device_count,
                                     const char *target) {
    keel_cursor_t cursor = keel_cursor(options);
    keel_proto_field_t field;
    wanted_t wanted = {0};
    while (keel_proto_next(&cursor, &field))
        if (field.number == BUILD_OPTIONS && field.wire == KEEL_WIRE_BYTES)
            read_build(field.bytes, &wanted);
    uint64_t replicas = wanted.replicas ? wanted.replicas : 1;
    uint64_t partitions = wanted.partitions ? wanted.partitions : 1;
    if (cursor.failed)
        return keel_status_make(KEEL_INVALID, "the compile options cannot be decoded");
    if (replicas > device_count || partitions > device_count / replicas)
        return keel_status_make(
            KEEL_INVALID,
            "the program is for %llu devices (replicas times partitions), and "
            "%s has %llu; choose a larger target",
            (unsigned long long)(replicas > device_count ? replicas : replicas * partitions),
            target, (unsigned long long)device_count);
    if (wanted.highest >= device_count)
        return keel_status_make(
            KEEL_INVALID, "the program is for device %llu, and %s has %llu; choose a larger target",
            (unsigned long long)wanted.highest, target, (unsigned long long)device_count);
    return NULL;
}
