#include "key/symbols.h"

static keel_node_id_t function_node(keel_canon_t *canon, uint32_t function) {
    if (!canon->digested[function]) {
        keel_str_t name =
            keel_program_str(canon->program, canon->program->functions.data[function].name);
        keel_canon_fail(canon,
                        keel_status_make(KEEL_UNSUPPORTED, "function '%.*s' refers to itself",
                                         KEEL_STR_ARGS(name)));
        return 0;
    }
    size_t begin = keel_form_begin(canon, KEEL_TAG_FUNCTION);
    keel_form_bytes(canon, canon->digests[function].bytes, KEEL_DIGEST_SIZE);
    return keel_form_end(canon, begin);
}

bool keel_symbols_reference(keel_canon_t *canon, keel_str_t name, keel_node_id_t *out) {
    const uint64_t *what = keel_map_find(&canon->symbols, keel_str_bytes(name));
    if (!what) return false;
    if (*what & 1) canon->mesh_named[*what >> 1] = true;
    *out = *what & 1 ? canon->meshes[*what >> 1] : function_node(canon, (uint32_t)(*what >> 1));
    return true;
}

keel_op_id_t keel_symbols_mesh(const keel_canon_t *canon, keel_str_t name) {
    const uint64_t *what = keel_map_find(&canon->symbols, keel_str_bytes(name));
    return what && *what & 1 ? canon->mesh_ops[*what >> 1] : KEEL_NONE;
}

bool keel_symbols_is_callee(keel_str_t attribute) {
    return keel_str_is(attribute, "callee") || keel_str_is(attribute, "decomposition") ||
           keel_str_is(attribute, "called_computations");
}
