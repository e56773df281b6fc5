#include "lint/walk.h"

bool walk_is_xla(const source_t *source) {
    return source->imports_torch && (source->options->is_xla || source->imports_xla);
}

keel_lint_client_t walk_client(const walk_t *walk) {
    if (walk->traced & TRACED_TORCH) return KEEL_LINT_TORCH;
    if (walk->traced) return KEEL_LINT_JAX;
    return walk->source->imports_torch ? KEEL_LINT_TORCH : KEEL_LINT_JAX;
}

bool walk_is_step(const walk_t *walk) {
    return walk->traced || (walk->step != KEEL_NONE && !walk->guarded);
}

void walk_report(walk_t *walk, keel_lint_rule_t rule, uint32_t node) {
    source_t *source = walk->source;
    bool is_wanted = source->options->rules >> rule & 1;
    if (walk->muted || !is_wanted || source->status) return;
    found_t found = {.node = node,
                     .function = walk->function,
                     .line = source_node(source, node)->line,
                     .column = source_node(source, node)->column,
                     .rule = (uint8_t)rule,
                     .client = (uint8_t)walk_client(walk)};
    source->status = keel_grow_array(source->found_count, sizeof found, &source->found_capacity,
                                     (void **)&source->found);
    if (source->status) return;
    source->found[source->found_count++] = found;
    source->functions[walk->function].has_found = true;
}

// ---- what is learnt of other functions ---------------------------------------------------------

void walk_trace(source_t *source, uint32_t function, uint8_t traced) {
    if (function == KEEL_NONE || !function) return;
    function_t *is = &source->functions[function];
    if ((is->traced | traced) == is->traced) return;
    is->traced |= traced;
    is->is_dirty = true;
}

void walk_pass(source_t *source, uint32_t function, uint32_t parameter, kind_t kind) {
    if (parameter >= source->functions[function].parameter_count) return;
    parameter_t *to = &source->parameters[source->functions[function].first_parameter + parameter];
    bool is_known = to->own == KIND_HOST || to->kind == KIND_ARRAY || to->kind == KIND_BOOLS;
    bool is_more = kind == KIND_ARRAY || kind == KIND_BOOLS ||
                   (to->kind == KIND_UNKNOWN && (kind == KIND_ARGUMENT || kind == KIND_MAYBE));
    if (is_known || !is_more || to->kind == kind) return;
    to->kind = (uint8_t)kind;
    source->functions[function].is_dirty = true;
}

slot_t *walk_slot(const walk_t *walk, uint32_t node) {
    if (source_node(walk->source, node)->kind != KEEL_PY_NAME) return NULL;
    return source_own_slot(walk->source, walk->function, source_name_of(walk->source, node));
}

void walk_return(walk_t *walk, value_t value) {
    walk->returns =
        walk->has_returned ? walk_join(walk->returns, (kind_t)value.kind) : (kind_t)value.kind;
    walk->has_returned = true;
}

// Who calls it may be read again.
static void keep_return(walk_t *walk) {
    source_t *source = walk->source;
    bool is_known = is_array_used(value_of(walk->returns));
    uint8_t kind = walk->has_returned && is_known ? (uint8_t)walk->returns : KIND_UNKNOWN;
    function_t *function = &source->functions[walk->function];
    if (function->returns == kind) return;
    function->returns = kind;
    if (!source_may_visit(source, source->function_count)) return;
    for (uint32_t i = 0; i < source->function_count; ++i)
        if (source->functions[i].traced && i != walk->function)
            source->functions[i].is_dirty = true;
}

// ---- a function --------------------------------------------------------------------------------

static void forget(source_t *source, uint32_t function) {
    size_t kept = 0;
    if (!source->functions[function].has_found) return;
    source->functions[function].has_found = false;
    for (size_t i = 0; i < source->found_count; ++i)
        if (source->found[i].function != function) source->found[kept++] = source->found[i];
    source->found_count = kept;
}

static bool has_base(const source_t *source, uint32_t class_node) {
    return source_child(source, class_node, KEEL_PY_F_BASES) != KEEL_NONE;
}

// The bases of a class, and those of its bases in this file.
static bool is_module(source_t *source, uint32_t class_node, unsigned depth) {
    enum { DEEPEST = 2 };
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, class_node, KEEL_PY_F_BASES, at)) != KEEL_NONE;) {
        if (source_word(source, source->scopes[class_node], at) == WORD_MODULE) return true;
        if (depth == DEEPEST || source_node(source, at)->kind != KEEL_PY_NAME) continue;
        keel_str_t name = keel_py_name(&source->tree, at);
        if (!source_may_search(source, 0)) continue;
        for (uint32_t i = 0; i < source->tree.node_count; ++i)
            if (source_node(source, i)->kind == KEEL_PY_CLASS_DEF && i != class_node &&
                keel_str_equal(keel_py_name(&source->tree, i), name))
                return is_module(source, i, depth + 1);
    }
    return false;
}

// The call of a module is part of a program, whoever calls it.
static uint8_t traced_as_method(source_t *source, const function_t *function) {
    static const char *const calls[] = {"__call__", "call", NULL};
    if (function->class_node == KEEL_NONE || !has_base(source, function->class_node)) return 0;
    keel_str_t name = keel_py_name(&source->tree, function->node);
    if (keel_str_is(name, "forward")) return walk_is_xla(source) ? TRACED_TORCH : 0;
    if (!keel_str_is_one_of(name, calls)) return 0;
    return is_module(source, function->class_node, 0) ? TRACED_JAX : 0;
}

static kind_t first_kind(const source_t *source, const function_t *function,
                         const parameter_t *parameter, bool is_first) {
    bool is_self = is_first && function->class_node != KEEL_NONE && !function->is_static;
    bool is_single =
        parameter->how != KEEL_PY_F_VARARG && parameter->how != KEEL_PY_F_KWARG && !is_self;
    if (!is_single) return KIND_UNKNOWN;
    if (parameter->own == KIND_HOST) return KIND_HOST;
    if (parameter->own == KIND_ARRAY || parameter->kind == KIND_ARRAY) return KIND_ARRAY;
    if (parameter->kind) return (kind_t)parameter->kind;
    bool is_forward = function->class_node != KEEL_NONE && function->traced & TRACED_TORCH &&
                      source_is_named(source, function->node, "forward");
    return is_forward ? KIND_MAYBE : KIND_UNKNOWN;
}

static void begin(source_t *source, uint32_t number) {
    function_t *function = &source->functions[number];
    for (uint32_t i = 0; i < function->slot_count; ++i)
        source->slots[function->first_slot + i].is = value_of(KIND_UNKNOWN);
    for (uint32_t i = 0; i < function->parameter_count; ++i) {
        const parameter_t *parameter = &source->parameters[function->first_parameter + i];
        slot_t *slot = source_own_slot(source, number, parameter->name);
        if (slot) slot->is = value_of(first_kind(source, function, parameter, i == 0));
    }
}

void walk_function(source_t *source, uint32_t number) {
    function_t *function = &source->functions[number];
    function->is_dirty = false;
    function->traced |= traced_as_method(source, function);
    // What stands in a traced function runs while that is traced.
    if (number) function->traced |= source->functions[function->parent].traced;
    walk_t walk = {.source = source,
                   .function = number,
                   .traced = function->traced,
                   .loop = KEEL_NONE,
                   .step = KEEL_NONE};
    forget(source, number);
    begin(source, number);
    uint32_t node = function->node;
    if (!walk.traced && loop_is_step_function(&walk)) walk.step = node;
    if (source_node(source, node)->kind == KEEL_PY_LAMBDA) {
        uint32_t body = source_child(source, node, KEEL_PY_F_BODY);
        if (body != KEEL_NONE) walk_return(&walk, walk_value(&walk, body));
    } else {
        walk_block(&walk, node, KEEL_PY_F_BODY);
    }
    if (walk.traced) keep_return(&walk);
    for (uint32_t i = number + 1; walk.traced && i < source->function_count &&
                                  source->functions[i].node < source_node(source, node)->end;
         ++i)
        if (source->functions[i].parent == number) walk_trace(source, i, walk.traced);
}
