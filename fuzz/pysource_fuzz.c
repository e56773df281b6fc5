// Any text is read to its end: every node is within its parent and its tokens, in the order of the
// text, and what it says is found.
#include <stdlib.h>

#include "pysource/pysource.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

static bool is_before(uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column) {
    return line < end_line || (line == end_line && column <= end_column);
}

static void check_tokens(const keel_py_tree_t *tree) {
    uint32_t behind = 0;
    for (uint32_t i = 0; i < tree->token_count; ++i) {
        const keel_py_token_t *token = &tree->tokens[i];
        check(token->at >= behind && token->size <= tree->text.size - token->at);
        check(token->line >= 1 && token->line <= tree->line_count);
        check(tree->lines[token->line - 1] <= token->at);
        behind = token->at + token->size;
        if (token->other == KEEL_NONE) continue;
        check(token->other < tree->token_count && tree->tokens[token->other].other == i);
    }
    check(tree->tokens[tree->token_count - 1].kind == KEEL_PY_T_END);
}

static void check_node(const keel_py_tree_t *tree, uint32_t at, keel_buffer_t *text) {
    const keel_py_node_t *node = &tree->nodes[at];
    const keel_py_node_t *parent = at ? &tree->nodes[node->parent] : NULL;
    check(at ? node->parent < at && node->end <= parent->end : node->parent == KEEL_NONE);
    check(node->end > at && node->end <= tree->node_count);
    check(node->first_token <= node->end_token && node->end_token <= tree->token_count);
    check(is_before(node->line, node->column, node->end_line, node->end_column));
    check(node->name == KEEL_NONE || node->name < tree->token_count);
    text->size = 0;
    keel_py_string(tree, at, text);
    keel_py_dotted(tree, at, text);
    keel_py_as(tree, at);
    keel_py_level(tree, at);
    if (node->kind == KEEL_PY_CONSTANT && node->op == KEEL_PY_O_NUMBER) {
        keel_py_number_t number;
        keel_py_number(keel_py_token_text(tree, node->first_token), &number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_py_tree_t tree;
    keel_buffer_t text;
    check(!keel_py_read(keel_bytes_str(keel_bytes(data, size)), &tree));
    keel_buffer_initialize(&text, 0);
    check_tokens(&tree);
    uint32_t unknown = 0;
    for (uint32_t at = 0; at < tree.node_count; ++at) {
        check_node(&tree, at, &text);
        unknown += tree.nodes[at].kind == KEEL_PY_UNKNOWN;
    }
    check(unknown == tree.unknown_count && (!unknown || tree.error_line));
    keel_buffer_deinitialize(&text);
    keel_py_deinitialize(&tree);
    return 0;
}
