// Programs that say nothing about shardings, although they have several partitions. TorchTPU writes
// such programs: each rank has arrays of its own, and collectives bring them together.
#include "signature/internal.h"

// "mhlo.sharding", "sdy.sharding", "xla.sdy.in_shardings", ...
static bool is_of_sharding(keel_str_t name) {
    return keel_str_contains(name, "sharding") || keel_str_contains(name, "sdy");
}

static bool dict_has_sharding(const keel_program_t *program, const keel_attr_t *dict) {
    keel_list_t entries = keel_program_list(program, dict->b);
    for (uint32_t i = 0; i + 1 < entries.count; i += 2)
        if (is_of_sharding(keel_program_str(program, entries.items[i]))) return true;
    return false;
}

// Custom calls that stand for shardings have names that do.
static bool is_call_of_sharding(keel_str_t text) {
    return keel_str_is(text, "Sharding") || keel_str_starts(text, KEEL_STR("SPMD")) ||
           keel_str_starts(text, KEEL_STR("xla.sdy."));
}

bool signature_has_shardings(const keel_program_t *program) {
    for (uint32_t i = 0; i < program->op_names.count; ++i)
        if (keel_str_is(keel_program_str(program, program->op_names.data[i].dialect), "sdy"))
            return true;
    for (uint32_t i = 0; i < program->attrs.count; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind == KEEL_ATTR_DICT && dict_has_sharding(program, attr)) return true;
        if (attr->kind == KEEL_ATTR_STRING &&
            is_call_of_sharding(keel_program_str(program, attr->a)))
            return true;
    }
    return false;
}

// The compiler has nothing to propagate, so nothing is open.
void signature_settle_apart(keel_signature_t *signature) {
    for (uint32_t i = 0; i < signature->result_count; ++i)
        signature->results[i].settled = true;
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        signature->parameters[i].settled = true;
}
