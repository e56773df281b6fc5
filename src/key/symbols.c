// What names name: functions and meshes, by their content.
//
// The map holds function << 1, or mesh << 1 | 1.
#include "key/canon.h"

static keel_status_t define(keel_canon_t *canon, keel_str_t name, uint64_t what) {
    if (keel_map_find(&canon->symbols, keel_str_bytes(name)))
        return keel_status_make(KEEL_UNSUPPORTED, "two symbols of the name '%.*s'",
                                KEEL_STR_ARGS(name));
    return keel_map_put(&canon->symbols, keel_str_bytes(name), what);
}

// Equal meshes under two names are two meshes: their place among their equals is kept.
static keel_node_id_t mesh_node(keel_canon_t *canon, keel_op_id_t op) {
    keel_node_id_t content = keel_canon_op_attrs(canon, op);
    if (canon->status) return 0;
    uint32_t ordinal = canon->nodes[content].number++;
    size_t begin = keel_form_begin(canon, KEEL_TAG_MESH);
    keel_form_node(canon, content);
    keel_form_number(canon, ordinal);
    return keel_form_end(canon, begin);
}

static keel_status_t add_mesh(keel_canon_t *canon, keel_op_id_t op) {
    const keel_program_t *program = canon->program;
    keel_attr_id_t id =
        keel_program_dict_find(program, program->operations.data[op].attributes, "sym_name");
    keel_node_id_t node = mesh_node(canon, op);
    KEEL_TRY(keel_realloc_array((size_t)canon->mesh_count + 1, sizeof *canon->meshes,
                                (void **)&canon->meshes));
    KEEL_TRY(keel_realloc_array((size_t)canon->mesh_count + 1, sizeof *canon->mesh_ops,
                                (void **)&canon->mesh_ops));
    canon->mesh_ops[canon->mesh_count] = op;
    canon->meshes[canon->mesh_count] = node;
    uint32_t mesh = canon->mesh_count++;
    if (id == KEEL_NONE || program->attrs.data[id].kind != KEEL_ATTR_STRING) return NULL;
    return define(canon, keel_program_str(program, program->attrs.data[id].a),
                  (uint64_t)mesh << 1 | 1);
}

keel_status_t keel_symbols_initialize(keel_canon_t *canon) {
    const keel_program_t *program = canon->program;
    for (uint32_t i = 0; i < program->functions.count; ++i)
        KEEL_TRY(define(canon, keel_program_str(program, program->functions.data[i].name),
                        (uint64_t)i << 1));
    if (canon->is_hlo) return NULL; // all operations stand in functions
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count; op = keel_program_next(program, op)) {
        unsigned name = program->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS;
        if (canon->op_kinds[name] == KEEL_OP_MESH) KEEL_TRY(add_mesh(canon, op));
    }
    return NULL;
}

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
