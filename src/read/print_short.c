// Types and shardings as JAX writes them.
#include <inttypes.h>

#include "read/print.h"

void keel_print_short_element(const keel_program_t *program, keel_type_id_t id,
                              keel_buffer_t *out) {
    const keel_type_t *type = keel_program_type(program, id);
    const keel_type_t *part =
        type->kind == KEEL_TYPE_COMPLEX ? keel_program_type(program, type->a) : NULL;
    if (part && part->kind == KEEL_TYPE_FLOAT &&
        (part->a == KEEL_FLOAT_F32 || part->a == KEEL_FLOAT_F64))
        keel_buffer_text(out, part->a == KEEL_FLOAT_F32 ? "c64" : "c128");
    else if (type->kind == KEEL_TYPE_INTEGER && type->a == 1)
        keel_buffer_text(out, "bool");
    else if (type->kind == KEEL_TYPE_INTEGER && type->aux == KEEL_UNSIGNED)
        keel_buffer_format(out, "u%u", type->a);
    else
        keel_print_type(program, id, out);
}

void keel_print_short_type(const keel_program_t *program, keel_type_id_t id, keel_buffer_t *out) {
    const keel_type_t *type = keel_program_type(program, id);
    if (type->kind != KEEL_TYPE_TENSOR && type->kind != KEEL_TYPE_BUFFER) {
        keel_print_short_element(program, id, out);
        return;
    }
    keel_print_short_element(program, type->a, out);
    keel_ints_t dims = keel_program_ints(program, type->b);
    keel_buffer_byte(out, '[');
    for (uint32_t i = 0; i < dims.count; ++i) {
        if (dims.items[i] == KEEL_DYNAMIC)
            keel_buffer_text(out, i ? ",?" : "?");
        else
            keel_buffer_format(out, i ? ",%" PRId64 : "%" PRId64, dims.items[i]);
    }
    keel_buffer_byte(out, ']');
}

// ---- shardings ---------------------------------------------------------------------------------

static void print_axes(const keel_program_t *program, keel_list_t axes, const char *none,
                       keel_buffer_t *out) {
    if (!axes.count) keel_buffer_text(out, none);
    if (axes.count > 1) keel_buffer_byte(out, '(');
    for (uint32_t i = 0; i < axes.count; ++i) {
        keel_attr_id_t name = keel_program_dict_find(program, axes.items[i], "name");
        keel_attr_id_t part = keel_program_dict_find(program, axes.items[i], "sub_axis_info");
        keel_buffer_format(out, "%s'", i ? ", " : "");
        if (name != KEEL_NONE)
            keel_buffer_str(out, keel_program_str(program, keel_program_attr(program, name)->a));
        keel_buffer_byte(out, '\'');
        if (keel_program_attr(program, part)->kind != KEEL_ATTR_NONE)
            keel_print_attribute(program, part, 4, out);
    }
    if (axes.count > 1) keel_buffer_byte(out, ')');
}

static bool print_shardings(const keel_program_t *program, keel_list_t shardings, bool is_whole,
                            keel_buffer_t *out) {
    bool is_known = shardings.count > 0;
    for (uint32_t i = 0; is_known && i < shardings.count; ++i) {
        const keel_attr_t *item = keel_program_attr(program, shardings.items[i]);
        if (i) keel_buffer_text(out, ", ");
        is_known = item->kind == KEEL_ATTR_DICT && item->klass == KEEL_RECORD_SDY_SHARDING &&
                   keel_print_sharding(program, shardings.items[i], is_whole, out);
    }
    return is_known;
}

// "4,1"
static void print_list(const keel_program_t *program, keel_attr_id_t attr, keel_buffer_t *out) {
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind != KEEL_ATTR_INTS) return;
    keel_ints_t ints = keel_program_ints(program, contents->b);
    for (uint32_t i = 0; i < ints.count; ++i)
        keel_buffer_format(out, "%s%lld", i ? "," : "", (long long)ints.items[i]);
}

// "<=[2,2]T(1,0)": a count from 0 in that shape, transposed.
static void print_count(const keel_program_t *program, keel_attr_id_t shape, keel_attr_id_t order,
                        keel_buffer_t *out) {
    keel_buffer_text(out, "<=[");
    print_list(program, shape, out);
    keel_buffer_byte(out, ']');
    const keel_attr_t *contents = keel_program_attr(program, order);
    if (contents->kind != KEEL_ATTR_INTS) return;
    keel_ints_t places = keel_program_ints(program, contents->b);
    bool is_moved = false;
    for (uint32_t i = 0; i < places.count; ++i)
        is_moved |= places.items[i] != i;
    if (!is_moved) return;
    keel_buffer_text(out, "T(");
    print_list(program, order, out);
    keel_buffer_byte(out, ')');
}

// "devices=[4,1]0,1,2,3", as HLO's text has it; with several devices for each part:
// "devices=[2,1,2]0,1,2,3 last_tile_dim_replicate"; with the devices as a count:
// "devices=[4,1]<=[4]".
static bool print_tiles(const keel_program_t *program, keel_attr_id_t attr, keel_buffer_t *out) {
    keel_attr_id_t dims = keel_program_dict_find(program, attr, "tile_assignment_dimensions");
    keel_attr_id_t devices = keel_program_dict_find(program, attr, "tile_assignment_devices");
    keel_attr_id_t shape = keel_program_dict_find(program, attr, "iota_reshape_dims");
    keel_attr_id_t order = keel_program_dict_find(program, attr, "iota_transpose_perm");
    keel_attr_id_t shared = keel_program_dict_find(program, attr, "replicate_on_last_tile_dim");
    uint32_t fields = 2 + (devices != KEEL_NONE) + (shape != KEEL_NONE) + (order != KEEL_NONE) +
                      (shared != KEEL_NONE); // with the type
    if (dims == KEEL_NONE || (devices == KEEL_NONE) == (shape == KEEL_NONE) ||
        keel_program_list(program, keel_program_attr(program, attr)->b).count != 2 * fields)
        return false;
    keel_buffer_text(out, "devices=[");
    print_list(program, dims, out);
    keel_buffer_byte(out, ']');
    if (devices != KEEL_NONE)
        print_list(program, devices, out);
    else
        print_count(program, shape, order, out);
    if (shared != KEEL_NONE) keel_buffer_text(out, " last_tile_dim_replicate");
    return true;
}

static keel_list_t axes_of(const keel_program_t *program, keel_attr_id_t dimension) {
    return keel_program_array(program, keel_program_dict_find(program, dimension, "axes"));
}

// Left to the partitioner: JAX's word for it.
static bool is_open(const keel_program_t *program, keel_attr_id_t dimension) {
    const keel_attr_t *closed =
        keel_program_attr(program, keel_program_dict_find(program, dimension, "is_closed"));
    return closed->kind == KEEL_ATTR_BOOL && !closed->a;
}

bool keel_print_sharding(const keel_program_t *program, keel_attr_id_t attr, bool is_whole,
                         keel_buffer_t *out) {
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind != KEEL_ATTR_DICT) return false;
    if (contents->klass == KEEL_RECORD_SDY_SHARDING_PER_VALUE)
        return print_shardings(
            program,
            keel_program_array(program, keel_program_dict_find(program, attr, "shardings")),
            is_whole, out);
    if (contents->klass != KEEL_RECORD_SDY_SHARDING) return print_tiles(program, attr, out);
    keel_list_t dims =
        keel_program_array(program, keel_program_dict_find(program, attr, "dimension_shardings"));
    if (!dims.items)
        dims = keel_program_array(program, keel_program_dict_find(program, attr, "dimensions"));
    bool says_something = is_whole;
    for (uint32_t i = 0; i < dims.count; ++i)
        says_something = says_something || axes_of(program, dims.items[i]).count;
    keel_buffer_text(out, "P(");
    for (uint32_t i = 0; says_something && i < dims.count; ++i) {
        if (i) keel_buffer_text(out, ", ");
        bool is_said = is_whole && is_open(program, dims.items[i]);
        print_axes(program, axes_of(program, dims.items[i]), is_said ? "UNCONSTRAINED" : "None",
                   out);
    }
    keel_buffer_byte(out, ')');
    return true;
}
