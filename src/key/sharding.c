// Shardings that say "replicated". On one partition they say nothing, so there they are the same as
// none. On more they are not: an unset sharding may be chosen by propagation, a replicated one may
// not, and the two executables differ in what they take and give.
#include "key/canon.h"

static keel_attr_id_t field(const keel_program_t *program, keel_attr_id_t record,
                            const char *name) {
    return keel_program_dict_find(program, record, name);
}

static bool is_empty_list(const keel_program_t *program, keel_attr_id_t id) {
    if (id == KEEL_NONE) return true;
    const keel_attr_t *attr = &program->attrs.data[id];
    return attr->kind == KEEL_ATTR_ARRAY && keel_program_list(program, attr->b).count == 0;
}

// Shardy: no dimension names an axis, and none is left unreduced.
static bool is_replicated_tensor(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = &program->attrs.data[id];
    if (attr->kind != KEEL_ATTR_DICT || attr->klass != KEEL_RECORD_SDY_SHARDING) return false;
    if (!is_empty_list(program, field(program, id, "unreduced"))) return false;
    keel_attr_id_t dimensions = field(program, id, "dimensions");
    if (dimensions == KEEL_NONE || program->attrs.data[dimensions].kind != KEEL_ATTR_ARRAY)
        return false;
    keel_list_t list = keel_program_list(program, program->attrs.data[dimensions].b);
    for (uint32_t i = 0; i < list.count; ++i)
        if (!is_empty_list(program, field(program, list.items[i], "axes"))) return false;
    return true;
}

// One for a tensor, or one for each of an operation's results.
static bool is_replicated_sdy(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = &program->attrs.data[id];
    if (attr->kind != KEEL_ATTR_DICT || attr->klass != KEEL_RECORD_SDY_SHARDING_PER_VALUE)
        return is_replicated_tensor(program, id);
    keel_attr_id_t shardings = field(program, id, "shardings");
    if (shardings == KEEL_NONE || program->attrs.data[shardings].kind != KEEL_ATTR_ARRAY)
        return false;
    keel_list_t list = keel_program_list(program, program->attrs.data[shardings].b);
    for (uint32_t i = 0; i < list.count; ++i)
        if (!is_replicated_tensor(program, list.items[i])) return false;
    return true;
}

bool keel_sharding_is_replicated(const keel_program_t *program, keel_str_t name,
                                 keel_attr_id_t value) {
    const keel_attr_t *attr = &program->attrs.data[value];
    if (keel_str_is(name, "sdy.sharding")) return is_replicated_sdy(program, value);
    if (keel_str_is(name, "mhlo.sharding"))
        return attr->kind == KEEL_ATTR_STRING &&
               keel_str_is(keel_program_str(program, attr->a), "{replicated}");
    return false;
}
