// Jitted functions: which arguments are static, where they are made, what they are called with and
// what they close over.
#include "lint/walk.h"

// ---- static arguments --------------------------------------------------------------------------

static bool add_static(source_t *source, uint32_t node, jit_t *jit) {
    keel_py_number_t number;
    if (source_is_constant(source, node, KEEL_PY_O_NUMBER)) {
        uint32_t token = source_node(source, node)->first_token;
        bool is_number = keel_py_number(keel_py_token_text(&source->tree, token), &number) &&
                         number.is_whole && number.value < 64;
        if (is_number) jit->numbers |= (uint64_t)1 << (unsigned)number.value;
        return is_number;
    }
    if (!source_is_constant(source, node, KEEL_PY_O_STR) || jit->name_count == STATIC_NAMES)
        return false;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    bool is_text = keel_py_string(&source->tree, node, &text);
    if (source_keep(source, keel_buffer_status(&text)) && is_text)
        jit->names[jit->name_count++] = source_name(source, keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return is_text;
}

static void read_static(source_t *source, uint32_t call, jit_t *jit) {
    static const char *const keywords[] = {"static_argnums", "static_argnames",
                                           "static_broadcasted_argnums"};
    jit->is_known = true;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; ++i) {
        uint32_t value = source_keyword(source, call, keywords[i]);
        if (value == KEEL_NONE) continue;
        unsigned kind = source_node(source, value)->kind;
        if (kind != KEEL_PY_TUPLE && kind != KEEL_PY_LIST && kind != KEEL_PY_SET) {
            jit->is_known &= add_static(source, value, jit);
            continue;
        }
        for (uint32_t at = KEEL_NONE;
             (at = keel_py_child(&source->tree, value, KEEL_PY_F_ELTS, at)) != KEEL_NONE;)
            jit->is_known &= add_static(source, at, jit);
    }
    // `**options` may have them.
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;)
        jit->is_known &= source_node(source, at)->name != KEEL_NONE;
}

// Whether a parameter is static, by its name or its place.
static bool is_static(const source_t *source, const jit_t *jit, uint32_t parameter) {
    const function_t *function = &source->functions[jit->function];
    const parameter_t *is = &source->parameters[function->first_parameter + parameter];
    uint32_t place = parameter - jit->is_bound;
    if (place < 64 && jit->numbers >> place & 1) return true;
    for (uint32_t i = 0; i < jit->name_count; ++i)
        if (jit->names[i] == is->name) return true;
    return false;
}

value_t jit_made(walk_t *walk, uint32_t node, word_t word, value_t of, uint32_t of_node) {
    source_t *source = walk->source;
    value_t out = value_of(KIND_UNKNOWN);
    bool is_torch = word == WORD_COMPILE, is_call = source_node(source, node)->kind == KEEL_PY_CALL;
    if (is_torch) { // other backends are not XLA
        uint32_t backend = is_call ? source_keyword(source, node, "backend") : KEEL_NONE;
        static const char *const names[] = {"openxla", "tpu", NULL};
        bool is_xla =
            backend == KEEL_NONE ? source->imports_xla : source_mentions(source, backend, names);
        if (!is_xla || !walk_is_xla(source)) return out;
    }
    jit_t jit = {.node = node,
                 .function = of.function,
                 .is_known = word != WORD_JIT_LOOSE,
                 .is_bound = of.is_bound,
                 .traced = is_torch ? TRACED_TORCH : TRACED_JAX | TRACED_JIT};
    if (is_call && word == WORD_JIT) read_static(source, node, &jit);
    out.jit = source_add_jit(source, &jit);
    out.function = of.function;
    out.is_bound = of.is_bound;
    jit_check_loop(walk, node, of_node, of);
    if (jit.function == KEEL_NONE) return out;
    walk_trace(source, jit.function, jit.traced);
    const function_t *function = &source->functions[jit.function];
    bool is_method = source_has_self(source, jit.function) && !jit.is_bound; // decorated
    for (uint32_t i = jit.is_bound || is_method; i < function->parameter_count; ++i)
        if (jit.is_known && !is_static(source, &jit, i))
            walk_pass(source, jit.function, i, is_torch ? KIND_MAYBE : KIND_ARGUMENT);
    return out;
}

// ---- made in a loop ----------------------------------------------------------------------------

static bool is_inside(const source_t *source, uint32_t node, uint32_t outer) {
    return outer != KEEL_NONE && node > outer && node < source_node(source, outer)->end;
}

// Whether the compiled function is kept or handed on: in a table, by return.
static bool is_kept(const walk_t *walk, uint32_t node) {
    const source_t *source = walk->source;
    uint32_t at = node;
    for (; !keel_py_is_statement(source_node(source, at)); at = source_node(source, at)->parent) {
        const keel_py_node_t *is = source_node(source, at);
        const keel_py_node_t *parent = source_node(source, is->parent);
        if (is->field == KEEL_PY_F_ARGS && parent->kind == KEEL_PY_CALL) return true;
        if (parent->kind == KEEL_PY_ATTRIBUTE || parent->kind == KEEL_PY_DICT ||
            parent->kind == KEEL_PY_LIST || parent->kind == KEEL_PY_TUPLE ||
            parent->kind == KEEL_PY_KEYWORD || parent->kind == KEEL_PY_LIST_COMP ||
            parent->kind == KEEL_PY_DICT_COMP || parent->kind == KEEL_PY_LAMBDA)
            return true;
    }
    const keel_py_node_t *statement = source_node(source, at);
    if (statement->kind == KEEL_PY_RETURN) // `return jax.jit(f)(x)` hands on its result
        return source_node(source, node)->parent == at;
    uint32_t target = source_child(source, at, KEEL_PY_F_TARGETS);
    return target != KEEL_NONE && source_node(source, target)->kind != KEEL_PY_NAME;
}

// The name that the compiled function gets, if it is handed on by it.
static bool is_name_kept(const walk_t *walk, uint32_t node, uint32_t around) {
    source_t *source = walk->source;
    uint32_t name = KEEL_NONE, statement = node;
    while (!keel_py_is_statement(source_node(source, statement)))
        statement = source_node(source, statement)->parent;
    const keel_py_node_t *is = source_node(source, statement);
    if (is->kind == KEEL_PY_ASSIGN) {
        uint32_t target = source_child(source, statement, KEEL_PY_F_TARGETS);
        name = source_node(source, target)->name;
    } else if (is->kind == KEEL_PY_FUNCTION_DEF) {
        name = is->name;
    }
    if (name == KEEL_NONE) return false;
    if (!source_may_search(source, around)) return true;
    keel_str_t text = keel_py_token_text(&source->tree, name);
    for (uint32_t at = around; at < source_node(source, around)->end; ++at) {
        const keel_py_node_t *use = source_node(source, at);
        if (use->kind != KEEL_PY_NAME || use->op != KEEL_PY_O_LOAD) continue;
        if (!keel_str_equal(keel_py_name(&source->tree, at), text)) continue;
        bool is_called = use->field == KEEL_PY_F_FUNC;
        if (!is_called) return true; // returned, stored, passed on, or used by its attributes
    }
    return false;
}

// Whether a function that did not exist before is compiled there. JAX knows one that it compiled
// before, also under another jit.
static bool is_new(const walk_t *walk, uint32_t of_node, value_t of, uint32_t around) {
    const source_t *source = walk->source;
    if (of_node == KEEL_NONE) return false;
    unsigned kind = source_node(source, of_node)->kind;
    if (kind == KEEL_PY_LAMBDA || kind == KEEL_PY_FUNCTION_DEF) return true;
    if (kind == KEEL_PY_CALL) {
        word_t word =
            source_word(source, walk->function, source_child(source, of_node, KEEL_PY_F_FUNC));
        return word == WORD_WRAP || word == WORD_VMAP || word == WORD_PARTIAL;
    }
    if (kind == KEEL_PY_ATTRIBUTE) { // a method of an object that is made there
        uint32_t owner = source_child(source, of_node, KEEL_PY_F_VALUE);
        const slot_t *slot = walk_slot(walk, owner);
        return slot && slot->value != KEEL_NONE && is_inside(source, slot->value, around) &&
               source_node(source, slot->value)->kind == KEEL_PY_CALL;
    }
    bool is_here = of.function != KEEL_NONE && kind == KEEL_PY_NAME;
    return is_here && is_inside(source, source->functions[of.function].node, around);
}

void jit_check_loop(walk_t *walk, uint32_t node, uint32_t of_node, value_t of) {
    source_t *source = walk->source;
    const function_t *function = &source->functions[walk->function];
    if (walk->traced) return;
    uint32_t around = walk->loop;
    if (around == KEEL_NONE && function->is_in_loop) around = function->node;
    if (around == KEEL_NONE || !is_new(walk, of_node, of, around)) return;
    bool is_decorator = source_node(source, node)->field == KEEL_PY_F_DECORATOR_LIST;
    if (!is_decorator && is_kept(walk, node)) return;
    if (is_name_kept(walk, node, around)) return;
    walk_report(walk, KEEL_LINT_JIT_LOOP, node);
}

// ---- called ------------------------------------------------------------------------------------

static bool is_unhashable(const source_t *source, uint32_t node) {
    unsigned kind = source_node(source, node)->kind;
    return kind == KEEL_PY_LIST || kind == KEEL_PY_DICT || kind == KEEL_PY_SET ||
           kind == KEEL_PY_LIST_COMP || kind == KEEL_PY_DICT_COMP || kind == KEEL_PY_SET_COMP;
}

static bool is_fresh(const walk_t *walk, uint32_t node) {
    const source_t *source = walk->source;
    unsigned kind = source_node(source, node)->kind;
    if (kind == KEEL_PY_LAMBDA) return true;
    return kind == KEEL_PY_CALL &&
           source_word(source, walk->function, source_child(source, node, KEEL_PY_F_FUNC)) ==
               WORD_PARTIAL;
}

static bool has_field(const source_t *source, uint32_t node) {
    const keel_py_node_t *is = source_node(source, node);
    if (is->kind != KEEL_PY_JOINED_STR) return false;
    for (uint32_t at = node; at < is->end; ++at)
        if (source_node(source, at)->kind == KEEL_PY_FORMATTED_VALUE) return true;
    return false;
}

// Whether the loop counts in the expression: its target, from range or enumerate; or `n += 1`.
static bool is_counted(const walk_t *walk, uint32_t node) {
    const source_t *source = walk->source;
    static const char *const counters[] = {"range", "trange", "enumerate", "count", "arange", NULL};
    const keel_py_node_t *loop = source_node(source, walk->loop), *is = source_node(source, node);
    if (is->kind == KEEL_PY_COMPARE || is->kind == KEEL_PY_BOOL_OP) return false;
    if (is->kind == KEEL_PY_BIN_OP && is->op == KEEL_PY_O_MOD) return false; // one of few
    uint32_t iterated = source_child(source, walk->loop, KEEL_PY_F_ITER),
             target = source_child(source, walk->loop, KEEL_PY_F_TARGET);
    for (uint32_t at = node; at < is->end; ++at) {
        if (!source_may_search(walk->source, walk->loop)) return false;
        const keel_py_node_t *name = source_node(source, at);
        if (name->kind != KEEL_PY_NAME || name->field == KEEL_PY_F_FUNC) continue;
        keel_str_t text = keel_py_name(&source->tree, at);
        bool is_counter = iterated != KEEL_NONE && source_mentions(source, iterated, counters);
        uint32_t first = target;
        if (is_counter && source_node(source, target)->kind == KEEL_PY_TUPLE)
            first = source_child(source, target, KEEL_PY_F_ELTS);
        if (is_counter && first != KEEL_NONE && source_node(source, first)->kind == KEEL_PY_NAME &&
            keel_str_equal(keel_py_name(&source->tree, first), text))
            return true;
        for (uint32_t i = walk->loop; i < loop->end; ++i) {
            if (source_node(source, i)->kind != KEEL_PY_AUG_ASSIGN) continue;
            uint32_t counted = source_child(source, i, KEEL_PY_F_TARGET),
                     value = source_child(source, i, KEEL_PY_F_VALUE);
            if (source_node(source, counted)->kind == KEEL_PY_NAME &&
                source_is_constant(source, value, KEEL_PY_O_NUMBER) &&
                keel_str_equal(keel_py_name(&source->tree, counted), text))
                return true;
        }
    }
    return false;
}

static void check_static(walk_t *walk, uint32_t node) {
    const source_t *source = walk->source;
    bool is_repeated = walk->loop != KEEL_NONE || source->functions[walk->function].is_in_loop;
    if (is_unhashable(source, node))
        walk_report(walk, KEEL_LINT_FRESH, node);
    else if (is_repeated && is_fresh(walk, node))
        walk_report(walk, KEEL_LINT_FRESH, node);
    else if (walk->loop != KEEL_NONE && has_field(source, node) && is_counted(walk, node))
        walk_report(walk, KEEL_LINT_FRESH, node);
    else if (walk->loop != KEEL_NONE && is_counted(walk, node))
        walk_report(walk, KEEL_LINT_STATIC, node);
}

// `f(x[:n])` with the loop's own n, or a list that grows: each turn has another shape.
static void check_growing(walk_t *walk, uint32_t node) {
    const source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, node);
    if (walk->loop == KEEL_NONE) return;
    if (loop_grows_list(walk, node)) walk_report(walk, KEEL_LINT_GROWS, node);
    if (is->kind != KEEL_PY_SUBSCRIPT) return;
    uint32_t slice = source_child(source, node, KEEL_PY_F_SLICE_OF);
    if (slice == KEEL_NONE || source_node(source, slice)->kind != KEEL_PY_SLICE) return;
    uint32_t lower = source_child(source, slice, KEEL_PY_F_LOWER),
             upper = source_child(source, slice, KEEL_PY_F_UPPER);
    bool is_from_start = lower == KEEL_NONE || source_is_constant(source, lower, KEEL_PY_O_NUMBER);
    if (is_from_start && upper != KEEL_NONE && is_counted(walk, upper))
        walk_report(walk, KEEL_LINT_GROWS, node);
}

value_t jit_called(walk_t *walk, uint32_t call, uint32_t number) {
    source_t *source = walk->source;
    const jit_t *jit = &source->jits[number];
    uint32_t place = 0;
    if (walk->traced) {
        // Inside another program it is a part of that.
        walk_trace(source, jit->function, walk->traced);
        return value_of(KIND_UNKNOWN);
    }
    for (uint32_t at = KEEL_NONE; (at = source_argument(source, call, at)) != KEEL_NONE; ++place) {
        bool is_by_number = place < 64 && jit->numbers >> place & 1;
        bool is_by_name = false;
        if (source_node(source, at)->kind == KEEL_PY_STARRED) break;
        uint32_t parameter = place + jit->is_bound;
        if (jit->function != KEEL_NONE &&
            parameter < source->functions[jit->function].parameter_count)
            is_by_name = is_static(source, jit, parameter);
        if (is_by_number || is_by_name)
            check_static(walk, at);
        else
            check_growing(walk, at);
    }
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;) {
        const keel_py_node_t *is = source_node(source, at);
        if (is->name == KEEL_NONE) continue;
        bool is_by_name = false;
        for (uint32_t i = 0; i < jit->name_count; ++i)
            is_by_name |= jit->names[i] == source->names[is->name];
        uint32_t value = source_child(source, at, KEEL_PY_F_VALUE);
        if (is_by_name)
            check_static(walk, value);
        else
            check_growing(walk, value);
    }
    return value_of(KIND_ARGUMENT); // a tree of arrays
}

// ---- closed over -------------------------------------------------------------------------------

// The number of elements of a shape that is written out; 0 if it is not known.
static double count_elements(const source_t *source, uint32_t node) {
    keel_py_number_t number;
    const keel_py_node_t *is = source_node(source, node);
    double product = 1;
    if (is->kind == KEEL_PY_CONSTANT && is->op == KEEL_PY_O_NUMBER)
        return keel_py_number(keel_py_token_text(&source->tree, is->first_token), &number)
                   ? number.value
                   : 0;
    if (is->kind == KEEL_PY_BIN_OP &&
        (is->op == KEEL_PY_O_MULT || is->op == KEEL_PY_O_L_SHIFT || is->op == KEEL_PY_O_POW)) {
        double a = count_elements(source, source_child(source, node, KEEL_PY_F_LEFT)),
               b = count_elements(source, source_child(source, node, KEEL_PY_F_RIGHT));
        if (is->op == KEEL_PY_O_MULT) return a * b;
        for (unsigned i = 0; i < b && i < 64; ++i)
            product *= is->op == KEEL_PY_O_POW ? a : 2;
        return is->op == KEEL_PY_O_POW ? product : a * product;
    }
    if (is->kind != KEEL_PY_TUPLE && is->kind != KEEL_PY_LIST) return 0;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, node, KEEL_PY_F_ELTS, at)) != KEEL_NONE;)
        product *= count_elements(source, at);
    return product;
}

// A large array, by the calls that the expression is made of.
static bool is_large(const source_t *source, uint32_t function, uint32_t node, unsigned depth) {
    enum { LEAST = 1 << 18, DEEPEST = 6 }; // elements: 1 MiB of float32
    const keel_py_node_t *is = source_node(source, node);
    if (depth == DEEPEST || is->kind != KEEL_PY_CALL) return false;
    uint32_t func = source_child(source, node, KEEL_PY_F_FUNC),
             first = source_argument(source, node, KEEL_NONE);
    word_t word = source_word(source, function, func);
    uint32_t shape = source_keyword(source, node, "shape");
    if (shape == KEEL_NONE) shape = source_keyword(source, node, "size");
    switch (word) {
        case WORD_LOAD:
            return true;
        case WORD_NEW:
            if (shape == KEEL_NONE) shape = first;
            if (shape == KEEL_NONE) return false;
            if (source_is_named(source, func, "eye") || source_is_named(source, func, "identity"))
                return count_elements(source, shape) * count_elements(source, shape) >= LEAST;
            return count_elements(source, shape) >= LEAST;
        case WORD_DRAW:
            if (shape == KEEL_NONE && first != KEEL_NONE)
                shape = keel_py_child(&source->tree, node, KEEL_PY_F_ARGS, first);
            return shape != KEEL_NONE && count_elements(source, shape) >= LEAST;
        case WORD_CONVERT:
        case WORD_NUMPY_READ:
            return first != KEEL_NONE && is_large(source, function, first, depth + 1);
        default:
            break;
    }
    if (word || source_node(source, func)->kind != KEEL_PY_ATTRIBUTE) return false;
    if (shape != KEEL_NONE && count_elements(source, shape) >= LEAST) return true; // rng.normal
    return is_large(source, function, source_child(source, func, KEEL_PY_F_VALUE), depth + 1);
}

void jit_check_closure(walk_t *walk, uint32_t node, const slot_t *slot) {
    source_t *source = walk->source;
    if (!(walk->traced & TRACED_JIT) || source->functions[slot->function].traced) return;
    if (slot->value == KEEL_NONE || slot->stores != 1) return;
    const keel_py_node_t *is = source_node(source, node);
    if (source_node(source, is->parent)->kind == KEEL_PY_ATTRIBUTE) return; // of its shape, say
    if (!is_large(source, slot->function, slot->value, 0)) return;
    for (size_t i = 0; i < source->found_count; ++i) { // once a function
        const found_t *found = &source->found[i];
        if (found->rule == KEEL_LINT_CLOSURE && found->function == walk->function &&
            keel_str_equal(keel_py_name(&source->tree, found->node),
                           keel_py_name(&source->tree, node)))
            return;
    }
    walk_report(walk, KEEL_LINT_CLOSURE, node);
}
