// A GPU's topology says how fast each unit of a core is by type, in two maps:
//
//   PjRtTopologyDescriptionProto {platform_specific_topology = 9 (Any) {value = 2
//     GpuTopologyProto {gpu_target_config = 8 {gpu_device_info = 1
//       {scalar_unit_description = 20 {rate_infos = 1 ...}, matrix_unit_description = 21 ...}}}}}
//
// Sources: xla/pjrt/proto/topology_description.proto, xla/service/gpu_topology.proto,
// xla/stream_executor/device_description.proto.
#include <stdlib.h>

#include "pjrt/topology.h"

enum { RATES = 1, MOST_RATES = 256, DEPTH = 5 };
static const uint32_t paths[][DEPTH] = {{9, 2, 8, 1, 20}, {9, 2, 8, 1, 21}};

static int by_bytes(const void *a, const void *b) {
    return keel_str_compare(keel_bytes_str(*(const keel_bytes_t *)a),
                            keel_bytes_str(*(const keel_bytes_t *)b));
}

// The other fields of the message first, then the map.
static bool sort_map(keel_bytes_t message, keel_buffer_t *out) {
    keel_bytes_t rates[MOST_RATES];
    size_t count = 0;
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != RATES || field.wire != KEEL_WIRE_BYTES) {
            keel_buffer_append(out, field.raw.data, field.raw.size);
            continue;
        }
        if (count == MOST_RATES) return false;
        rates[count++] = field.bytes;
    }
    qsort(rates, count, sizeof *rates, by_bytes);
    for (size_t i = 0; i < count; ++i)
        keel_proto_put_bytes(out, RATES, rates[i]);
    return !cursor.failed;
}

static bool leads_on(uint32_t number, const bool on_path[2], size_t depth, bool out[2]) {
    for (int i = 0; i < 2; ++i)
        out[i] = on_path[i] && paths[i][depth] == number;
    return out[0] || out[1];
}

static bool sort_below(keel_bytes_t message, const bool on_path[2], size_t depth,
                       keel_buffer_t *out) {
    if (depth == DEPTH) return sort_map(message, out);
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        bool next[2];
        if (field.wire != KEEL_WIRE_BYTES || !leads_on(field.number, on_path, depth, next)) {
            keel_buffer_append(out, field.raw.data, field.raw.size);
            continue;
        }
        size_t opened = keel_proto_open(out, field.number);
        if (!sort_below(field.bytes, next, depth + 1, out)) return false;
        keel_proto_close(out, opened);
    }
    return !cursor.failed;
}

keel_status_t topology_sort_maps(keel_bytes_t serialized, keel_buffer_t *out) {
    size_t before = out->size;
    bool is_good = sort_below(serialized, (const bool[2]){true, true}, 0, out);
    if (out->failed) return keel_buffer_status(out);
    if (is_good) return NULL;
    out->size = before;
    keel_buffer_append(out, serialized.data, serialized.size);
    return keel_buffer_status(out);
}
