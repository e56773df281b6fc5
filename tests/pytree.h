// The tree of a Python source as text: a line for each node, with its depth, field, kind, place and
// what it says, then a line for the first error.
#ifndef KEEL_TESTS_PYTREE_H_
#define KEEL_TESTS_PYTREE_H_

#include "pysource/pysource.h"

static inline void pytree_number(keel_str_t text, keel_buffer_t *out) {
    keel_py_number_t number;
    if (!keel_py_number(text, &number)) {
        keel_buffer_text(out, " ?");
        return;
    }
    keel_buffer_format(out, " %s%a",
                       number.is_imaginary ? "j"
                       : number.is_whole   ? "i"
                                           : "f",
                       number.value);
}

static inline void pytree_string(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_byte(out, ' ');
    if (keel_py_string(tree, node, &text))
        keel_buffer_hex(out, keel_buffer_bytes(&text));
    else
        keel_buffer_byte(out, '?');
    keel_buffer_deinitialize(&text);
}

static inline void pytree_names(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out) {
    const keel_py_node_t *is = &tree->nodes[node];
    keel_str_t as = keel_py_as(tree, node);
    if (is->kind == KEEL_PY_ALIAS || is->kind == KEEL_PY_IMPORT_FROM) {
        keel_buffer_byte(out, ' ');
        keel_py_dotted(tree, node, out);
        if (is->kind == KEEL_PY_IMPORT_FROM)
            keel_buffer_format(out, " %u", keel_py_level(tree, node));
        else if (as.size)
            keel_buffer_format(out, " %.*s", (int)as.size, as.data);
    } else if (is->kind == KEEL_PY_GLOBAL || is->kind == KEEL_PY_NONLOCAL) {
        for (uint32_t at = is->first_token + 1; at < is->end_token; at += 2) {
            keel_buffer_byte(out, ' ');
            keel_buffer_str(out, keel_py_token_text(tree, at));
        }
    } else if (is->name != KEEL_NONE) {
        keel_buffer_byte(out, ' ');
        keel_buffer_str(out, keel_py_name(tree, node));
    }
}

static inline bool pytree_has_place(unsigned kind) {
    return kind != KEEL_PY_MODULE && kind != KEEL_PY_ARGUMENTS && kind != KEEL_PY_WITH_ITEM &&
           kind != KEEL_PY_MATCH_CASE && kind != KEEL_PY_COMPREHENSION && kind != KEEL_PY_OPERATOR;
}

static inline void pytree_node(const keel_py_tree_t *tree, uint32_t node, uint32_t depth,
                               keel_buffer_t *out) {
    const keel_py_node_t *is = &tree->nodes[node];
    bool is_match_keyword = is->kind == KEEL_PY_KEYWORD && is->field == KEEL_PY_F_KEYWORDS &&
                            tree->nodes[is->parent].kind == KEEL_PY_MATCH_CLASS;
    keel_buffer_format(out, "%u %s %s", depth, keel_py_field_name((keel_py_field_t)is->field),
                       keel_py_kind_name((keel_py_kind_t)is->kind));
    if (pytree_has_place(is->kind) && !is_match_keyword)
        keel_buffer_format(out, " %u:%u-%u:%u", is->line, is->column, is->end_line, is->end_column);
    pytree_names(tree, node, out);
    if (is->op) keel_buffer_format(out, " %s", keel_py_op_name((keel_py_op_t)is->op));
    if (is->kind == KEEL_PY_CONSTANT && is->op == KEEL_PY_O_NUMBER)
        pytree_number(keel_py_token_text(tree, is->first_token), out);
    if (is->kind == KEEL_PY_CONSTANT && (is->op == KEEL_PY_O_STR || is->op == KEEL_PY_O_BYTES))
        pytree_string(tree, node, out);
    keel_buffer_byte(out, '\n');
}

static inline keel_status_t pytree_write(keel_str_t text, keel_buffer_t *out) {
    keel_py_tree_t tree;
    uint32_t depth = 0, parent = KEEL_NONE;
    KEEL_TRY(keel_py_read(text, &tree));
    for (uint32_t node = 0; node < tree.node_count; ++node) {
        for (; tree.nodes[node].parent != parent && depth; --depth)
            parent = tree.nodes[parent].parent;
        pytree_node(&tree, node, depth, out);
        ++depth;
        parent = node;
    }
    if (tree.error_line)
        keel_buffer_format(out, "error %u:%u\n", tree.error_line, tree.error_column);
    keel_py_deinitialize(&tree);
    return keel_buffer_status(out);
}

#endif // KEEL_TESTS_PYTREE_H_
