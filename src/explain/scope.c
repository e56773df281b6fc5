// The named scopes around an operation, as its client writes them before its name: modules of flax,
// jax.named_scope, keel_scope_begin.
#include "explain/diff.h"
#include "explain/lines.h"

// "block" of "transpose(jvp(block))": what JAX's transformations are applied to.
static keel_str_t unwrapped(keel_str_t part) {
    for (;;) {
        size_t open = 0;
        while (open < part.size && part.data[open] != '(')
            ++open;
        if (open == part.size || part.data[part.size - 1] != ')') return part;
        keel_str_t around = {part.data, open};
        if (keel_str_is(around, "jit") || keel_str_is(around, "pjit")) return KEEL_STR("");
        part = (keel_str_t){part.data + open + 1, part.size - open - 2};
    }
}

static bool contains(keel_str_t part, char c, char next) {
    for (size_t i = 0; i + 1 < part.size; ++i)
        if (part.data[i] == c && part.data[i + 1] == next) return true;
    return false;
}

// What JAX itself puts there: loops and branches, its own calls, the axes of an einsum.
static bool is_jaxs(keel_str_t part) {
    static const char *const names[] = {"while",
                                        "body",
                                        "cond",
                                        "scan",
                                        "closed_call",
                                        "core_call",
                                        "checkpoint",
                                        "remat",
                                        "rematted_computation",
                                        "custom_jvp_call",
                                        "named_call",
                                        "custom_vjp_call",
                                        "shard_map",
                                        "custom_lin",
                                        "custom_vjp_call_jaxpr",
                                        "pjit",
                                        "jaxpr",
                                        "cond_jaxpr",
                                        "body_jaxpr",
                                        "while_loop",
                                        "xla_pmap",
                                        "pmap",
                                        "remat2",
                                        "custom_transpose_call"};
    bool is_branch =
        keel_str_starts(part, KEEL_STR("branch_")) && keel_str_ends(part, KEEL_STR("_fun"));
    return is_branch || contains(part, '-', '>') ||
           keel_str_is_among(part, names, sizeof names / sizeof *names);
}

// One part of a name; "" if it is not a scope of the user's. "aten__mul.1" is PyTorch's own.
static keel_str_t scope_of_part(keel_str_t part, bool is_jax) {
    if (!is_jax) return contains(part, '_', '_') ? KEEL_STR("") : part;
    part = unwrapped(part);
    return is_jaxs(part) ? KEEL_STR("") : part;
}

const char *keel_diff_scope(keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    if (op == KEEL_NONE || keel_graph_is_parameter(graph, op)) return "";
    bool is_jax = graph->program->format == KEEL_FORMAT_MLIR;
    keel_str_t name = keel_lines_primitive(graph, op);
    const char *scope = "";
    for (size_t at = 0, end = 0; end < name.size; at = end + 1) {
        for (end = at; end < name.size && name.data[end] != '/';)
            ++end;
        if (end == name.size) break; // the operation's own
        keel_str_t part = scope_of_part((keel_str_t){name.data + at, end - at}, is_jax);
        if (part.size)
            scope = keel_diff_text(diff, "%s%s%.*s", scope, *scope ? "/" : "", KEEL_STR_ARGS(part));
    }
    return scope;
}
