// Shardings as HLO writes them (xla.OpSharding): the number of parts of each dimension, and the
// devices in the order of the parts, as a transposed count from 0.
#include "tensor/emit.h"

static keel_status_t put_enum(emitter_t *e, fields_t *fields, const char *name, uint16_t klass,
                              uint32_t value) {
    keel_attr_id_t attr;
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = klass, .a = value}, &attr));
    return emit_field(e, fields, name, attr);
}

enum { REPLICATED, MAXIMAL, TUPLE, OTHER, MANUAL }; // xla.OpSharding.Type

// Without fields, it is whole on each device.
static keel_status_t make(emitter_t *e, uint32_t id, int32_t rank, keel_attr_id_t *out) {
    const mesh_t *mesh = &e->context->mesh;
    const sharding_t *sharding = &e->context->shardings.data[id];
    int64_t parts[KEEL_MAX_RANK + 1] = {0}, order[KEEL_MAX_MESH_AXES], rest = mesh->devices;
    fields_t fields = {0};
    if (!mesh_parts(mesh, sharding, parts))
        return emit_close(e, &fields, KEEL_RECORD_HLO_MESSAGE, out);
    uint32_t count = (uint32_t)rank;
    for (int32_t i = 0; i < rank; ++i)
        rest /= parts[i];
    if (rest > 1) parts[count++] = rest;
    KEEL_TRY(put_enum(e, &fields, "type", KEEL_ENUM_SHARDING_TYPE, OTHER));
    KEEL_TRY(emit_ints(e, &fields, "tile_assignment_dimensions", parts, count));
    if (rest > 1) KEEL_TRY(emit_flag(e, &fields, "replicate_on_last_tile_dim"));
    KEEL_TRY(emit_ints(e, &fields, "iota_reshape_dims", mesh->sizes, mesh->axis_count));
    KEEL_TRY(
        emit_ints(e, &fields, "iota_transpose_perm", order, mesh_order(mesh, sharding, order)));
    return emit_close(e, &fields, KEEL_RECORD_HLO_MESSAGE, out);
}

keel_status_t emit_sharding(emitter_t *e, fields_t *fields, uint32_t sharding, int32_t rank) {
    keel_attr_id_t attr;
    if (e->context->mesh.devices == 1) return NULL;
    KEEL_TRY(make(e, sharding, rank, &attr));
    return emit_field(e, fields, "sharding", attr);
}

keel_status_t emit_manual(emitter_t *e, fields_t *fields) {
    fields_t sharding = {0};
    KEEL_TRY(put_enum(e, &sharding, "type", KEEL_ENUM_SHARDING_TYPE, MANUAL));
    return emit_message(e, fields, "sharding", &sharding);
}

static keel_status_t put_results(emitter_t *e, keel_value_id_t tuple, uint32_t *room) {
    const emit_t *emit = e->emit;
    keel_attr_id_t array;
    fields_t sharding = {0}, fields = {0};
    for (uint32_t i = 0; i < emit->result_count; ++i)
        KEEL_TRY(make(e, emit->shardings[i], trace_node_shape(e->context, emit->results[i])->rank,
                      &room[i]));
    KEEL_TRY(emit_array(e, room, emit->result_count, &array));
    KEEL_TRY(put_enum(e, &sharding, "type", KEEL_ENUM_SHARDING_TYPE, TUPLE));
    KEEL_TRY(emit_field(e, &sharding, "tuple_shardings", array));
    KEEL_TRY(emit_message(e, &fields, "sharding", &sharding));
    return emit_close(e, &fields, KEEL_RECORD_DICTIONARY,
                      &e->program->operations.data[tuple].attributes);
}

keel_status_t emit_result_shardings(emitter_t *e, keel_value_id_t tuple) {
    void *memory;
    if (e->context->mesh.devices == 1) return NULL;
    KEEL_TRY(keel_calloc((size_t)e->emit->result_count + 1, sizeof(keel_attr_id_t), &memory));
    keel_status_t status = put_results(e, tuple, memory);
    keel_free(memory);
    return status;
}
