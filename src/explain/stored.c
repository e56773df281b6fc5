// Where the user's source copies over a tensor what an earlier line computed: kept.copy_(new),
// kept[:] = new. PyTorch/XLA records no operation for it.
#include "explain/stored.h"

#include "pysource/pysource.h"

// "new" of `new = f(x)`, of a plain name. Empty for any other statement.
static keel_str_t assigned_name(const keel_py_tree_t *tree, uint32_t statement) {
    uint32_t target = keel_py_child(tree, statement, KEEL_PY_F_TARGETS, KEEL_NONE);
    if (tree->nodes[statement].kind != KEEL_PY_ASSIGN || target == KEEL_NONE ||
        tree->nodes[target].kind != KEEL_PY_NAME)
        return KEEL_STR("");
    return keel_py_name(tree, target);
}

// `new` itself, or what a method of it gives: `new.detach()`.
static bool is_of_name(const keel_py_tree_t *tree, uint32_t node, keel_str_t name) {
    while (tree->nodes[node].kind == KEEL_PY_ATTRIBUTE || tree->nodes[node].kind == KEEL_PY_CALL)
        ++node; // what it is of comes first
    return tree->nodes[node].kind == KEEL_PY_NAME && keel_str_equal(keel_py_name(tree, node), name);
}

// `kept.copy_(new)` and `kept[:] = new`.
static bool stores(const keel_py_tree_t *tree, uint32_t node, keel_str_t name) {
    if (tree->nodes[node].kind == KEEL_PY_ASSIGN) {
        uint32_t target = keel_py_child(tree, node, KEEL_PY_F_TARGETS, KEEL_NONE);
        uint32_t value = keel_py_child(tree, node, KEEL_PY_F_VALUE, KEEL_NONE);
        return tree->nodes[target].kind == KEEL_PY_SUBSCRIPT && is_of_name(tree, value, name);
    }
    uint32_t argument = keel_py_child(tree, node, KEEL_PY_F_ARGS, KEEL_NONE);
    return tree->nodes[node].kind == KEEL_PY_CALL && argument != KEEL_NONE &&
           keel_str_is(keel_py_name(tree, node + 1), "copy_") && is_of_name(tree, argument, name);
}

static uint32_t scope_of(const keel_py_tree_t *tree, uint32_t node) {
    do
        node = tree->nodes[node].parent;
    while (node && tree->nodes[node].kind != KEEL_PY_FUNCTION_DEF &&
           tree->nodes[node].kind != KEEL_PY_ASYNC_FUNCTION_DEF &&
           tree->nodes[node].kind != KEEL_PY_CLASS_DEF);
    return node;
}

static uint32_t find(const keel_py_tree_t *tree, uint32_t computed) {
    enum { FAR = 64 };
    keel_str_t name = KEEL_STR("");
    uint32_t found = 0, scope = 0;
    for (uint32_t node = 1; node < tree->node_count; ++node) {
        uint32_t line = tree->nodes[node].line;
        if (line > computed + FAR) break;
        if (line < computed) continue;
        if (line == computed && !name.size) {
            name = assigned_name(tree, node);
            scope = scope_of(tree, node);
        } else if (name.size && stores(tree, node, name) && scope_of(tree, node) == scope) {
            if (found) return 0; // either of them
            found = line;
        }
    }
    return found;
}

uint32_t keel_stored_at(keel_str_t text, uint32_t computed) {
    keel_py_tree_t tree;
    keel_status_t status = keel_py_read(text, &tree);
    uint32_t found = status ? 0 : find(&tree, computed);
    if (!status) keel_py_deinitialize(&tree);
    keel_status_ignore(status);
    return found;
}
