// The two spellings of shardings that name axes: Shardy's attribute, which clients write, and
// OpSharding's named_sharding, which compilers write.
//
// Source: openxla/shardy's attributes; xla/xla_data.proto (NamedShardingProto, MeshProto,
// AxisRefProto).
#include "signature/axes.h"

// ---- Shardy ------------------------------------------------------------------------------------

static keel_attr_id_t field(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_dict_find(program, dict, name);
}

static keel_list_t list(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_array(program, field(program, dict, name));
}

static int64_t number(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_number(program, field(program, dict, name), 0);
}

static keel_str_t text(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    const keel_attr_t *attr = keel_program_attr(program, field(program, dict, name));
    return keel_program_str(program, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE);
}

static bool is_mesh(const keel_program_t *program, keel_op_id_t op) {
    const keel_op_name_t *kind = keel_program_op_name(program, op);
    return keel_str_is(keel_program_str(program, kind->dialect), "sdy") &&
           keel_str_is(keel_program_str(program, kind->name), "mesh");
}

// The mesh that a sharding names or holds; NONE if there is none.
static keel_attr_id_t find_mesh(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    if (attr->kind != KEEL_ATTR_SYMBOL) return id;
    keel_str_t name = keel_program_str(program, attr->a);
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count; op = keel_program_next(program, op)) {
        keel_attr_id_t attributes = program->operations.data[op].attributes;
        if (is_mesh(program, op) && keel_str_equal(text(program, attributes, "sym_name"), name))
            return field(program, attributes, "mesh");
    }
    return KEEL_NONE;
}

static keel_status_t find_axis(const keel_program_t *program, keel_list_t axes, keel_str_t name,
                               uint32_t *out) {
    for (*out = 0; *out < axes.count; ++*out)
        if (keel_str_equal(text(program, axes.items[*out], "name"), name)) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "a sharding on axis %.*s, which its mesh lacks",
                            KEEL_STR_ARGS(name));
}

static keel_status_t use_all(const keel_program_t *program, keel_list_t mesh,
                             keel_list_t references, uint32_t use, axes_t *out) {
    for (uint32_t i = 0; i < references.count; ++i) {
        axis_part_t part = {.use = use};
        KEEL_TRY(find_axis(program, mesh, text(program, references.items[i], "name"), &part.axis));
        keel_list_t entries = keel_program_entries(program, references.items[i]);
        for (uint32_t j = 0; j + 1 < entries.count; j += 2) {
            keel_attr_id_t sub = entries.items[j + 1];
            if (keel_program_attr(program, sub)->klass != KEEL_RECORD_SDY_SUB_AXIS) continue;
            part.before = number(program, sub, "pre_size");
            part.size = number(program, sub, "size");
            if (part.size < 1)
                return keel_status_make(KEEL_UNSUPPORTED, "a sharding on no part of an axis");
        }
        KEEL_TRY(axes_use(out, part));
    }
    return NULL;
}

keel_status_t named_read_sdy(const keel_program_t *program, keel_attr_id_t sharding, axes_t *out) {
    *out = (axes_t){.part_count = 0};
    keel_attr_id_t id = find_mesh(program, field(program, sharding, "mesh"));
    if (id == KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding on a mesh that the program lacks");
    keel_list_t mesh = list(program, id, "axes");
    for (uint32_t i = 0; i < mesh.count; ++i)
        KEEL_TRY(numbers_push(&out->sizes, number(program, mesh.items[i], "size")));
    const keel_attr_t *devices = keel_program_attr(program, field(program, id, "device_ids"));
    keel_ints_t ids =
        keel_program_ints(program, devices->kind == KEEL_ATTR_INTS ? devices->b : KEEL_NONE);
    out->devices = ids.items;
    out->device_count = ids.count;
    keel_list_t dimensions = list(program, sharding, "dimensions");
    if (dimensions.count > AXES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of more than %d dimensions",
                                AXES_MOST);
    out->rank = dimensions.count;
    for (uint32_t i = 0; i < out->rank; ++i)
        KEEL_TRY(use_all(program, mesh, list(program, dimensions.items[i], "axes"), i, out));
    return use_all(program, mesh, list(program, sharding, "unreduced"), USE_UNREDUCED, out);
}

// ---- named_sharding ----------------------------------------------------------------------------

static keel_status_t damaged(void) {
    return keel_status_make(KEEL_UNSUPPORTED, "a sharding of named axes that is damaged");
}

static keel_status_t checked(const keel_cursor_t *cursor) {
    return cursor->failed ? damaged() : NULL;
}

static keel_status_t read_axis(keel_bytes_t axis, axes_t *out) {
    enum { SIZE = 2 };
    keel_cursor_t cursor = keel_cursor(axis);
    keel_proto_field_t field;
    int64_t size = 0;
    while (keel_proto_next(&cursor, &field))
        if (field.number == SIZE && field.wire == KEEL_WIRE_VARINT) size = (int64_t)field.value;
    KEEL_TRY(checked(&cursor));
    return numbers_push(&out->sizes, size);
}

// The devices of a mesh, which it lists.
typedef struct listed_t {
    int64_t *items;
    size_t count, room;
} listed_t;

static keel_status_t make_room(listed_t *devices, size_t count) {
    void *memory;
    if (count > MESH_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a mesh of more than %d devices", MESH_MOST);
    if (devices->items) return damaged();
    KEEL_TRY(keel_calloc(count + 1, sizeof(int64_t), &memory));
    devices->items = memory;
    devices->room = count;
    return NULL;
}

// Each takes a byte at least.
static keel_status_t list_devices(keel_bytes_t mesh, size_t room, listed_t *devices) {
    enum { DEVICES = 2 };
    keel_cursor_t cursor = keel_cursor(mesh);
    keel_proto_field_t field;
    KEEL_TRY(make_room(devices, room));
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != DEVICES) continue;
        keel_cursor_t packed = keel_cursor(field.bytes);
        if (field.wire == KEEL_WIRE_VARINT && devices->count < room)
            devices->items[devices->count++] = (int64_t)field.value;
        while (field.wire == KEEL_WIRE_BYTES && !packed.failed && keel_cursor_left(&packed) &&
               devices->count < room)
            devices->items[devices->count++] = (int64_t)keel_proto_varint(&packed);
        KEEL_TRY(checked(&packed));
    }
    return checked(&cursor);
}

// IotaTransform.
static keel_status_t transform(keel_bytes_t message, listed_t *devices) {
    enum { RESHAPE = 1, TRANSPOSE = 2 };
    numbers_t dims = {.count = 0}, order = {.count = 0};
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    iota_t iota;
    bool ok = true;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == RESHAPE) ok = numbers_take(&field, &dims) && ok;
        if (field.number == TRANSPOSE) ok = numbers_take(&field, &order) && ok;
    }
    if (cursor.failed || !ok || !iota_begin(&dims, &order, &iota)) return damaged();
    KEEL_TRY(make_room(devices, (size_t)iota.all));
    while (devices->count < devices->room)
        devices->items[devices->count++] = iota_next(&iota);
    return NULL;
}

static keel_status_t read_mesh(keel_bytes_t mesh, axes_t *out, listed_t *devices) {
    enum { AXES = 1, DEVICES = 2, IOTA = 3 };
    keel_cursor_t cursor = keel_cursor(mesh);
    keel_proto_field_t field;
    size_t listed = 0;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == AXES && field.wire == KEEL_WIRE_BYTES)
            KEEL_TRY(read_axis(field.bytes, out));
        if (field.number == DEVICES) listed += field.wire == KEEL_WIRE_BYTES ? field.bytes.size : 1;
        if (field.number == IOTA && field.wire == KEEL_WIRE_BYTES && field.bytes.size)
            KEEL_TRY(transform(field.bytes, devices));
    }
    KEEL_TRY(checked(&cursor));
    return listed ? list_devices(mesh, listed, devices) : NULL;
}

static keel_status_t use_part(keel_bytes_t reference, uint32_t use, axes_t *out) {
    enum { AXIS = 1, SUB_AXIS = 2, BEFORE = 1, SIZE = 2 };
    keel_cursor_t cursor = keel_cursor(reference);
    keel_proto_field_t field, inner;
    axis_part_t part = {.use = use};
    uint64_t axis = 0;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == AXIS && field.wire == KEEL_WIRE_VARINT) axis = field.value;
        if (field.number != SUB_AXIS || field.wire != KEEL_WIRE_BYTES) continue;
        keel_cursor_t sub = keel_cursor(field.bytes);
        while (keel_proto_next(&sub, &inner)) {
            if (inner.number == BEFORE) part.before = (int64_t)inner.value;
            if (inner.number == SIZE) part.size = (int64_t)inner.value;
        }
        KEEL_TRY(checked(&sub));
        if (part.size < 1)
            return keel_status_make(KEEL_UNSUPPORTED, "a sharding on no part of an axis");
    }
    KEEL_TRY(checked(&cursor));
    if (axis >= out->sizes.count)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding on axis %llu of a mesh of %u",
                                (unsigned long long)axis, out->sizes.count);
    part.axis = (uint32_t)axis;
    return axes_use(out, part);
}

static keel_status_t use_dimension(keel_bytes_t dimension, axes_t *out) {
    enum { AXES = 1 };
    keel_cursor_t cursor = keel_cursor(dimension);
    keel_proto_field_t field;
    if (out->rank == AXES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of more than %d dimensions",
                                AXES_MOST);
    uint32_t use = out->rank++;
    while (keel_proto_next(&cursor, &field))
        if (field.number == AXES && field.wire == KEEL_WIRE_BYTES)
            KEEL_TRY(use_part(field.bytes, use, out));
    return checked(&cursor);
}

// Axes that the message calls replicated are among the rest.
static keel_status_t use_fields(keel_bytes_t named, axes_t *out) {
    enum { DIMENSIONS = 3, UNREDUCED = 5, MANUAL = 7 };
    keel_cursor_t cursor = keel_cursor(named);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == DIMENSIONS) KEEL_TRY(use_dimension(field.bytes, out));
        if (field.number == UNREDUCED) KEEL_TRY(use_part(field.bytes, USE_UNREDUCED, out));
        if (field.number == MANUAL) KEEL_TRY(use_part(field.bytes, USE_MANUAL, out));
    }
    return checked(&cursor);
}

static keel_status_t read_proto(keel_bytes_t named, axes_t *out, listed_t *devices) {
    enum { MESH = 2 };
    keel_cursor_t cursor = keel_cursor(named);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == MESH && field.wire == KEEL_WIRE_BYTES)
            KEEL_TRY(read_mesh(field.bytes, out, devices));
    KEEL_TRY(checked(&cursor));
    out->devices = devices->items;
    out->device_count = devices->count;
    return use_fields(named, out);
}

keel_status_t named_read_proto(keel_bytes_t named, axes_t *out, int64_t **out_devices) {
    listed_t devices = {.items = NULL};
    *out = (axes_t){.part_count = 0};
    keel_status_t status = read_proto(named, out, &devices);
    *out_devices = devices.items;
    return status;
}
