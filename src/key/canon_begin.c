// A canon begins with empty tables and the symbols that the program defines.
#include "key/canon.h"

// ---- symbols -----------------------------------------------------------------------------------

static keel_status_t define(keel_canon_t *canon, keel_str_t name, uint64_t what) {
    if (keel_map_find(&canon->symbols, keel_str_bytes(name)))
        return keel_status_make(KEEL_UNSUPPORTED, "two symbols with the name '%.*s'",
                                KEEL_STR_ARGS(name));
    return keel_map_put(&canon->symbols, keel_str_bytes(name), what);
}

// Equal meshes under two names are two meshes: their index among their equals is kept.
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
    KEEL_TRY(keel_realloc_array((size_t)canon->mesh_count + 1, sizeof *canon->mesh_named,
                                (void **)&canon->mesh_named));
    canon->mesh_named[canon->mesh_count] = false;
    canon->mesh_ops[canon->mesh_count] = op;
    canon->meshes[canon->mesh_count] = node;
    uint32_t mesh = canon->mesh_count++;
    if (id == KEEL_NONE || program->attrs.data[id].kind != KEEL_ATTR_STRING) return NULL;
    return define(canon, keel_program_str(program, program->attrs.data[id].a),
                  (uint64_t)mesh << 1 | 1);
}

static keel_status_t define_symbols(keel_canon_t *canon) {
    const keel_program_t *program = canon->program;
    for (uint32_t i = 0; i < program->functions.count; ++i)
        KEEL_TRY(define(canon, keel_program_str(program, program->functions.data[i].name),
                        (uint64_t)i << 1));
    if (canon->is_hlo) return NULL; // all operations are in functions
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count; op = keel_program_next(program, op)) {
        unsigned name = program->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS;
        if (canon->op_kinds[name] == KEEL_OP_MESH) KEEL_TRY(add_mesh(canon, op));
    }
    return NULL;
}

// ---- tables ------------------------------------------------------------------------------------

static keel_status_t array(uint32_t count, size_t size, void **out) {
    return keel_calloc((size_t)count + 1, size, out);
}

static keel_op_kind_t op_kind(const keel_program_t *program, const keel_op_name_t *name) {
    keel_str_t text = keel_program_str(program, name->name);
    if (keel_str_is(text, "custom_call") || keel_str_is(text, "custom-call"))
        return KEEL_OP_CUSTOM_CALL;
    if (keel_str_is(text, "mesh") && keel_str_is(keel_program_str(program, name->dialect), "sdy"))
        return KEEL_OP_MESH;
    return KEEL_OP_PLAIN;
}

static keel_status_t allocate(keel_canon_t *canon) {
    const keel_program_t *program = canon->program;
    KEEL_TRY(array(program->types.count, sizeof *canon->types, (void **)&canon->types));
    KEEL_TRY(array(program->attrs.count, sizeof *canon->attrs, (void **)&canon->attrs));
    KEEL_TRY(array(program->attrs.count, sizeof *canon->op_attrs, (void **)&canon->op_attrs));
    KEEL_TRY(array(program->op_names.count, sizeof *canon->op_names, (void **)&canon->op_names));
    KEEL_TRY(array(program->op_names.count, 1, (void **)&canon->op_kinds));
    KEEL_TRY(array(program->functions.count, sizeof *canon->digests, (void **)&canon->digests));
    KEEL_TRY(array(program->functions.count, 1, (void **)&canon->digested));
    return keel_form_initialize(canon);
}

keel_status_t keel_canon_initialize(keel_canon_t *canon, const keel_program_t *program,
                                    keel_partitioning_t partitioning) {
    *canon = (keel_canon_t){.program = program,
                            .is_hlo = program->format == KEEL_FORMAT_HLO,
                            .partitioning = partitioning};
    keel_arena_initialize(&canon->arena, 16 << 10);
    keel_map_initialize(&canon->symbols);
    KEEL_TRY(allocate(canon));
    for (uint32_t i = 0; i < program->op_names.count; ++i)
        canon->op_kinds[i] = (uint8_t)op_kind(program, &program->op_names.data[i]);
    return define_symbols(canon);
}

void keel_canon_deinitialize(keel_canon_t *canon) {
    void *const owned[] = {canon->nodes,    canon->slots,    canon->types,    canon->attrs,
                           canon->op_attrs, canon->op_names, canon->op_kinds, canon->digests,
                           canon->digested, canon->meshes,   canon->mesh_ops, canon->mesh_named,
                           canon->shapes,   canon->form};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
        keel_free(owned[i]);
    keel_map_deinitialize(&canon->symbols);
    keel_arena_deinitialize(&canon->arena);
    keel_status_ignore(canon->status);
    canon->status = NULL;
}
