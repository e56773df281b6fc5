#include "key/canon.h"

bool keel_sharding_is_replicated(const keel_program_t *program, keel_str_t name,
                                 keel_attr_id_t value) {
    const keel_attr_t *attr = &program->attrs.data[value];
    if (keel_str_is(name, "mhlo.sharding"))
        return attr->kind == KEEL_ATTR_STRING &&
               keel_str_is(keel_program_str(program, attr->a), "{replicated}");
    return false;
}
