#define _GNU_SOURCE
#include "lint/ignore.h"

static keel_str_t line_text(const keel_py_tree_t *tree, uint32_t line) {
    uint32_t from = tree->lines[line - 1];
    keel_str_t rest = {tree->text.data + from, tree->text.size - from}, text = KEEL_STR("");
    keel_str_line(&rest, &text);
    return text;
}

// The first token that ends behind an offset of the text.
static uint32_t token_behind(const keel_py_tree_t *tree, size_t at) {
    uint32_t low = 0, high = tree->token_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((size_t)tree->tokens[middle].at + tree->tokens[middle].size <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The line's comment; "" if it has none. *out_alone: nothing stands before it.
static keel_str_t comment_of(const keel_py_tree_t *tree, uint32_t line, bool *out_alone) {
    keel_str_t text = line_text(tree, line);
    size_t begin = (size_t)(text.data - tree->text.data);
    *out_alone = true;
    for (size_t i = 0; i < text.size; ++i) {
        if (text.data[i] == '#') {
            uint32_t token = token_behind(tree, begin + i);
            bool is_in_token = token < tree->token_count && tree->tokens[token].at <= begin + i;
            if (!is_in_token) return (keel_str_t){text.data + i, text.size - i};
        }
        if (text.data[i] != ' ' && text.data[i] != '\t') *out_alone = false;
    }
    return KEEL_STR("");
}

static bool names(keel_str_t comment, keel_lint_rule_t rule) {
    static const char mark[] = "keel: ignore";
    const char *at =
        comment.size ? memmem(comment.data, comment.size, mark, sizeof mark - 1) : NULL;
    if (!at) return false;
    keel_str_t rest = {at + sizeof mark - 1, 0};
    rest.size = comment.size - (size_t)(rest.data - comment.data);
    if (rest.size && keel_is_of_name(*rest.data)) return false; // "ignored"
    while (rest.size && *rest.data == ' ') {
        ++rest.data;
        --rest.size;
    }
    if (!rest.size || *rest.data != '[') return true;
    keel_str_t wanted = keel_str(keel_lint_facts(rule)->name);
    while (rest.size && *rest.data != ']') { // behind '[' or ','
        ++rest.data;
        --rest.size;
        while (rest.size && *rest.data == ' ') {
            ++rest.data;
            --rest.size;
        }
        size_t size = 0;
        while (size < rest.size && rest.data[size] != ',' && rest.data[size] != ']' &&
               rest.data[size] != ' ')
            ++size;
        if (keel_str_equal((keel_str_t){rest.data, size}, wanted)) return true;
        while (size < rest.size && rest.data[size] != ',' && rest.data[size] != ']')
            ++size;
        rest.data += size;
        rest.size -= size;
    }
    return false;
}

bool keel_lint_is_ignored(const keel_py_tree_t *tree, uint32_t line, keel_lint_rule_t rule) {
    bool is_alone;
    if (!line || line > tree->line_count) return false;
    if (names(comment_of(tree, line, &is_alone), rule)) return true;
    return line > 1 && names(comment_of(tree, line - 1, &is_alone), rule) && is_alone;
}
