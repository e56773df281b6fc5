// Methods and attributes of arrays.
#include "lint/walk.h"

static const char *const host_methods[] = {"size",
                                           "dim",
                                           "numel",
                                           "nelement",
                                           "element_size",
                                           "stride",
                                           "is_contiguous",
                                           "is_floating_point",
                                           "get_device",
                                           "type",
                                           "data_ptr",
                                           "ndimension",
                                           "is_complex",
                                           "storage_offset",
                                           "is_signed",
                                           "untyped_storage",
                                           "is_deleted",
                                           "is_fully_addressable",
                                           "devices",
                                           "storage",
                                           NULL};
static const char *const bool_methods[] = {
    "eq",          "ne",       "lt",   "le",      "gt",          "ge",         "isnan",
    "isinf",       "isfinite", "any",  "all",     "logical_and", "logical_or", "logical_not",
    "logical_xor", "bool",     "isin", "isclose", "not_equal",   "equal_",     NULL};
static const char *const several_methods[] = {
    "split", "chunk", "unbind", "topk", "sort", "tensor_split", "nonzero_static", "aminmax", NULL};
// Those that only arrays have.
static const char *const array_methods[] = {
    "sum",         "mean",          "prod",     "std",        "var",
    "abs",         "exp",           "log",      "sqrt",       "square",
    "argmax",      "argmin",        "cumsum",   "clamp",      "clip",
    "float",       "long",          "int",      "half",       "bfloat16",
    "to",          "detach",        "clone",    "astype",     "reshape",
    "view",        "flatten",       "squeeze",  "unsqueeze",  "transpose",
    "permute",     "expand",        "repeat",   "contiguous", "gather",
    "masked_fill", "scatter",       "norm",     "amax",       "amin",
    "pow",         "matmul",        "sigmoid",  "tanh",       "softmax",
    "log_softmax", "round",         "floor",    "ceil",       "sub",
    "mul",         "add",           "div",      "neg",        "index_select",
    "type_as",     "new_zeros",     "new_ones", "double",     "flip",
    "roll",        "tril",          "triu",     "ravel",      "dot",
    "swapaxes",    "take",          "conj",     "diff",       "logsumexp",
    "T",           "max",           "min",      "expand_as",  "view_as",
    "squeeze_",    "count_nonzero", "mT",       NULL};
static const char *const size_methods[] = {"repeat",    "expand",   "view",      "reshape",
                                           "new_zeros", "new_ones", "new_empty", "narrow",
                                           "split",     "topk",     NULL};
static const char *const dynamic_methods[] = {
    "nonzero", "unique", "argwhere", "masked_select", "unique_consecutive", "bincount", NULL};

static bool is_maybe(value_t value) {
    return value.kind == KIND_MAYBE || value.kind == KIND_MAYBE_BOOL;
}

// `.item()` and its like.
static bool read(walk_t *walk, uint32_t call, keel_str_t name, value_t receiver, value_t *out) {
    bool is_item = keel_str_is(name, "item"), is_list = keel_str_is(name, "tolist"),
         is_numpy = keel_str_is(name, "numpy"), is_cpu = keel_str_is(name, "cpu");
    source_t *source = walk->source;
    if (!is_item && !is_list && !is_numpy && !is_cpu) return false;
    *out = value_of(KIND_READ);
    if (receiver.kind == KIND_READ || receiver.kind == KIND_HOST) return true;
    bool is_torch = walk_client(walk) == KEEL_LINT_TORCH;
    if (receiver.kind == KIND_LOCAL) return true;
    bool is_torch_method = is_numpy || is_cpu;
    bool is_known = is_array_used(receiver) || is_maybe(receiver);
    if (!is_torch && (is_torch_method || !is_known)) {
        *out = value_of(KIND_UNKNOWN);
        return true;
    }
    // An array of NumPy's has these two as well.
    if (is_list && !is_known) return true;
    bool is_it = is_known || (is_torch && walk_is_xla(source));
    // `model.cpu()` alone moves a module.
    const keel_py_node_t *around = source_node(source, source_node(source, call)->parent);
    bool is_moved = is_cpu && around->kind == KEEL_PY_EXPR;
    bool is_plain = is_numpy || source_is_bare(source, call);
    if (is_it && is_plain && !is_moved && walk_is_step(walk))
        walk_report(walk, KEEL_LINT_READ, call);
    return true;
}

static void check_sizes(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    if (walk_client(walk) != KEEL_LINT_TORCH || !walk->traced) return;
    for (uint32_t at = KEEL_NONE; (at = source_argument(source, call, at)) != KEEL_NONE;) {
        if (walk_known(walk, at).kind != KIND_READ) continue;
        walk_report(walk, KEEL_LINT_SIZE, at);
        return;
    }
}

// `x.repeat_interleave(n)` by a tensor.
static void check_repeat(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t first = source_argument(source, call, KEEL_NONE);
    if (first == KEEL_NONE || source_keyword(source, call, "output_size") != KEEL_NONE) return;
    bool is_sized = walk->traced || (walk_is_xla(source) && walk_is_step(walk));
    if (is_array(walk_known(walk, first)) && is_sized) walk_report(walk, KEEL_LINT_DYNAMIC, call);
}

value_t walk_method(walk_t *walk, uint32_t call, uint32_t function, value_t receiver) {
    source_t *source = walk->source;
    keel_str_t name = keel_py_name(&source->tree, function);
    value_t out;
    if (read(walk, call, name, receiver, &out)) return out;
    bool is_known = is_array(receiver) || is_maybe(receiver);
    bool is_argument = receiver.kind == KIND_ARGUMENT;
    if (receiver.kind == KIND_HOST) return value_of(KIND_HOST);
    if (receiver.kind == KIND_READ) return value_of(KIND_READ);
    if (receiver.kind == KIND_LOCAL) {
        static const char *const moves[] = {"to", "cuda", "xla", "type_as", NULL};
        return value_of(keel_str_is_one_of(name, moves) ? KIND_ARRAY : KIND_LOCAL);
    }
    bool is_dynamic = keel_str_is_one_of(name, dynamic_methods);
    bool is_torch = walk_client(walk) == KEEL_LINT_TORCH && walk_is_xla(source);
    bool is_masked = is_torch && receiver.kind == KIND_UNKNOWN && keel_str_is(name, "nonzero");
    if (is_dynamic && (is_known || is_masked) && walk_is_step(walk) &&
        source_keyword(source, call, "size") == KEEL_NONE && (walk->traced || walk_is_xla(source)))
        walk_report(walk, KEEL_LINT_DYNAMIC, call);
    if (!is_known && !is_argument) return value_of(KIND_UNKNOWN);
    if (is_known && keel_str_is(name, "repeat_interleave")) check_repeat(walk, call);
    if (keel_str_is_one_of(name, host_methods)) return value_of(KIND_HOST);
    if (keel_str_is_one_of(name, size_methods)) check_sizes(walk, call);
    if (keel_str_is_one_of(name, bool_methods)) return value_of(KIND_BOOLS);
    if (keel_str_is_one_of(name, several_methods)) return value_of(KIND_ARRAYS);
    bool is_extreme = keel_str_is(name, "max") || keel_str_is(name, "min");
    if (is_extreme && !source_is_bare(source, call) && walk_client(walk) == KEEL_LINT_TORCH)
        return value_of(KIND_ARRAYS);
    if (keel_str_is_one_of(name, array_methods)) {
        // A change of shape or type leaves it what it was, also an argument that may be a number.
        static const char *const casts[] = {"to",      "clone",     "detach",  "contiguous",
                                            "view",    "reshape",   "squeeze", "unsqueeze",
                                            "expand",  "transpose", "T",       "flatten",
                                            "permute", "expand_as", NULL};
        bool is_cast = keel_str_is_one_of(name, casts);
        if (is_cast && receiver.kind == KIND_MAYBE_BOOL) return value_of(KIND_BOOLS);
        if (is_cast && receiver.kind == KIND_BOOLS && !keel_str_is(name, "to")) return receiver;
        return value_of(KIND_ARRAY);
    }
    return is_array(receiver) ? value_of(KIND_ARRAY) : value_of(KIND_UNKNOWN);
}

value_t walk_attribute(walk_t *walk, uint32_t node, value_t owner) {
    static const char *const facts[] = {"shape",  "ndim",     "dtype",         "device",
                                        "size",   "is_cuda",  "requires_grad", "itemsize",
                                        "nbytes", "sharding", "aval",          "weak_type",
                                        "layout", "is_leaf",  "names",         NULL};
    static const char *const arrays[] = {"T", "mT", "real", "imag", "data", "at", "H", NULL};
    keel_str_t name = keel_py_name(&walk->source->tree, node);
    if (owner.kind == KIND_HOST) return value_of(KIND_HOST);
    if (owner.kind == KIND_READ) return value_of(KIND_READ);
    if (owner.kind == KIND_LOCAL) return value_of(KIND_LOCAL);
    if (keel_str_is_one_of(name, facts)) {
        bool is_known = is_array_used(owner) || is_maybe(owner);
        bool is_shape =
            keel_str_is(name, "shape") || keel_str_is(name, "dtype") || keel_str_is(name, "ndim");
        return value_of(is_known || is_shape ? KIND_HOST : KIND_UNKNOWN);
    }
    static const char *const parts[] = {"T", "mT", "real", "imag", NULL};
    if (owner.kind == KIND_ARGUMENT && keel_str_is_one_of(name, parts)) return value_of(KIND_ARRAY);
    if (is_array(owner) && keel_str_is_one_of(name, arrays)) return value_of(KIND_ARRAY);
    return value_of(KIND_UNKNOWN);
}
