// Training loops: when the host waits in each step, what grows, what loaders and optimizers do.
#include "lint/walk.h"

// ---- steps -------------------------------------------------------------------------------------

static bool is_loop(unsigned kind) {
    return kind == KEEL_PY_FOR || kind == KEEL_PY_ASYNC_FOR || kind == KEEL_PY_WHILE;
}

static bool is_scope(unsigned kind) {
    return kind == KEEL_PY_FUNCTION_DEF || kind == KEEL_PY_ASYNC_FUNCTION_DEF ||
           kind == KEEL_PY_CLASS_DEF || kind == KEEL_PY_LAMBDA;
}

// Calls that a step makes: the gradient, the end of a traced step, what is compiled.
static bool is_mark(const walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t func = source_child(source, call, KEEL_PY_F_FUNC);
    if (source_node(source, func)->kind == KEEL_PY_ATTRIBUTE) {
        if (source_word(source, walk->function, func) == WORD_SYNC) return true;
        bool is_torch = walk_is_xla(source);
        if (is_torch && source_is_named(source, func, "backward")) return true;
        uint32_t owner = source_child(source, func, KEEL_PY_F_VALUE);
        if (source_is_named(source, owner, "self")) {
            const attribute_t *known = source_attribute(
                source, source_class(source, walk->function), source_name_of(source, func), false);
            return known && known->jit != KEEL_NONE;
        }
        return false;
    }
    if (source_node(source, func)->kind != KEEL_PY_NAME) return false;
    const slot_t *slot = source_slot(source, walk->function, source_name_of(source, func));
    return slot && slot->is.jit != KEEL_NONE;
}

// In the loop itself, not in one that is nested in it.
static bool has_mark(const walk_t *walk, uint32_t loop) {
    const source_t *source = walk->source;
    if (!source_may_search(walk->source, loop)) return false;
    for (uint32_t at = loop + 1; at < source_node(source, loop)->end;) {
        const keel_py_node_t *is = source_node(source, at);
        if (is_loop(is->kind) || is_scope(is->kind)) {
            at = is->end;
            continue;
        }
        if (is->kind == KEEL_PY_CALL && is_mark(walk, at)) return true;
        ++at;
    }
    return false;
}

bool loop_is_step(const walk_t *walk, uint32_t loop) {
    bool is_known = walk->source->imports_jax || walk_is_xla(walk->source);
    return is_known && has_mark(walk, loop);
}

bool loop_is_guard(const walk_t *walk, uint32_t test) {
    static const char *const words[] = {"log",  "debug", "verbose",    "print",    "eval",   "save",
                                        "last", "final", "every",      "interval", "report", "plot",
                                        "done", "freq",  "checkpoint", "profile",  NULL};
    const source_t *source = walk->source;
    if (source_mentions(source, test, words)) return true;
    for (uint32_t at = test; at < source_node(source, test)->end; ++at) {
        const keel_py_node_t *is = source_node(source, at);
        if (is->kind == KEEL_PY_BIN_OP && is->op == KEEL_PY_O_MOD) return true;
        if (is->kind == KEEL_PY_COMPARE) return true; // `step == 0`
    }
    return false;
}

// ---- loaders -----------------------------------------------------------------------------------

static bool reads_name(const source_t *source, uint32_t node, uint32_t name) {
    for (uint32_t at = node; at < source_node(source, node)->end; ++at) {
        const keel_py_node_t *is = source_node(source, at);
        if (is->kind == KEEL_PY_NAME && source->names[is->name] == name) return true;
    }
    return false;
}

// Whether a loop with gradients, or of jitted steps, runs over the loader of that name.
static bool is_trained_on(const walk_t *walk, uint32_t name) {
    const source_t *source = walk->source;
    if (!source_may_search(walk->source, 0)) return false;
    for (uint32_t at = 0; at < source->tree.node_count; ++at) {
        if (!is_loop(source_node(source, at)->kind)) continue;
        uint32_t iterated = source_child(source, at, KEEL_PY_F_ITER);
        if (iterated != KEEL_NONE && reads_name(source, iterated, name) && has_mark(walk, at))
            return true;
    }
    return false;
}

// The name that gets a call's result; NONE.
static uint32_t name_of_result(const source_t *source, uint32_t call) {
    uint32_t statement = call;
    while (!keel_py_is_statement(source_node(source, statement)))
        statement = source_node(source, statement)->parent;
    if (source_node(source, statement)->kind != KEEL_PY_ASSIGN) return KEEL_NONE;
    uint32_t target = source_child(source, statement, KEEL_PY_F_TARGETS);
    uint32_t name = source_node(source, target)->name;
    return name == KEEL_NONE ? KEEL_NONE : source->names[name];
}

// By its own name, or by that of the loader of a device that is made of it.
static bool is_name_trained_on(const walk_t *walk, uint32_t call) {
    const source_t *source = walk->source;
    uint32_t name = name_of_result(source, call);
    if (name == KEEL_NONE) return false;
    if (is_trained_on(walk, name)) return true;
    if (!source_may_search(walk->source, 0)) return false;
    for (uint32_t at = call + 1; at < source->tree.node_count; ++at) {
        if (source_node(source, at)->kind != KEEL_PY_CALL || !reads_name(source, at, name))
            continue;
        uint32_t func = source_child(source, at, KEEL_PY_F_FUNC);
        if (source_word(source, source->scopes[at], func) != WORD_DEVICE_LOADER) continue;
        uint32_t around = name_of_result(source, at);
        if (around != KEEL_NONE && is_trained_on(walk, around)) return true;
    }
    return false;
}

static void check_loader(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    static const char *const others[] = {"batch_sampler", "drop_last", NULL};
    if (!walk_is_xla(source) && !source->imports_jax) return;
    for (const char *const *name = others; *name; ++name) {
        uint32_t value = source_keyword(source, call, *name);
        if (value == KEEL_NONE) continue;
        if (!source_is_constant(source, value, KEEL_PY_O_FALSE)) return;
    }
    for (uint32_t at = KEEL_NONE; // `**options`
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;)
        if (source_node(source, at)->name == KEEL_NONE) return;
    uint32_t size = source_keyword(source, call, "batch_size");
    uint32_t second = source_argument(source, call, source_argument(source, call, KEEL_NONE));
    if (size == KEEL_NONE && source_argument(source, call, KEEL_NONE) != KEEL_NONE) size = second;
    if (size == KEEL_NONE || source_is_constant(source, size, KEEL_PY_O_NONE)) return;
    if (keel_str_is(keel_py_token_text(&source->tree, source_node(source, size)->first_token),
                    "1") &&
        source_is_constant(source, size, KEEL_PY_O_NUMBER))
        return;
    if (is_name_trained_on(walk, call)) walk_report(walk, KEEL_LINT_PARTIAL, call);
}

// ---- gradients ---------------------------------------------------------------------------------

// `optimizer.zero_grad()` under `if (i + 1) % n == 0`, in a loop that ends a step in each turn.
static void check_zero_grad(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t value = source_keyword(source, call, "set_to_none");
    if (value != KEEL_NONE && !source_is_constant(source, value, KEEL_PY_O_TRUE)) return;
    if (!walk_is_xla(source) || walk->step == KEEL_NONE || walk->traced) return;
    if (!source_is_bare(source, call)) return;
    bool is_now_and_then = false;
    for (uint32_t at = source_node(source, call)->parent; at > walk->step;
         at = source_node(source, at)->parent) {
        if (source_node(source, at)->kind != KEEL_PY_IF) continue;
        uint32_t test = source_child(source, at, KEEL_PY_F_TEST);
        for (uint32_t i = test; i < source_node(source, test)->end; ++i)
            is_now_and_then |= source_node(source, i)->kind == KEEL_PY_BIN_OP &&
                               source_node(source, i)->op == KEEL_PY_O_MOD;
    }
    if (is_now_and_then) walk_report(walk, KEEL_LINT_ZERO_GRAD, call);
}

static void check_load(walk_t *walk, uint32_t call) {
    source_t *source = walk->source;
    uint32_t value = source_keyword(source, call, "assign");
    if (value == KEEL_NONE || !source_is_constant(source, value, KEEL_PY_O_TRUE)) return;
    if (!walk_is_xla(source)) return;
    // Before an optimizer exists it is what it should be.
    const function_t *function = &source->functions[walk->function];
    if (!source_may_search(source, function->node)) return;
    static const char *const optimizers[] = {"optimizer", "Optimizer", "optim", "opt", NULL};
    for (uint32_t at = function->node + 1; at < call; ++at) {
        if (source_node(source, at)->kind != KEEL_PY_NAME) continue;
        if (!keel_str_is_one_of(keel_py_name(&source->tree, at), optimizers)) continue;
        walk_report(walk, KEEL_LINT_ASSIGN, call);
        return;
    }
}

// ---- what grows --------------------------------------------------------------------------------

static bool is_joined_to(const source_t *source, uint32_t call, uint32_t name) {
    uint32_t first = source_argument(source, call, KEEL_NONE);
    if (first == KEEL_NONE) return false;
    unsigned kind = source_node(source, first)->kind;
    bool is_append = source_is_named(source, source_child(source, call, KEEL_PY_F_FUNC), "append");
    if (kind == KEEL_PY_NAME) return is_append && source_name_of(source, first) == name;
    if (kind != KEEL_PY_TUPLE && kind != KEEL_PY_LIST) return false;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, first, KEEL_PY_F_ELTS, at)) != KEEL_NONE;) {
        const keel_py_node_t *is = source_node(source, at);
        if (is->kind == KEEL_PY_NAME && source->names[is->name] == name) return true;
    }
    return false;
}

// How often the loop binds that name.
static uint32_t count_stores(const source_t *source, uint32_t loop, uint32_t name) {
    uint32_t count = 0;
    for (uint32_t at = loop; at < source_node(source, loop)->end; ++at) {
        const keel_py_node_t *is = source_node(source, at);
        count += is->kind == KEEL_PY_NAME && is->op == KEEL_PY_O_STORE &&
                 source->names[is->name] == name;
    }
    return count;
}

// Whether the loop passes that name to something compiled.
static bool is_passed(const walk_t *walk, uint32_t loop, uint32_t name) {
    const source_t *source = walk->source;
    for (uint32_t at = loop; at < source_node(source, loop)->end; ++at) {
        if (source_node(source, at)->kind != KEEL_PY_CALL || !is_mark(walk, at)) continue;
        for (uint32_t argument = KEEL_NONE;
             (argument = source_argument(source, at, argument)) != KEEL_NONE;)
            if (source_node(source, argument)->kind == KEEL_PY_NAME &&
                source_name_of(source, argument) == name)
                return true;
    }
    return false;
}

// Whether the loop appends to that list, and does not begin it anew.
static bool is_appended(walk_t *walk, uint32_t name) {
    source_t *source = walk->source;
    if (!source_may_search(source, walk->loop)) return false;
    if (count_stores(source, walk->loop, name)) return false;
    for (uint32_t at = walk->loop; at < source_node(source, walk->loop)->end; ++at) {
        if (!source_is_named(source, at, "append")) continue;
        if (source_node(source, at)->kind != KEEL_PY_ATTRIBUTE) continue;
        uint32_t owner = source_child(source, at, KEEL_PY_F_VALUE);
        if (source_node(source, owner)->kind == KEEL_PY_NAME &&
            source_name_of(source, owner) == name)
            return true;
    }
    return false;
}

// The list that decides the expression's size: itself, stacked, or by its `len`.
bool loop_grows_list(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    for (unsigned depth = 0; depth < 3 && node != KEEL_NONE; ++depth) {
        const keel_py_node_t *is = source_node(source, node);
        if (is->kind == KEEL_PY_NAME) return is_appended(walk, source->names[is->name]);
        if (is->kind != KEEL_PY_CALL) return false;
        uint32_t func = source_child(source, node, KEEL_PY_F_FUNC);
        word_t word = source_word(source, walk->function, func);
        bool is_through = word == WORD_CONVERT || word == WORD_JOIN || word == WORD_NUMPY_READ ||
                          word == WORD_NEW || source_is_named(source, func, "len");
        if (!is_through) return false;
        node = source_argument(source, node, KEEL_NONE);
    }
    return false;
}

bool loop_is_step_function(const walk_t *walk) {
    const source_t *source = walk->source;
    const function_t *function = &source->functions[walk->function];
    if (!walk->function || function->name == KEEL_NONE || !walk_is_xla(source)) return false;
    keel_str_t name = keel_py_name(&source->tree, function->node);
    if (!function->is_in_loop && !keel_str_contains(name, "step")) return false;
    if (!source_may_search(walk->source, function->node)) return false;
    for (uint32_t at = function->node + 1; at < source_node(source, function->node)->end;) {
        const keel_py_node_t *is = source_node(source, at);
        if (is_loop(is->kind) || is_scope(is->kind)) {
            at = is->end;
            continue;
        }
        if (is->kind == KEEL_PY_ATTRIBUTE && is->field == KEEL_PY_F_FUNC &&
            source_is_named(source, at, "backward"))
            return true;
        ++at;
    }
    return false;
}

// `x = concatenate([x, y])` in a loop.
void loop_check_assign(walk_t *walk, uint32_t target, uint32_t from) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, target);
    if (walk->loop == KEEL_NONE || is->kind != KEEL_PY_NAME) return;
    if (source_node(source, from)->kind != KEEL_PY_CALL) return;
    uint32_t name = source->names[is->name], func = source_child(source, from, KEEL_PY_F_FUNC);
    if (source_word(source, walk->function, func) != WORD_JOIN || !is_joined_to(source, from, name))
        return;
    if (source_is_named(source, func, "stack")) return; // a new axis each time: no loop does that
    if (!source_may_search(source, walk->loop)) return;
    if (count_stores(source, walk->loop, name) > 1) return; // each turn begins anew
    bool is_while = source_node(source, walk->loop)->kind == KEEL_PY_WHILE;
    bool is_torch =
        walk_is_xla(source) && (walk->traced ? is_while : walk->loop == walk->step || is_while);
    bool is_jax = !walk->traced && source->imports_jax && is_passed(walk, walk->loop, name);
    if (is_torch || is_jax) walk_report(walk, KEEL_LINT_GROWS, from);
}

void loop_check_call(walk_t *walk, uint32_t call, word_t word) {
    if (word == WORD_LOADER) check_loader(walk, call);
}

void loop_check_method(walk_t *walk, uint32_t call, uint32_t function) {
    source_t *source = walk->source;
    if (source_is_named(source, function, "zero_grad")) check_zero_grad(walk, call);
    if (source_is_named(source, function, "load_state_dict")) check_load(walk, call);
    // What has a gradient is an array.
    if (!source_is_named(source, function, "backward")) return;
    slot_t *slot = walk_slot(walk, source_child(source, function, KEEL_PY_F_VALUE));
    if (slot && slot->is.kind == KIND_UNKNOWN) slot->is.kind = KIND_ARRAY;
}
