// Kinds of library fusions that a newer client allows and an older plugin does not know.
//
// A client sends the defaults of its own XLA with each program. Those of JAX 0.12 allow XLA's CPU
// compiler to give a library single convolutions (xla_cpu_experimental_ynn_fusion_type). The plugin
// of PJRT 0.81 does not know that kind: it goes on without it, and prints "Unsupported fusion type:
// 5" as an error for each program. Those of 0.106 and 0.115 know it. So an older plugin gets the
// list without it. What it compiles is the same, and so is the key, which has the client's options.
#include "engine/fusions.h"

#include <string.h>

#include "base/buffer.h"
#include "base/proto.h"

enum { LAST_KNOWN_KIND = 4 }; // LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT

// CompileOptionsProto, ExecutableBuildOptionsProto in it, and DebugOptions in that.
enum { BUILD_OPTIONS = 3, DEBUG_OPTIONS = 3, ONEDNN_KINDS = 399, XNN_KINDS = 400, YNN_KINDS = 422 };

bool fusions_are_unknown(const char *platform, const PJRT_Api *api) {
    enum { LAST_WITHOUT = 81 };
    return strcmp(platform, "cpu") == 0 && api->pjrt_api_version.minor_version <= LAST_WITHOUT;
}

typedef struct rewrite_t {
    bool failed, changed;
} rewrite_t;

// A list of kinds in one field, or one kind of a list in several.
static void put_kinds(keel_buffer_t *out, const keel_proto_field_t *field, rewrite_t *rewrite) {
    if (field->wire == KEEL_WIRE_VARINT && field->value > LAST_KNOWN_KIND) {
        rewrite->changed = true;
        return;
    }
    if (field->wire != KEEL_WIRE_BYTES) {
        keel_buffer_append(out, field->raw.data, field->raw.size);
        return;
    }
    keel_buffer_t known;
    keel_buffer_initialize(&known, 0);
    keel_cursor_t cursor = keel_cursor(field->bytes);
    while (keel_cursor_left(&cursor) && !cursor.failed) {
        uint64_t kind = keel_proto_varint(&cursor);
        if (kind <= LAST_KNOWN_KIND)
            keel_proto_put_varint(&known, kind);
        else
            rewrite->changed = true;
    }
    if (cursor.failed) rewrite->failed = true;
    keel_proto_put_bytes(out, field->number, (keel_bytes_t){known.data, known.size});
    if (known.failed) rewrite->failed = true;
    keel_buffer_deinitialize(&known);
}

typedef void put_field_t(keel_buffer_t *out, const keel_proto_field_t *field, rewrite_t *rewrite);

static void put_message(keel_buffer_t *out, keel_bytes_t bytes, put_field_t *put,
                        rewrite_t *rewrite) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        put(out, &field, rewrite);
    if (cursor.failed) rewrite->failed = true;
}

static void put_debug(keel_buffer_t *out, const keel_proto_field_t *field, rewrite_t *rewrite) {
    if (field->number == ONEDNN_KINDS || field->number == XNN_KINDS || field->number == YNN_KINDS)
        put_kinds(out, field, rewrite);
    else
        keel_buffer_append(out, field->raw.data, field->raw.size);
}

static void put_within(keel_buffer_t *out, const keel_proto_field_t *field, uint32_t number,
                       put_field_t *put, rewrite_t *rewrite) {
    if (field->number != number || field->wire != KEEL_WIRE_BYTES) {
        keel_buffer_append(out, field->raw.data, field->raw.size);
        return;
    }
    keel_buffer_t inner;
    keel_buffer_initialize(&inner, 0);
    put_message(&inner, field->bytes, put, rewrite);
    keel_proto_put_bytes(out, number, (keel_bytes_t){inner.data, inner.size});
    if (inner.failed) rewrite->failed = true;
    keel_buffer_deinitialize(&inner);
}

static void put_build(keel_buffer_t *out, const keel_proto_field_t *field, rewrite_t *rewrite) {
    put_within(out, field, DEBUG_OPTIONS, put_debug, rewrite);
}

static void put_options(keel_buffer_t *out, const keel_proto_field_t *field, rewrite_t *rewrite) {
    put_within(out, field, BUILD_OPTIONS, put_build, rewrite);
}

keel_status_t fusions_without_unknown(keel_bytes_t options, keel_buffer_t *out) {
    rewrite_t rewrite = {0};
    keel_buffer_t all;
    keel_buffer_initialize(&all, 0);
    put_message(&all, options, put_options, &rewrite);
    keel_status_t status = keel_buffer_status(&all);
    if (!status && !rewrite.failed && rewrite.changed) keel_buffer_append(out, all.data, all.size);
    keel_buffer_deinitialize(&all);
    return status ? status : keel_buffer_status(out);
}
