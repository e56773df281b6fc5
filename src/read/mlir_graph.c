#include "read/mlir_entry.h"

// Attributes and types refer to each other by index, forward or backward. This visits each after
// its children, with an explicit stack: it checks kinds, turns names that are attributes into
// strings, and refuses cycles and deep nesting.
//
// A node is an attribute, or a type; types come after all attributes.

enum { UNSEEN = 0, BUSY = 255 }; // else: 1 + the depth, in which locations do not count

typedef struct open_t {
    uint32_t node;
    uint32_t next;  // the next child to visit
    uint32_t depth; // of the deepest child so far
} open_t;

typedef struct graph_t {
    keel_mlir_t *m;
    keel_program_t *program;
    uint32_t attrs, nodes; // the first type is node `attrs`
    uint8_t *state;
    KEEL_TABLE(open_t) stack;
} graph_t;

// The children of a node: a few single ones, then two lists.
typedef struct children_t {
    uint32_t own[3];
    uint32_t own_count;
    keel_list_t lists[2];
    uint32_t step, base; // which items of the lists count: every step-th; base is added to each
} children_t;

static void add_child(children_t *out, uint32_t node) {
    out->own[out->own_count++] = node;
}

static void type_children(const graph_t *g, uint32_t id, children_t *out) {
    const keel_type_t *type = &g->program->types.data[id];
    out->base = g->attrs;
    switch (type->kind) {
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            if (type->c != KEEL_NONE) add_child(out, type->c);
            add_child(out, g->attrs + type->a);
            break;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
            add_child(out, g->attrs + type->a);
            break;
        case KEEL_TYPE_FUNCTION:
            out->lists[1] = keel_program_list(g->program, type->c);
            out->lists[0] = keel_program_list(g->program, type->b);
            break;
        case KEEL_TYPE_TUPLE:
        case KEEL_TYPE_FUTURE:
            out->lists[0] = keel_program_list(g->program, type->b);
            break;
        case KEEL_TYPE_QUANTIZED:
            add_child(out, g->attrs + type->a);
            add_child(out, g->attrs + type->b);
            add_child(out, type->c);
            break;
        default:
            break;
    }
}

static void attr_children(const graph_t *g, uint32_t id, children_t *out) {
    const keel_attr_t *attr = &g->program->attrs.data[id];
    switch (attr->kind) {
        case KEEL_ATTR_STRING:
            if (attr->b != KEEL_NONE) add_child(out, g->attrs + attr->b);
            break;
        case KEEL_ATTR_INT:
            if (attr->a != KEEL_NONE) add_child(out, g->attrs + attr->a);
            break;
        case KEEL_ATTR_WIDE_INT:
        case KEEL_ATTR_FLOAT:
        case KEEL_ATTR_TYPE:
        case KEEL_ATTR_TENSOR:
        case KEEL_ATTR_DENSE_ARRAY:
        case KEEL_ATTR_STRINGS:
            add_child(out, g->attrs + attr->a);
            break;
        case KEEL_ATTR_SPARSE:
            add_child(out, g->attrs + attr->a);
            out->lists[0] = keel_program_list(g->program, attr->b);
            break;
        case KEEL_ATTR_DISTINCT:
        case KEEL_ATTR_LOC_FILE:
            add_child(out, attr->a);
            break;
        case KEEL_ATTR_LOC_NAME:
        case KEEL_ATTR_LOC_CALLSITE:
            add_child(out, attr->a);
            add_child(out, attr->b);
            break;
        case KEEL_ATTR_SYMBOL:
            add_child(out, attr->a);
            out->lists[0] = keel_program_list(g->program, attr->b);
            break;
        case KEEL_ATTR_LOC_FUSED:
            if (attr->a != KEEL_NONE) add_child(out, attr->a);
            out->lists[0] = keel_program_list(g->program, attr->b);
            break;
        case KEEL_ATTR_ARRAY:
            out->lists[0] = keel_program_list(g->program, attr->b);
            break;
        case KEEL_ATTR_DICT:
            // A dictionary's names are still attributes; a record's are strings.
            out->lists[0] = keel_program_list(g->program, attr->b);
            if (attr->klass) out->step = 2;
            break;
        default:
            break;
    }
}

static void children_of(const graph_t *g, uint32_t node, children_t *out) {
    *out = (children_t){.step = 1};
    if (node < g->attrs)
        attr_children(g, node, out);
    else
        type_children(g, node - g->attrs, out);
}

// The child at a position; KEEL_NONE past the last.
static uint32_t child_at(const children_t *children, uint32_t at) {
    if (at < children->own_count) return children->own[at];
    uint64_t item = (uint64_t)(at - children->own_count) * children->step + children->step - 1;
    for (unsigned i = 0; i < 2; ++i) {
        if (item < children->lists[i].count) return children->base + children->lists[i].items[item];
        item -= children->lists[i].count;
    }
    return KEEL_NONE;
}

// ---- kinds -------------------------------------------------------------------------------------

static bool is_kind(const graph_t *g, uint32_t attr, keel_attr_kind_t kind) {
    return g->program->attrs.data[attr].kind == kind;
}

static bool is_location(const graph_t *g, uint32_t attr) {
    return keel_attr_is_location(g->program->attrs.data[attr].kind);
}

// A reference to a string attribute becomes the string.
static bool take_string(const graph_t *g, uint32_t *inout) {
    if (!is_kind(g, *inout, KEEL_ATTR_STRING)) return false;
    *inout = g->program->attrs.data[*inout].a;
    return true;
}

static bool take_names(const graph_t *g, uint32_t list) {
    uint32_t *items = g->program->pool.data + list + 1;
    for (uint32_t i = 0; i < items[-1]; i += 2)
        if (!take_string(g, &items[i])) return false;
    return true;
}

static bool check_list(const graph_t *g, uint32_t list, bool (*check)(const graph_t *, uint32_t)) {
    keel_list_t items = keel_program_list(g->program, list);
    for (uint32_t i = 0; i < items.count; ++i)
        if (!check(g, items.items[i])) return false;
    return true;
}

static bool is_plain_symbol(const graph_t *g, uint32_t attr) {
    return is_kind(g, attr, KEEL_ATTR_SYMBOL) && g->program->attrs.data[attr].b == KEEL_NONE;
}

// An array of a record names the kind of its items until this checks them.
static bool check_array(const graph_t *g, keel_attr_t *array) {
    keel_list_t items = keel_program_list(g->program, array->b);
    for (uint32_t i = 0; i < items.count; ++i) {
        const keel_attr_t *item = &g->program->attrs.data[items.items[i]];
        bool is_record = item->kind == KEEL_ATTR_DICT || item->kind == KEEL_ATTR_INTS;
        if (array->klass ? !is_record || item->klass != array->klass
                         : item->kind != KEEL_ATTR_STRING)
            return false;
    }
    array->aux = KEEL_MLIR_ANY;
    array->klass = 0;
    return true;
}

// A tensor without elements still has one if it was written as a splat; it means nothing.
static keel_status_t check_tensor(const graph_t *g, keel_attr_t *tensor) {
    keel_bytes_t blob = g->program->blobs.data[tensor->b];
    keel_tensor_view_t view;
    KEEL_TRY(keel_program_tensor(g->program, tensor->a, blob, &view));
    if (view.bytes.size == blob.size) return NULL;
    return keel_program_add_blob(g->program, view.bytes, &tensor->b);
}

static bool check_kinds(const graph_t *g, keel_attr_t *attr, keel_status_t *out_status) {
    switch (attr->kind) {
        case KEEL_ATTR_DICT:
            return attr->klass || take_names(g, attr->b);
        case KEEL_ATTR_ARRAY:
            return !attr->aux || check_array(g, attr);
        case KEEL_ATTR_SYMBOL:
            return take_string(g, &attr->a) &&
                   (attr->b == KEEL_NONE || check_list(g, attr->b, is_plain_symbol));
        case KEEL_ATTR_TENSOR:
            *out_status = check_tensor(g, attr);
            return true;
        case KEEL_ATTR_LOC_FILE:
            return take_string(g, &attr->a);
        case KEEL_ATTR_LOC_NAME:
            return is_location(g, attr->b) && take_string(g, &attr->a);
        case KEEL_ATTR_LOC_CALLSITE:
            return is_location(g, attr->a) && is_location(g, attr->b);
        case KEEL_ATTR_LOC_FUSED:
            return check_list(g, attr->b, is_location);
        default:
            return true;
    }
}

// ---- the visit ---------------------------------------------------------------------------------

static const char *what_is(const graph_t *g, uint32_t node, uint32_t *out_index) {
    *out_index = node < g->attrs ? node : node - g->attrs;
    return node < g->attrs ? "attribute" : "type";
}

// All children are visited; the deepest of them is `depth` deep.
static keel_status_t finish_node(graph_t *g, uint32_t node, uint32_t depth) {
    uint32_t index;
    bool is_place = node < g->attrs && is_location(g, node);
    if (!is_place && depth >= KEEL_READ_ATTRIBUTE_DEPTH) {
        const char *what = what_is(g, node, &index);
        return keel_status_make(KEEL_UNSUPPORTED, "%s %u nests more than %d deep", what, index,
                                KEEL_READ_ATTRIBUTE_DEPTH);
    }
    g->state[node] = (uint8_t)(1 + depth + !is_place);
    if (node >= g->attrs) return NULL;
    keel_status_t status = NULL;
    if (!check_kinds(g, &g->program->attrs.data[node], &status))
        return keel_status_make(KEEL_CORRUPT,
                                "attribute %u holds something that is not allowed there", node);
    return status ? keel_status_annotate(status, "attribute %u", node) : NULL;
}

// Continues through the children of a node. Returns the next one that must be visited first, or
// KEEL_NONE after the last.
static keel_status_t next_child(graph_t *g, open_t *open, uint32_t *out) {
    children_t children;
    children_of(g, open->node, &children);
    while ((*out = child_at(&children, open->next)) != KEEL_NONE) {
        uint8_t state = g->state[*out];
        if (state == UNSEEN) return NULL;
        if (state == BUSY) {
            uint32_t index;
            const char *what = what_is(g, open->node, &index);
            return keel_status_make(KEEL_CORRUPT, "%s %u refers to itself", what, index);
        }
        if (state - 1u > open->depth) open->depth = state - 1u;
        ++open->next;
    }
    return NULL;
}

static keel_status_t visit_node(graph_t *g, uint32_t root) {
    open_t open = {.node = root};
    g->state[root] = BUSY;
    for (;;) {
        uint32_t child;
        KEEL_TRY(next_child(g, &open, &child));
        if (child != KEEL_NONE) {
            KEEL_MLIR_PUSH(&g->stack, open);
            open = (open_t){.node = child};
            g->state[child] = BUSY;
            continue;
        }
        KEEL_TRY(finish_node(g, open.node, open.depth));
        if (!g->stack.count) return NULL;
        open = g->stack.data[--g->stack.count];
    }
}

keel_status_t keel_mlir_check_graph(keel_mlir_t *m) {
    graph_t g = {.m = m, .program = m->program, .attrs = m->program->attrs.count};
    g.nodes = g.attrs + m->program->types.count;
    void *state;
    KEEL_TRY(keel_calloc(g.nodes, 1, &state));
    g.state = state;
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < g.nodes && !status; ++i)
        if (g.state[i] == UNSEEN) status = visit_node(&g, i);
    keel_free(g.stack.data);
    keel_free(g.state);
    return status;
}
