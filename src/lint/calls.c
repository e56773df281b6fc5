// Calls: what they trace, what they return, what they read.
#include "lint/walk.h"

enum { MOST = 12 };

uint32_t walk_arguments(walk_t *walk, uint32_t call, value_t *out, uint32_t most) {
    source_t *source = walk->source;
    uint32_t count = 0;
    bool is_open = false; // a star: what follows has no number
    for (uint32_t at = KEEL_NONE; (at = source_argument(source, call, at)) != KEEL_NONE;) {
        value_t value = walk_value(walk, at);
        is_open |= source_node(source, at)->kind == KEEL_PY_STARRED;
        if (count < most && !is_open) out[count++] = value;
    }
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;)
        walk_value(walk, source_child(source, at, KEEL_PY_F_VALUE));
    return count;
}

static uint32_t argument_at(const source_t *source, uint32_t call, uint32_t number) {
    uint32_t at = source_argument(source, call, KEEL_NONE);
    for (; number && at != KEEL_NONE; --number)
        at = source_argument(source, call, at);
    return at;
}

static bool has_keyword(const source_t *source, uint32_t call, const char *name) {
    return source_keyword(source, call, name) != KEEL_NONE;
}

// ---- functions of this file --------------------------------------------------------------------

static void pass_keywords(walk_t *walk, uint32_t call, uint32_t function) {
    source_t *source = walk->source;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;) {
        const keel_py_node_t *is = source_node(source, at);
        if (is->name == KEEL_NONE) continue;
        const function_t *to = &source->functions[function];
        for (uint32_t i = 0; i < to->parameter_count; ++i) {
            if (source->parameters[to->first_parameter + i].name != source->names[is->name])
                continue;
            value_t value = walk_known(walk, source_child(source, at, KEEL_PY_F_VALUE));
            walk_pass(source, function, i, (kind_t)value.kind);
        }
    }
}

// A traced function calls it, with these.
static void call_function(walk_t *walk, uint32_t call, value_t callee, const value_t *arguments,
                          uint32_t count) {
    source_t *source = walk->source;
    function_t *to = &source->functions[callee.function];
    if ((walk->loop != KEEL_NONE || source->functions[walk->function].is_in_loop) &&
        !to->is_in_loop && !walk->traced) {
        to->is_in_loop = true;
        to->is_dirty = true;
    }
    if (!walk->traced || walk->muted) return;
    walk_trace(source, callee.function, walk->traced);
    for (uint32_t i = 0; i < count; ++i)
        walk_pass(source, callee.function, i + callee.is_bound, (kind_t)arguments[i].kind);
    pass_keywords(walk, call, callee.function);
}

// What scan and its like get: their arguments are arrays.
static void trace_functions(walk_t *walk, uint32_t call, bool has_arrays) {
    source_t *source = walk->source;
    uint8_t traced = TRACED_JAX | (walk->traced & TRACED_JIT);
    for (uint32_t at = KEEL_NONE; (at = source_argument(source, call, at)) != KEEL_NONE;) {
        value_t value = walk_known(walk, at);
        if (value.function == KEEL_NONE) continue;
        walk_trace(source, value.function, traced);
        const function_t *function = &source->functions[value.function];
        for (uint32_t i = value.is_bound; has_arrays && i < function->parameter_count; ++i)
            walk_pass(source, value.function, i, KIND_ARGUMENT);
    }
}

// ---- what is read ------------------------------------------------------------------------------

static bool is_readable(const walk_t *walk, value_t value) {
    if (is_array(value)) return true;
    return value.kind == KIND_ARGUMENT && !(walk->traced & TRACED_TORCH);
}

static value_t convert(walk_t *walk, uint32_t call, const value_t *arguments, uint32_t count) {
    if (count != 1) return value_of(KIND_HOST);
    if (arguments[0].kind == KIND_READ || arguments[0].kind == KIND_HOST)
        return value_of((kind_t)arguments[0].kind);
    if (!is_readable(walk, arguments[0])) return value_of(KIND_UNKNOWN);
    if (walk_is_step(walk)) walk_report(walk, KEEL_LINT_READ, call);
    return value_of(KIND_READ);
}

// Functions that Python itself has.
static value_t builtin(walk_t *walk, uint32_t call, keel_str_t name, const value_t *arguments,
                       uint32_t count) {
    static const char *const numbers[] = {"int", "float", "bool", "complex", NULL};
    static const char *const host[] = {"len",        "isinstance", "hasattr", "callable",
                                       "type",       "str",        "repr",    "id",
                                       "issubclass", "ord",        "hash",    NULL};
    static const char *const extremes[] = {"max", "min", NULL};
    if (keel_str_is_one_of(name, numbers)) return convert(walk, call, arguments, count);
    if (keel_str_is_one_of(name, host)) return value_of(KIND_HOST);
    if (keel_str_is_one_of(name, extremes) && count > 1) {
        kind_t kind = (kind_t)arguments[0].kind;
        bool has_array = false;
        for (uint32_t i = 0; i < count; ++i) {
            has_array |= is_array(arguments[i]);
            kind = walk_join(kind, (kind_t)arguments[i].kind);
        }
        if (has_array && walk->traced) walk_report(walk, KEEL_LINT_BRANCH, call);
        return value_of(has_array ? KIND_ARRAY : kind);
    }
    if (keel_str_is(name, "range")) {
        bool is_read = false;
        for (uint32_t i = 0; i < count; ++i)
            is_read |= is_readable(walk, arguments[i]) ||
                       (arguments[i].kind == KIND_READ && walk->traced & TRACED_TORCH);
        if (is_read && walk->traced) walk_report(walk, KEEL_LINT_SIZE, call);
        return value_of(KIND_HOST);
    }
    if (keel_str_is(name, "print")) {
        bool is_torch = walk_client(walk) == KEEL_LINT_TORCH;
        for (uint32_t i = 0; i < count; ++i)
            if (is_torch && is_array(arguments[i]) && walk_is_step(walk)) {
                walk_report(walk, KEEL_LINT_READ, call);
                break;
            }
        return value_of(KIND_HOST);
    }
    if (keel_str_is(name, "set") || keel_str_is(name, "frozenset")) return value_of(KIND_SET);
    if (keel_str_is(name, "abs") && count == 1)
        return arguments[0].kind == KIND_ARGUMENT ? value_of(KIND_ARRAY) : arguments[0];
    return value_of(KIND_UNKNOWN);
}

// ---- functions of libraries --------------------------------------------------------------------

// Whether sizes that depend on values matter here.
static bool is_sized(const walk_t *walk) {
    if (walk->traced) return true;
    return walk_is_xla(walk->source) && walk_is_step(walk);
}

static void check_dynamic(walk_t *walk, uint32_t call, word_t word, const value_t *arguments,
                          uint32_t count) {
    static const char *const sizes[] = {"size", "length", "total_repeat_length", "output_size",
                                        "num_classes"};
    source_t *source = walk->source;
    bool is_torch = walk_client(walk) == KEEL_LINT_TORCH, is_dynamic = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        if (has_keyword(source, call, sizes[i])) return;
    if (word == WORD_WHERE)
        is_dynamic = count == 1 && argument_at(source, call, 1) == KEEL_NONE &&
                     !has_keyword(source, call, "x") && !has_keyword(source, call, "other") &&
                     !has_keyword(source, call, "x1");
    if (word == WORD_REPEAT) {
        is_dynamic = count > 1 && (is_array(arguments[1]) || (arguments[1].kind == KIND_ARGUMENT));
        if (count > 1 && argument_at(source, call, 3) != KEEL_NONE) return;
    }
    if (word == WORD_ONE_HOT) is_dynamic = count == 1 && argument_at(source, call, 1) == KEEL_NONE;
    bool is_value =
        count &&
        (is_array_used(arguments[0]) ||
         (is_torch && (arguments[0].kind == KIND_MAYBE || arguments[0].kind == KIND_MAYBE_BOOL ||
                       arguments[0].kind == KIND_UNKNOWN)));
    if (is_dynamic && is_value && is_sized(walk)) walk_report(walk, KEEL_LINT_DYNAMIC, call);
}

static bool is_named_call(const source_t *source, uint32_t call, const char *const *names) {
    uint32_t func = source_child(source, call, KEEL_PY_F_FUNC);
    return source_node(source, func)->name != KEEL_NONE &&
           keel_str_is_one_of(keel_py_name(&source->tree, func), names);
}

// A shape, or the end of a range, that was read from an array.
static void check_shape(walk_t *walk, uint32_t call, const value_t *arguments, uint32_t count) {
    static const char *const spaces[] = {"linspace", "logspace", NULL};
    static const char *const ranges[] = {"arange", NULL}, *const fills[] = {"full", NULL};
    const source_t *source = walk->source;
    bool is_torch = walk_client(walk) == KEEL_LINT_TORCH;
    bool is_all = is_torch || is_named_call(source, call, ranges);
    uint32_t from = is_named_call(source, call, spaces) ? 2 : 0, to = is_all ? count : from + 1;
    if (is_named_call(source, call, fills)) to = 1;
    for (uint32_t i = from; i < to && i < count; ++i) {
        bool is_value = is_array(arguments[i]) ||
                        (is_torch ? arguments[i].kind == KIND_READ : is_array_used(arguments[i]));
        if (!is_value || !is_sized(walk)) continue;
        walk_report(walk, KEEL_LINT_SIZE, argument_at(source, call, i));
        return;
    }
}

// How many of the largest, or the sizes of parts.
static void check_count(walk_t *walk, uint32_t call, const value_t *arguments, uint32_t count) {
    static const char *const counted[] = {"topk", "top_k", "split", NULL};
    if (count < 2 || !is_named_call(walk->source, call, counted) || !is_sized(walk)) return;
    bool is_torch = walk_client(walk) == KEEL_LINT_TORCH;
    bool is_value = is_array(arguments[1]) ||
                    (is_torch ? arguments[1].kind == KIND_READ : is_array_used(arguments[1]));
    if (is_value) walk_report(walk, KEEL_LINT_SIZE, argument_at(walk->source, call, 1));
}

static bool is_bool_dtype(const source_t *source, uint32_t call) {
    uint32_t dtype = source_keyword(source, call, "dtype");
    static const char *const bools[] = {"bool", NULL};
    return dtype != KEEL_NONE && source_mentions(source, dtype, bools);
}

// A tensor that PyTorch makes without a device: on the host.
static value_t torch_made(const walk_t *walk, uint32_t call, value_t from, bool is_copy) {
    const source_t *source = walk->source;
    bool is_placed = has_keyword(source, call, "device");
    for (uint32_t at = KEEL_NONE; // `**factory_options`
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;)
        is_placed |= source_node(source, at)->name == KEEL_NONE;
    if (is_copy && (is_array(from) || from.kind == KIND_MAYBE)) return value_of(KIND_ARRAY);
    if (is_placed) return value_of(is_bool_dtype(source, call) ? KIND_BOOLS : KIND_ARRAY);
    uint32_t first = argument_at(source, call, 0);
    unsigned kind = first == KEEL_NONE ? KEEL_PY_LIST : source_node(source, first)->kind;
    bool is_written_out = kind == KEEL_PY_LIST || kind == KEEL_PY_TUPLE || kind == KEEL_PY_CONSTANT;
    bool is_open = is_copy && from.kind == KIND_UNKNOWN && !is_written_out;
    return value_of(is_open ? KIND_UNKNOWN : KIND_LOCAL);
}

// Of a list that is joined: host tensors only, or others too.
static kind_t kind_of_parts(walk_t *walk, uint32_t list) {
    source_t *source = walk->source;
    kind_t kind = KIND_ARRAY;
    bool is_first = true;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, list, KEEL_PY_F_ELTS, at)) != KEEL_NONE;
         is_first = false) {
        kind_t part = (kind_t)walk_known(walk, at).kind;
        kind = is_first ? part : walk_join(kind, part);
    }
    return kind == KIND_LOCAL ? KIND_LOCAL : KIND_ARRAY;
}

static value_t library(walk_t *walk, uint32_t call, keel_str_t name, word_t word,
                       const value_t *arguments, uint32_t count) {
    source_t *source = walk->source;
    bool is_torch = keel_str_starts(name, KEEL_STR("torch."));
    bool is_numpy = keel_str_starts(name, KEEL_STR("numpy."));
    uint32_t first = argument_at(source, call, 0);
    value_t value = count ? arguments[0] : value_of(KIND_UNKNOWN), out = value_of(KIND_UNKNOWN);
    if (is_numpy && word != WORD_NUMPY_READ) return value_of(KIND_HOST);
    switch (word) {
        case WORD_JIT:
        case WORD_JIT_LOOSE:
        case WORD_COMPILE:
            return jit_made(walk, call, word, value, first);
        case WORD_TRACE:
            trace_functions(walk, call, true);
            return out;
        case WORD_VMAP:
            trace_functions(walk, call,
                            argument_at(source, call, 1) == KEEL_NONE &&
                                !has_keyword(source, call, "in_axes"));
            out.function = value.function;
            return out;
        case WORD_TRACE_LOOSE:
            trace_functions(walk, call, false);
            out.function = value.function;
            return out;
        case WORD_WRAP:
            out.function = value.function;
            out.is_bound = value.is_bound;
            out.is_wrapped = true;
            return out;
        case WORD_PARTIAL: // what it fixes is not followed
            if (walk->traced && value.function != KEEL_NONE)
                walk_trace(source, value.function, walk->traced);
            return out;
        case WORD_BOOLS:
            return value_of(value.kind == KIND_LOCAL ? KIND_LOCAL : KIND_BOOLS);
        case WORD_ARRAYS:
            check_count(walk, call, arguments, count);
            return value_of(KIND_ARRAYS);
        case WORD_NEW:
            check_shape(walk, call, arguments, count);
            if (is_torch) return torch_made(walk, call, value, false);
            return value_of(is_bool_dtype(source, call) ? KIND_BOOLS : KIND_ARRAY);
        case WORD_DRAW:
            return is_torch ? torch_made(walk, call, value, false) : value_of(KIND_ARRAY);
        case WORD_ARRAY: // of host tensors it is one
            return value_of(is_torch && value.kind == KIND_LOCAL ? KIND_LOCAL : KIND_ARRAY);
        case WORD_JOIN: {
            bool is_list = first != KEEL_NONE && is_torch && !is_array(value);
            return value_of(is_list ? kind_of_parts(walk, first) : KIND_ARRAY);
        }
        case WORD_SUM: // of a number it is the number of devices
            return value_of(first != KEEL_NONE &&
                                    source_is_constant(source, first, KEEL_PY_O_NUMBER)
                                ? KIND_HOST
                                : KIND_ARRAY);
        case WORD_CONVERT:
            if (is_torch) return torch_made(walk, call, value, true);
            return value_of(value.kind == KIND_BOOLS ? KIND_BOOLS : KIND_ARRAY);
        case WORD_DYNAMIC:
        case WORD_WHERE:
        case WORD_REPEAT:
        case WORD_ONE_HOT:
            check_dynamic(walk, call, word, arguments, count);
            return value_of(word == WORD_WHERE && count == 1 ? KIND_ARRAYS : KIND_ARRAY);
        case WORD_HOST:
        case WORD_NUMPY:
            return value_of(KIND_HOST);
        case WORD_MATH:
        case WORD_NUMPY_READ:
            if (!count || !is_readable(walk, value))
                return value_of(value.kind == KIND_READ ? KIND_READ : KIND_HOST);
            if (walk_is_step(walk)) walk_report(walk, KEEL_LINT_READ, call);
            return value_of(KIND_READ);
        default:
            return out;
    }
}

// ---- calls -------------------------------------------------------------------------------------

// A setting by its name, and what it is set to.
static bool is_setting(const source_t *source, uint32_t key, uint32_t value) {
    static const char *const settings[] = {"jax_disable_jit", "JAX_DISABLE_JIT", "XLA_USE_BF16",
                                           "XLA_DOWNCAST_BF16", NULL};
    static const char *const off[] = {"0", "\"0\"", "'0'", "False", "\"false\"", "'false'", NULL};
    keel_str_t text = keel_py_token_text(&source->tree, source_node(source, value)->first_token);
    return source_mentions(source, key, settings) && !keel_str_is_one_of(text, off);
}

// `jax.config.update("jax_disable_jit", True)`, `os.environ.setdefault("XLA_USE_BF16", "1")`.
static void check_setting(walk_t *walk, uint32_t call, keel_str_t name) {
    static const char *const setters[] = {"jax.config.update", "os.environ.setdefault", "os.putenv",
                                          NULL};
    source_t *source = walk->source;
    uint32_t key = argument_at(source, call, 0), value = argument_at(source, call, 1);
    if (key == KEEL_NONE || value == KEEL_NONE || !keel_str_is_one_of(name, setters)) return;
    if (is_setting(source, key, value)) walk_report(walk, KEEL_LINT_SETTING, call);
}

void call_check_setting(walk_t *walk, uint32_t target, uint32_t value) {
    source_t *source = walk->source;
    char memory[SOURCE_LONGEST];
    if (source_node(source, target)->kind != KEEL_PY_SUBSCRIPT) return;
    keel_str_t name = source_full_name(source, walk->function,
                                       source_child(source, target, KEEL_PY_F_VALUE), memory);
    uint32_t key = source_child(source, target, KEEL_PY_F_SLICE_OF);
    if (key == KEEL_NONE || !keel_str_is(name, "os.environ")) return;
    if (is_setting(source, key, value)) walk_report(walk, KEEL_LINT_SETTING, target);
}

static void check_capturable(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t rate = source_keyword(source, call, "lr");
    if (rate == KEEL_NONE) rate = argument_at(source, call, 1);
    if (rate == KEEL_NONE || !walk_is_xla(source) || has_keyword(source, call, "capturable"))
        return;
    if (is_array(walk_known(walk, rate))) walk_report(walk, KEEL_LINT_CAPTURABLE, call);
}

// Names that are asked for their type may be anything.
static void forget_asked(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t first = argument_at(source, call, 0);
    if (first == KEEL_NONE) return;
    slot_t *slot = walk_slot(walk, first);
    if (slot && (slot->is.kind == KIND_ARGUMENT || slot->is.kind == KIND_MAYBE ||
                 slot->is.kind == KIND_ARRAY || slot->is.kind == KIND_BOOLS))
        slot->is.kind = KIND_UNKNOWN;
}

static bool is_assertion(const source_t *source, uint32_t func) {
    return source_node(source, func)->kind == KEEL_PY_ATTRIBUTE &&
           keel_str_starts(keel_py_name(&source->tree, func), KEEL_STR("assert"));
}

value_t walk_call(walk_t *walk, uint32_t node) {
    static const char *const askers[] = {"isinstance", "callable", "hasattr", "type", NULL};
    source_t *source = walk->source;
    char memory[SOURCE_LONGEST];
    value_t arguments[MOST];
    uint32_t func = source_child(source, node, KEEL_PY_F_FUNC);
    keel_str_t full = source_full_name(source, walk->function, func, memory);
    word_t word = keel_lint_word(full);
    unsigned kind = source_node(source, func)->kind;
    bool is_method = !full.size && kind == KEEL_PY_ATTRIBUTE;
    value_t callee = value_of(KIND_UNKNOWN), receiver = callee;
    if (!full.size) callee = walk_value(walk, func);
    if (is_method) receiver = walk_known(walk, source_child(source, func, KEEL_PY_F_VALUE));
    // A test reads what it compares.
    bool is_test = is_assertion(source, func);
    walk->muted += is_test;
    uint32_t count = walk_arguments(walk, node, arguments, MOST);
    walk->muted -= is_test;
    loop_check_call(walk, node, word);
    if (word == WORD_ADAM) check_capturable(walk, node);
    if (full.size) check_setting(walk, node, full);
    if (full.size && !memchr(full.data, '.', full.size)) {
        if (keel_str_is_one_of(full, askers)) forget_asked(walk, node);
        return builtin(walk, node, full, arguments, count);
    }
    if (word) return library(walk, node, full, word, arguments, count);
    if (callee.jit != KEEL_NONE) return jit_called(walk, node, callee.jit);
    if (callee.function != KEEL_NONE) {
        call_function(walk, node, callee, arguments, count);
        bool has_array = false;
        for (uint32_t i = 0; i < count; ++i)
            has_array |= is_array_used(arguments[i]) || arguments[i].kind == KIND_MAYBE;
        has_array &= !callee.is_wrapped;
        return value_of(has_array ? (kind_t)source->functions[callee.function].returns
                                  : KIND_UNKNOWN);
    }
    if (is_method) {
        loop_check_method(walk, node, func);
        return walk_method(walk, node, func, receiver);
    }
    return value_of(KIND_UNKNOWN);
}
