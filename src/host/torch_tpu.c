// TorchTPU's programs, by their names: tt_jit_linear is an operation that runs by itself, whichever
// module asks. What torch.compile made of a graph is named after the last line in it, so it gets a
// name that stays.
#include "host/host.h"

static const char *const graphs[] = {
    [KEEL_GRAPH_FORWARD] = "tt_jit_forward", [KEEL_GRAPH_BACKWARD] = "tt_jit_backward"};

bool keel_torch_tpu_is_name(keel_str_t name) {
    return keel_str_starts(name, KEEL_STR("tt_jit_"));
}

keel_graph_kind_t keel_torch_tpu_graph(keel_str_t name) {
    for (int kind = KEEL_GRAPH_FORWARD; kind <= KEEL_GRAPH_BACKWARD; ++kind)
        if (keel_str_is(name, graphs[kind])) return (keel_graph_kind_t)kind;
    return KEEL_GRAPH_NONE;
}

const char *keel_torch_tpu_name_graph(const keel_program_t *program) {
    enum { TRIED = 64 }; // some operations have no frames
    const keel_block_t *block = keel_program_body(program, program->entry);
    if (!block || !keel_torch_tpu_is_name(keel_program_str(program, program->name))) return NULL;
    for (uint32_t i = 0; i < TRIED && block->first_op + i < block->end_op; ++i) {
        keel_attr_id_t location = program->operations.data[block->first_op + i].location;
        keel_graph_kind_t kind = keel_program_graph_kind(program, location);
        if (kind != KEEL_GRAPH_NONE) return graphs[kind];
    }
    return NULL;
}
