// The maps of CompileOptionsProto in order. Protobuf writes a map in an order that differs from one
// process to the next, so a client sends the same options in many forms.
// Field numbers: xla/pjrt/proto/compile_options.proto and xla/xla.proto.
#include <stdlib.h>

#include "key/key.h"

enum { MAPS = 3 };
typedef enum level_t { OPTIONS, BUILD, DEBUG, LEVELS } level_t;

static const struct {
    uint32_t nested; // the field that holds the next level; 0: none
    uint32_t maps[MAPS];
} levels[LEVELS] = {
    [OPTIONS] = {3, {7}},           // executable_build_options; env_option_overrides
    [BUILD] = {3, {0}},             // debug_options
    [DEBUG] = {0, {357, 474, 500}}, // analytical latency, tiling, backend_extra_options
};

typedef struct entry_t {
    keel_str_t key;
    keel_bytes_t raw;
    size_t index;
} entry_t;

static bool is_map(level_t level, uint32_t number) {
    for (size_t i = 0; i < MAPS; ++i)
        if (number && levels[level].maps[i] == number) return true;
    return false;
}

static keel_str_t key_of(keel_bytes_t entry) {
    keel_cursor_t cursor = keel_cursor(entry);
    keel_proto_field_t field;
    keel_str_t key = {"", 0};
    while (keel_proto_next(&cursor, &field))
        if (field.number == 1) key = keel_bytes_str(field.bytes);
    return key;
}

// Of equal keys the last one counts, so these keep their order.
static int by_key(const void *a, const void *b) {
    const entry_t *x = a, *y = b;
    size_t common = x->key.size < y->key.size ? x->key.size : y->key.size;
    int order = common ? memcmp(x->key.data, y->key.data, common) : 0;
    if (order) return order;
    if (x->key.size != y->key.size) return x->key.size < y->key.size ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

// All entries of the map.
static keel_status_t put_map(keel_bytes_t message, uint32_t number, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    void *entries = NULL;
    size_t count = 0, capacity = 0;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != number) continue;
        keel_status_t status = keel_grow_array(count, sizeof(entry_t), &capacity, &entries);
        if (status) {
            keel_free(entries);
            return status;
        }
        ((entry_t *)entries)[count] = (entry_t){key_of(field.bytes), field.raw, count};
        ++count;
    }
    if (count) qsort(entries, count, sizeof(entry_t), by_key);
    for (size_t i = 0; i < count; ++i)
        keel_buffer_append(out, ((entry_t *)entries)[i].raw.data, ((entry_t *)entries)[i].raw.size);
    keel_free(entries);
    return NULL;
}

// Maps come last. At most as deep as there are levels.
static keel_status_t put_message(level_t level, keel_bytes_t message, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (is_map(level, field.number)) continue;
        if (field.number == levels[level].nested && field.wire == KEEL_WIRE_BYTES) {
            size_t opened = keel_proto_open(out, field.number);
            KEEL_TRY(put_message(level + 1, field.bytes, out));
            keel_proto_close(out, opened);
        } else {
            keel_buffer_append(out, field.raw.data, field.raw.size);
        }
    }
    if (cursor.failed) return keel_status_make(KEEL_CORRUPT, "compile options are no protobuf");
    for (size_t i = 0; i < MAPS && levels[level].maps[i]; ++i)
        KEEL_TRY(put_map(message, levels[level].maps[i], out));
    return NULL;
}

keel_status_t keel_key_options_in_order(keel_bytes_t options, keel_buffer_t *out) {
    size_t begun = out->size;
    keel_status_t status = put_message(OPTIONS, options, out);
    if (!status || keel_status_code(status) != KEEL_CORRUPT)
        return status ? status : keel_buffer_status(out);
    keel_status_ignore(status);
    out->size = begun;
    keel_buffer_append(out, options.data, options.size);
    return keel_buffer_status(out);
}
