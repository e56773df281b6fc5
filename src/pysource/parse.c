// Nodes as they are made, and the tree that they become.
#include "pysource/parse.h"

#include "pysource/token.h"

enum { DEEPEST = 400 };

bool py_is_word(const parser_t *p, uint32_t ahead, const char *word) {
    const keel_py_token_t *token = py_token_after(p, ahead);
    return token->kind == KEEL_PY_T_NAME &&
           keel_str_is((keel_str_t){p->tree->text.data + token->at, token->size}, word);
}

uint32_t py_fail(parser_t *p) {
    if (p->at > p->furthest) p->furthest = p->at;
    return KEEL_NONE;
}

bool py_expect(parser_t *p, keel_py_sign_t sign) {
    if (py_take(p, sign)) return true;
    py_fail(p);
    return false;
}

uint32_t py_expect_name(parser_t *p) {
    return py_is_kind(p, KEEL_PY_T_NAME) ? p->at++ : py_fail(p);
}

bool py_enter(parser_t *p) {
    if (p->depth == DEEPEST) {
        py_fail(p);
        return false;
    }
    ++p->depth;
    return true;
}

// ---- nodes -------------------------------------------------------------------------------------

// Behind the last token that says something.
static uint32_t end_of_text(const parser_t *p, uint32_t from) {
    uint32_t end = p->at;
    while (end > from) {
        unsigned kind = p->tree->tokens[end - 1].kind;
        if (kind != KEEL_PY_T_NEWLINE && kind != KEEL_PY_T_INDENT && kind != KEEL_PY_T_DEDENT)
            break;
        --end;
    }
    return end;
}

uint32_t py_node(parser_t *p, keel_py_kind_t kind, uint32_t from) {
    if (!p->status)
        p->status = keel_grow_array(p->count, sizeof *p->nodes, &p->capacity, (void **)&p->nodes);
    if (p->status) return KEEL_NONE;
    p->nodes[p->count] = (built_t){.kind = (uint8_t)kind,
                                   .first_token = from,
                                   .end_token = end_of_text(p, from),
                                   .name = KEEL_NONE,
                                   .first = KEEL_NONE,
                                   .last = KEEL_NONE,
                                   .next = KEEL_NONE};
    return p->count++;
}

bool py_add(parser_t *p, uint32_t parent, keel_py_field_t field, uint32_t child) {
    if (parent == KEEL_NONE || child == KEEL_NONE) return false;
    built_t *of = &p->nodes[parent];
    p->nodes[child].field = (uint8_t)field;
    if (of->first == KEEL_NONE)
        of->first = child;
    else
        p->nodes[of->last].next = child;
    of->last = child;
    return true;
}

uint32_t py_end(parser_t *p, uint32_t node) {
    if (node != KEEL_NONE) p->nodes[node].end_token = end_of_text(p, p->nodes[node].first_token);
    return node;
}

// ---- the packed table --------------------------------------------------------------------------

typedef struct place_t {
    uint32_t at, line; // in the text
} place_t;

static place_t begin_of(const keel_py_token_t *token) {
    return (place_t){token->at, token->line};
}

// A string may go on over lines.
static place_t end_of(const keel_py_tree_t *tree, const keel_py_token_t *token) {
    place_t end = {token->at + token->size, token->line};
    while (end.line < tree->line_count && tree->lines[end.line] <= end.at &&
           token->kind != KEEL_PY_T_NEWLINE)
        ++end.line;
    return end;
}

static uint32_t column_of(const keel_py_tree_t *tree, place_t place) {
    return place.at - tree->lines[place.line - 1];
}

// What `{x = }` shows of itself is between its bracket and the sign behind it.
static void place_node(const keel_py_tree_t *tree, keel_py_node_t *node) {
    const keel_py_token_t *first = &tree->tokens[node->first_token], *last = first;
    if (node->end_token > node->first_token) last = &tree->tokens[node->end_token - 1];
    bool is_shown = node->kind == KEEL_PY_CONSTANT;
    place_t from =
        is_shown && first->sign == KEEL_PY_S_LEFT_BRACE ? end_of(tree, first) : begin_of(first);
    place_t to = node->end_token == node->first_token ? from : end_of(tree, last);
    if (is_shown && last->sign == KEEL_PY_S_EQUAL) to = begin_of(last + 1);
    node->line = from.line;
    node->column = column_of(tree, from);
    node->end_line = to.line;
    node->end_column = column_of(tree, to);
}

// In pre-order, without recursion: `order` has the new number of each node.
static void pack_nodes(const parser_t *p, uint32_t root, keel_py_node_t *out, uint32_t *order) {
    uint32_t count = 0, at = root, parent = KEEL_NONE;
    while (at != KEEL_NONE) {
        const built_t *built = &p->nodes[at];
        keel_py_node_t *node = &out[count];
        *node = (keel_py_node_t){.kind = built->kind,
                                 .field = built->field,
                                 .op = built->op,
                                 .parent = parent,
                                 .first_token = built->first_token,
                                 .end_token = built->end_token,
                                 .name = built->name};
        place_node(p->tree, node);
        order[count++] = at;
        if (built->first != KEEL_NONE) {
            parent = count - 1;
            at = built->first;
            continue;
        }
        node->end = count;
        while (at != KEEL_NONE && p->nodes[at].next == KEEL_NONE && parent != KEEL_NONE) {
            out[parent].end = count;
            at = order[parent];
            parent = out[parent].parent;
        }
        at = at == root ? KEEL_NONE : p->nodes[at].next;
    }
}

static keel_status_t pack(const parser_t *p, uint32_t root, keel_py_tree_t *tree) {
    uint32_t *order = NULL;
    keel_py_node_t *nodes = NULL;
    keel_status_t status = keel_realloc_array(p->count, sizeof *order, (void **)&order);
    if (!status) status = keel_realloc_array(p->count, sizeof *nodes, (void **)&nodes);
    if (!status) pack_nodes(p, root, nodes, order);
    keel_free(order);
    tree->nodes = nodes;
    if (nodes) tree->node_count = nodes[0].end;
    for (uint32_t i = 0; i < tree->node_count; ++i)
        tree->unknown_count += nodes[i].kind == KEEL_PY_UNKNOWN;
    return status;
}

static keel_status_t parse(keel_py_tree_t *tree) {
    parser_t parser = {.tree = tree, .error = KEEL_NONE};
    uint32_t root = py_node(&parser, KEEL_PY_MODULE, 0);
    if (root != KEEL_NONE) py_statements(&parser, root, KEEL_PY_F_BODY);
    py_end(&parser, root);
    keel_status_t status = parser.status;
    if (!status) status = pack(&parser, root, tree);
    if (!status && parser.error != KEEL_NONE) {
        place_t place = begin_of(&tree->tokens[parser.error]);
        tree->error_line = place.line;
        tree->error_column = column_of(tree, place);
    }
    keel_free(parser.nodes);
    return status;
}

keel_status_t keel_py_read(keel_str_t text, keel_py_tree_t *out) {
    *out = (keel_py_tree_t){.text = text};
    if (text.size > KEEL_PY_LARGEST)
        return keel_status_make(KEEL_UNSUPPORTED, "this source has more than %d MiB",
                                KEEL_PY_LARGEST >> 20);
    keel_status_t status = keel_py_tokenize(out);
    if (!status) status = parse(out);
    if (status) keel_py_deinitialize(out);
    return status;
}

void keel_py_deinitialize(keel_py_tree_t *tree) {
    keel_free((void *)(uintptr_t)tree->nodes);
    keel_free((void *)(uintptr_t)tree->tokens);
    keel_free((void *)(uintptr_t)tree->lines);
    *tree = (keel_py_tree_t){.text = tree->text};
}
