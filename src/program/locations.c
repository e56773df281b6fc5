#define _GNU_SOURCE // memmem
#include <string.h>

#include "program/program.h"

// A location is a tree of names, call sites and groups, which may share parts. It is walked in
// order (callee before caller, a group's members in turn) with an explicit stack.

// What is left to walk after the current location. Call sites that nest on the right, as JAX writes
// them, need no room here; if they nest on the left deeper than this, the outermost callers are
// dropped.
enum { STACK_LIMIT = 256 };

typedef struct pending_t {
    keel_attr_id_t location; // a caller; or a group, resumed at `next`
    uint32_t next;
    keel_string_id_t name;
} pending_t;

typedef struct location_walk_t {
    const keel_program_t *program;
    keel_frame_t *out;
    uint32_t limit, count;
    uint64_t visits_left; // shared parts may contain shared parts
    keel_string_id_t outermost;
    bool is_named; // any further name belongs to a function
    keel_graph_kind_t graph;
    uint32_t depth;
    pending_t stack[STACK_LIMIT];
} location_walk_t;

static void push(location_walk_t *w, keel_attr_id_t location, uint32_t next,
                 keel_string_id_t name) {
    if (w->depth < STACK_LIMIT) w->stack[w->depth++] = (pending_t){location, next, name};
}

// ---- graphs of torch.compile -------------------------------------------------------------------

static bool is_below(keel_str_t file, const char *const *folders, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (memmem(file.data, file.size, folders[i], strlen(folders[i]))) return true;
    return false;
}

// TorchTPU 0.2 lowers each node of a graph in a function that it gives the node's file, name and
// line, so that a location has the line behind it; a node without these keeps the function's own.
static void correct_node(location_walk_t *w, keel_str_t exporter) {
    if (!w->count) return;
    keel_frame_t *node = &w->out[w->count - 1];
    if (w->count > w->limit) return;
    if (keel_str_equal(node->file, exporter))
        --w->count;
    else if (node->line > 1)
        --node->line;
}

// The frames between a node and the line that called the compiled function are those of torch's
// compiler. They only tell which of the function's graphs it is.
static bool is_of_compiler(location_walk_t *w, keel_str_t file, keel_str_t function) {
    static const char exporter[] = "/torch_tpu/_internal/export/export.py";
    static const char *const folders[] = {"/torch_tpu/_internal/", "/torch/_dynamo/",
                                          "/torch/_functorch/", "/torch/_utils_internal.py",
                                          "/torch/__init__.py"};
    bool is_node = keel_str_is(function, "run_node");
    bool begins = w->graph == KEEL_GRAPH_NONE && keel_str_ends(file, KEEL_STR(exporter)) &&
                  (is_node || keel_str_is(function, "fx_to_mlir"));
    if (begins && is_node) correct_node(w, file);
    if (begins) w->graph = KEEL_GRAPH_FORWARD;
    if (w->graph == KEEL_GRAPH_NONE) return false;
    if (keel_str_is(function, "_wrapped_bw_compiler")) w->graph = KEEL_GRAPH_BACKWARD;
    return is_below(file, folders, sizeof folders / sizeof *folders);
}

// ---- frames ------------------------------------------------------------------------------------

static void add_frame(location_walk_t *w, const keel_attr_t *file, keel_string_id_t name) {
    keel_str_t path = keel_program_str(w->program, file->a);
    keel_str_t function = keel_program_str(w->program, name);
    if (is_of_compiler(w, path, function)) return;
    if (w->count < w->limit) {
        keel_list_t numbers = keel_program_list(w->program, file->b);
        uint32_t at[4] = {0};
        for (uint32_t i = 0; i < numbers.count && i < 4; ++i)
            at[i] = numbers.items[i];
        w->out[w->count] = (keel_frame_t){.file = path,
                                          .function = function,
                                          .line = at[0],
                                          .column = at[1],
                                          .end_line = at[2],
                                          .end_column = at[3]};
    }
    ++w->count;
}

// "while:" and the like give the operation's type; the name stack is below them.
static bool is_type_only(const keel_program_t *program, const keel_attr_t *name) {
    keel_str_t text = keel_program_str(program, name->a);
    return text.size && text.data[text.size - 1] == ':' &&
           program->attrs.data[name->b].kind == KEEL_ATTR_LOC_NAME;
}

// Walks one location down to its frame, if it has one. The outermost name names the operation,
// unless it is below a call site; any other name is the function of the frames below it.
static void walk_one(location_walk_t *w, keel_attr_id_t location, keel_string_id_t name) {
    for (; w->visits_left; --w->visits_left) {
        const keel_attr_t *attr = &w->program->attrs.data[location];
        switch (attr->kind) {
            case KEEL_ATTR_LOC_FILE:
                add_frame(w, attr, name);
                w->is_named = true;
                --w->visits_left;
                return;
            case KEEL_ATTR_LOC_NAME:
                if (w->is_named) {
                    name = attr->a;
                } else if (!is_type_only(w->program, attr)) {
                    w->outermost = attr->a;
                    w->is_named = true;
                }
                location = attr->b;
                break;
            case KEEL_ATTR_LOC_CALLSITE:
                w->is_named = true;
                push(w, attr->b, KEEL_NONE, name);
                location = attr->a;
                break;
            case KEEL_ATTR_LOC_FUSED:
                push(w, location, 0, name);
                --w->visits_left;
                return;
            default:
                w->is_named = true;
                --w->visits_left;
                return;
        }
    }
}

static void walk_next(location_walk_t *w) {
    pending_t *top = &w->stack[w->depth - 1];
    if (top->next == KEEL_NONE) {
        pending_t caller = *top;
        --w->depth;
        walk_one(w, caller.location, caller.name);
        return;
    }
    keel_list_t group = keel_program_list(w->program, w->program->attrs.data[top->location].b);
    if (top->next == group.count) {
        --w->depth;
        return;
    }
    walk_one(w, group.items[top->next++], top->name);
}

static void walk(location_walk_t *w, keel_attr_id_t location) {
    w->visits_left = 4 * (uint64_t)w->program->attrs.count;
    w->outermost = KEEL_NONE;
    if (location == KEEL_NONE) return;
    walk_one(w, location, KEEL_NONE);
    while (w->depth && w->visits_left)
        walk_next(w);
}

uint32_t keel_program_frames(const keel_program_t *program, keel_attr_id_t location,
                             keel_frame_t *out, uint32_t limit, keel_str_t *out_name) {
    location_walk_t w;
    w.program = program;
    w.out = out;
    w.limit = limit;
    w.count = w.depth = 0;
    w.is_named = false;
    w.graph = KEEL_GRAPH_NONE;
    walk(&w, location);
    if (out_name) *out_name = keel_program_str(program, w.outermost);
    return w.count;
}

keel_graph_kind_t keel_program_graph_kind(const keel_program_t *program, keel_attr_id_t location) {
    keel_frame_t frame;
    location_walk_t w;
    w.program = program;
    w.out = &frame;
    w.limit = 1;
    w.count = w.depth = 0;
    w.is_named = false;
    w.graph = KEEL_GRAPH_NONE;
    walk(&w, location);
    return w.graph;
}

bool keel_frame_is_same(const keel_frame_t *a, const keel_frame_t *b) {
    return a->line == b->line && a->column == b->column && a->end_column == b->end_column &&
           keel_str_equal(a->file, b->file);
}
