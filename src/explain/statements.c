// The tree of a Python source as statements and words.
#include "explain/statements.h"

#include <string.h>

enum { BUDGET = 1 << 24 };

// What the tree says about the name that a token is.
enum { IS_ATTRIBUTE = 1, IS_TARGET = 2, IS_PARAMETER = 4, IS_LABEL = 8 };

typedef struct listing_t {
    keel_depends_t *reads;
    uint8_t *says;  // by token
    uint32_t above; // the innermost header that has not ended; NONE
} listing_t;

// ---- names -------------------------------------------------------------------------------------

// What is assigned to: of `a.b.c` only `c`, of `a[i]` only `a`.
static void note_target(listing_t *listing, uint32_t node) {
    const keel_py_node_t *nodes = listing->reads->tree.nodes;
    while (nodes[node].kind == KEEL_PY_SUBSCRIPT)
        ++node;
    if (nodes[node].kind != KEEL_PY_NAME && nodes[node].kind != KEEL_PY_ATTRIBUTE) return;
    uint8_t *says = &listing->says[nodes[node].name];
    if (!(*says & IS_PARAMETER)) *says |= IS_TARGET;
}

static void note_comprehension(listing_t *listing, uint32_t node) {
    const keel_py_node_t *nodes = listing->reads->tree.nodes;
    for (uint32_t at = node + 1; at < nodes[node + 1].end; ++at)
        if (nodes[at].kind == KEEL_PY_NAME && nodes[at].op == KEEL_PY_O_STORE)
            listing->says[nodes[at].name] |= IS_PARAMETER;
}

static void note_node(listing_t *listing, uint32_t node) {
    const keel_py_node_t *is = &listing->reads->tree.nodes[node];
    uint8_t says = 0;
    switch (is->kind) {
        case KEEL_PY_COMPREHENSION:
            note_comprehension(listing, node);
            break;
        case KEEL_PY_ATTRIBUTE:
            says = IS_ATTRIBUTE;
            break;
        case KEEL_PY_ARG:
        case KEEL_PY_TYPE_VAR:
        case KEEL_PY_TYPE_VAR_TUPLE:
        case KEEL_PY_PARAM_SPEC:
            says = IS_PARAMETER;
            break;
        case KEEL_PY_KEYWORD:
            says = IS_LABEL;
            break;
        case KEEL_PY_MATCH_AS:
        case KEEL_PY_MATCH_STAR:
        case KEEL_PY_MATCH_MAPPING:
        case KEEL_PY_EXCEPT_HANDLER:
            says = IS_TARGET;
            break;
        default:
            break;
    }
    if (is->name != KEEL_NONE) listing->says[is->name] |= says;
    if (is->op == KEEL_PY_O_STORE) note_target(listing, node);
}

// ---- words -------------------------------------------------------------------------------------

static keel_status_t add_word(listing_t *listing, uint32_t token) {
    keel_depends_t *reads = listing->reads;
    const keel_py_token_t *is = &reads->tree.tokens[token];
    keel_str_t text = keel_py_token_text(&reads->tree, token);
    uint64_t *known = keel_map_find(&reads->known, keel_str_bytes(text));
    uint32_t name = known ? (uint32_t)*known : reads->name_count++;
    if (!known) KEEL_TRY(keel_map_put(&reads->known, keel_str_bytes(text), name));
    uint8_t says = listing->says[token];
    reads->words[reads->word_count++] =
        (keel_depends_word_t){.text = text,
                              .name = name,
                              .line = is->line,
                              .column = is->at - reads->tree.lines[is->line - 1] + 1,
                              .is_attribute = says & IS_ATTRIBUTE,
                              .is_target = says & IS_TARGET,
                              .is_parameter = says & IS_PARAMETER,
                              .is_label = says & IS_LABEL,
                              .is_called = is[1].sign == KEEL_PY_S_LEFT_PARENTHESIS};
    return NULL;
}

// The lines of a token have its code.
static uint32_t note_code(keel_depends_t *reads, uint32_t token, bool is_code) {
    const keel_py_tree_t *tree = &reads->tree;
    const keel_py_token_t *is = &tree->tokens[token];
    uint32_t line = is->line, end = is->at + is->size;
    for (;; ++line) {
        bool goes_on = line < tree->line_count && tree->lines[line] < end;
        uint32_t behind = goes_on ? tree->lines[line] : end;
        while (goes_on && behind > tree->lines[line - 1] &&
               (tree->text.data[behind - 1] == '\n' || tree->text.data[behind - 1] == '\r'))
            --behind;
        reads->lines[line - 1].size = behind - tree->lines[line - 1];
        reads->lines[line - 1].is_code |= is_code;
        if (!goes_on) return line;
    }
}

// ---- statements --------------------------------------------------------------------------------

static bool is_listed(const keel_py_node_t *node) {
    return keel_py_is_statement(node) || node->kind == KEEL_PY_EXCEPT_HANDLER ||
           node->kind == KEEL_PY_MATCH_CASE;
}

// With its decorators.
static uint32_t first_token_of(const keel_py_tree_t *tree, uint32_t node) {
    uint32_t decorator = keel_py_child(tree, node, KEEL_PY_F_DECORATOR_LIST, KEEL_NONE);
    if (decorator == KEEL_NONE) return tree->nodes[node].first_token;
    uint32_t at = tree->nodes[decorator].first_token;
    while (tree->tokens[at].sign != KEEL_PY_S_AT)
        --at;
    return at;
}

// Behind the colon that the block begins with.
static uint32_t header_before(const keel_py_tree_t *tree, uint32_t first_of_block) {
    uint32_t at = first_token_of(tree, first_of_block);
    while (at > 0 && (tree->tokens[at - 1].kind == KEEL_PY_T_NEWLINE ||
                      tree->tokens[at - 1].kind == KEEL_PY_T_INDENT))
        --at;
    return at;
}

static bool is_text_alone(const keel_py_node_t *node) {
    return node->kind == KEEL_PY_EXPR && node[1].kind == KEEL_PY_CONSTANT &&
           (node[1].op == KEEL_PY_O_STR || node[1].op == KEEL_PY_O_BYTES);
}

static kind_t kind_of(const keel_depends_t *reads, const keel_depends_statement_t *statement,
                      const keel_py_node_t *node) {
    const keel_depends_word_t *words = words_of(reads, statement);
    switch (node->kind) {
        case KEEL_PY_FUNCTION_DEF:
        case KEEL_PY_ASYNC_FUNCTION_DEF:
            return FUNCTION;
        case KEEL_PY_CLASS_DEF:
            return CLASS;
        case KEEL_PY_IMPORT:
        case KEEL_PY_IMPORT_FROM:
            return IMPORT;
        case KEEL_PY_RETURN:
            return RETURN;
        case KEEL_PY_EXPR:
            if (node[1].kind == KEEL_PY_YIELD || node[1].kind == KEEL_PY_YIELD_FROM) return RETURN;
            break;
        default:
            break;
    }
    for (uint32_t i = 0; i < statement->word_count; ++i)
        if (words[i].is_target) return ASSIGNMENT;
    bool is_method = statement->word_count > 1 && words[1].is_attribute;
    return node->kind == KEEL_PY_EXPR && is_method ? CALL : PLAIN;
}

// `match`, `case`, `type`, and the conversion in a field of a string are no names.
static bool is_word(const keel_depends_t *reads, const keel_py_node_t *node, uint32_t token) {
    bool is_soft = node->kind == KEEL_PY_MATCH || node->kind == KEEL_PY_MATCH_CASE ||
                   node->kind == KEEL_PY_TYPE_ALIAS;
    const keel_py_token_t *is = &reads->tree.tokens[token];
    return is->kind == KEEL_PY_T_NAME && !(is_soft && token == node->first_token) &&
           !(token && is[-1].sign == KEEL_PY_S_EXCLAMATION);
}

// Of the tokens from `first` to `end`.
static keel_status_t add_statement(listing_t *listing, uint32_t node, uint32_t first, uint32_t end,
                                   bool is_header) {
    keel_depends_t *reads = listing->reads;
    const keel_py_tree_t *tree = &reads->tree;
    const keel_py_node_t *is = &tree->nodes[node];
    bool is_definition = is->kind == KEEL_PY_FUNCTION_DEF || is->kind == KEEL_PY_CLASS_DEF ||
                         is->kind == KEEL_PY_ASYNC_FUNCTION_DEF;
    keel_depends_statement_t *statement = &reads->statements[reads->count++];
    *statement = (keel_depends_statement_t){.first = tree->tokens[first].line,
                                            .last = tree->tokens[first].line,
                                            .node = node,
                                            .parent = listing->above,
                                            .words = reads->word_count,
                                            .name = KEEL_NONE,
                                            .is_header = is_header};
    for (uint32_t at = first; at < end; ++at) {
        if (tree->tokens[at].kind == KEEL_PY_T_NEWLINE) continue; // behind a decorator
        statement->last = note_code(reads, at, !is_text_alone(is));
        if (!is_word(reads, is, at)) continue;
        if (is_definition && at == is->name) statement->name = reads->word_count;
        KEEL_TRY(add_word(listing, at));
    }
    statement->word_count = reads->word_count - statement->words;
    statement->kind = kind_of(reads, statement, is);
    // A longer list of imports changes nothing for the names that were there.
    for (uint32_t i = 0; statement->kind == IMPORT && i < statement->word_count; ++i)
        reads->names[words_of(reads, statement)[i].name] |= IMPORTED;
    if (is_header) listing->above = reads->count - 1;
    return NULL;
}

// Ends the blocks that the node is not in, and those of another arm.
static void leave_blocks(listing_t *listing, uint32_t node) {
    const keel_depends_t *reads = listing->reads;
    const keel_py_node_t *nodes = reads->tree.nodes;
    for (; listing->above != KEEL_NONE; listing->above = reads->statements[listing->above].parent) {
        const keel_depends_statement_t *above = &reads->statements[listing->above];
        bool is_arm =
            above->parent != KEEL_NONE && reads->statements[above->parent].node == above->node;
        bool is_in = node < nodes[above->node].end && node > above->node;
        if (is_in &&
            !(is_arm && nodes[node].parent == above->node && nodes[node].field != above->field))
            return;
    }
}

// `else` and `finally` stand before the first statement of their block.
static keel_status_t add_arm(listing_t *listing, uint32_t node) {
    const keel_depends_t *reads = listing->reads;
    const keel_py_tree_t *tree = &reads->tree;
    unsigned field = tree->nodes[node].field;
    bool is_elif = tree->tokens[tree->nodes[node].first_token].sign == KEEL_PY_S_ELIF;
    if ((field != KEEL_PY_F_ORELSE && field != KEEL_PY_F_FINALBODY) || is_elif ||
        listing->above == KEEL_NONE || reads->statements[listing->above].field == field)
        return NULL;
    uint32_t end = header_before(tree, node);
    KEEL_TRY(add_statement(listing, tree->nodes[node].parent, end - 2, end, true));
    reads->statements[listing->above].field = (uint8_t)field;
    return NULL;
}

static keel_status_t list_all(listing_t *listing) {
    const keel_py_tree_t *tree = &listing->reads->tree;
    for (uint32_t node = 0; node < tree->node_count; ++node)
        note_node(listing, node);
    for (uint32_t node = 1; node < tree->node_count; ++node) {
        if (!is_listed(&tree->nodes[node])) continue;
        leave_blocks(listing, node);
        KEEL_TRY(add_arm(listing, node));
        uint32_t inner = keel_py_child(tree, node, KEEL_PY_F_NOTHING, KEEL_NONE);
        while (inner != KEEL_NONE && !is_listed(&tree->nodes[inner]))
            inner = keel_py_child(tree, node, KEEL_PY_F_NOTHING, inner);
        bool is_header = inner != KEEL_NONE;
        uint32_t end = is_header ? header_before(tree, inner) : tree->nodes[node].end_token;
        KEEL_TRY(add_statement(listing, node, first_token_of(tree, node), end, is_header));
    }
    return NULL;
}

static keel_status_t list(keel_depends_t *reads, keel_arena_t *arena) {
    const keel_py_tree_t *tree = &reads->tree;
    listing_t listing = {.reads = reads, .above = KEEL_NONE};
    uint32_t names = 1, most = 1;
    for (uint32_t i = 0; i < tree->token_count; ++i)
        names += tree->tokens[i].kind == KEEL_PY_T_NAME;
    for (uint32_t i = 0; i < tree->node_count; ++i)
        most += is_listed(&tree->nodes[i]) ? 2 : 0; // each may begin an arm
    KEEL_TRY(
        keel_arena_array(arena, tree->line_count, sizeof *reads->lines, (void **)&reads->lines));
    KEEL_TRY(keel_arena_array(arena, most, sizeof *reads->statements, (void **)&reads->statements));
    KEEL_TRY(keel_arena_array(arena, names, sizeof *reads->words, (void **)&reads->words));
    KEEL_TRY(keel_arena_array(arena, names, 1, (void **)&reads->names));
    KEEL_TRY(keel_arena_array(arena, tree->token_count, 1, (void **)&listing.says));
    memset(reads->lines, 0, tree->line_count * sizeof *reads->lines);
    memset(reads->names, 0, names);
    memset(listing.says, 0, tree->token_count);
    reads->line_count = tree->line_count;
    return list_all(&listing);
}

keel_status_t keel_depends_parse(keel_depends_t *reads, keel_str_t text, keel_arena_t *arena) {
    *reads = (keel_depends_t){.budget = BUDGET};
    keel_map_initialize(&reads->known);
    keel_status_t status = keel_py_read(text, &reads->tree);
    if (keel_status_code(status) == KEEL_UNSUPPORTED) { // a text too large has no statements
        keel_status_ignore(status);
        status = keel_py_read(KEEL_STR(""), &reads->tree);
    }
    return status ? status : list(reads, arena);
}

void keel_depends_deinitialize(keel_depends_t *reads) {
    keel_map_deinitialize(&reads->known);
    keel_py_deinitialize(&reads->tree);
}
