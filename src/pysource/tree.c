// Walking a tree.
#include "pysource/pysource.h"

uint32_t keel_py_child(const keel_py_tree_t *tree, uint32_t node, keel_py_field_t field,
                       uint32_t after) {
    uint32_t at = after == KEEL_NONE ? node + 1 : tree->nodes[after].end;
    for (; at < tree->nodes[node].end; at = tree->nodes[at].end)
        if (!field || tree->nodes[at].field == field) return at;
    return KEEL_NONE;
}

// ---- lines -------------------------------------------------------------------------------------

static uint32_t first_line_of(const keel_py_tree_t *tree, uint32_t statement) {
    uint32_t decorator = keel_py_child(tree, statement, KEEL_PY_F_DECORATOR_LIST, KEEL_NONE);
    return tree->nodes[decorator == KEEL_NONE ? statement : decorator].line;
}

typedef struct sweep_t {
    const keel_py_tree_t *tree;
    uint32_t *out;
    uint32_t line, statement; // the first line without an answer; the innermost there
} sweep_t;

static void fill_to(sweep_t *sweep, uint32_t line) {
    for (; sweep->line < line; ++sweep->line)
        sweep->out[sweep->line - 1] = sweep->statement;
}

// Ends the statements that the node is not in.
static void leave_to(sweep_t *sweep, uint32_t node) {
    const keel_py_node_t *nodes = sweep->tree->nodes;
    while (sweep->statement != KEEL_NONE && node >= nodes[sweep->statement].end) {
        fill_to(sweep, nodes[sweep->statement].end_line + 1);
        do
            sweep->statement = nodes[sweep->statement].parent;
        while (sweep->statement != KEEL_NONE && !keel_py_is_statement(&nodes[sweep->statement]));
    }
}

void keel_py_statements_of_lines(const keel_py_tree_t *tree, uint32_t *out) {
    sweep_t sweep = {tree, out, 1, KEEL_NONE};
    for (uint32_t node = 0; node < tree->node_count; ++node) {
        if (!keel_py_is_statement(&tree->nodes[node])) continue;
        leave_to(&sweep, node);
        fill_to(&sweep, first_line_of(tree, node));
        sweep.statement = node;
    }
    leave_to(&sweep, tree->node_count);
    fill_to(&sweep, tree->line_count + 1);
}
