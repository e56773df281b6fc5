// Statements, in the order in which they run.
#include "lint/walk.h"

static uint32_t child(const walk_t *walk, uint32_t node, keel_py_field_t field) {
    return source_child(walk->source, node, field);
}

// ---- what several ways lead to -----------------------------------------------------------------

static value_t *take_slots(walk_t *walk) {
    source_t *source = walk->source;
    const function_t *function = &source->functions[walk->function];
    void *memory = NULL;
    if (source->status) return NULL;
    source->status = keel_alloc(((size_t)function->slot_count + 1) * sizeof(value_t), &memory);
    value_t *kept = memory;
    for (uint32_t i = 0; kept && i < function->slot_count; ++i)
        kept[i] = source->slots[function->first_slot + i].is;
    return kept;
}

static void put_slots(walk_t *walk, const value_t *kept) {
    const function_t *function = &walk->source->functions[walk->function];
    for (uint32_t i = 0; kept && i < function->slot_count; ++i)
        walk->source->slots[function->first_slot + i].is = kept[i];
}

static void join_slots(walk_t *walk, const value_t *other) {
    const function_t *function = &walk->source->functions[walk->function];
    for (uint32_t i = 0; other && i < function->slot_count; ++i) {
        value_t *is = &walk->source->slots[function->first_slot + i].is;
        is->kind = (uint8_t)walk_join((kind_t)is->kind, (kind_t)other[i].kind);
        if (is->function == KEEL_NONE) is->function = other[i].function;
        if (is->jit == KEEL_NONE) is->jit = other[i].jit;
    }
}

// Whether nothing behind the block is reached through it.
static bool is_end(const walk_t *walk, uint32_t node, keel_py_field_t field) {
    uint32_t last = KEEL_NONE;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&walk->source->tree, node, field, at)) != KEEL_NONE;)
        last = at;
    if (last == KEEL_NONE) return false;
    unsigned kind = source_node(walk->source, last)->kind;
    return kind == KEEL_PY_RETURN || kind == KEEL_PY_RAISE || kind == KEEL_PY_CONTINUE ||
           kind == KEEL_PY_BREAK;
}

// ---- if ----------------------------------------------------------------------------------------

bool walk_asks_tracing(const walk_t *walk, uint32_t test) {
    static const char *const words[] = {"Tracer", "tracer", "concrete", NULL};
    return source_mentions(walk->source, test, words);
}

// Its body runs on other devices.
static bool is_elsewhere(const walk_t *walk, uint32_t test) {
    static const char *const devices[] = {"cuda", "\"mps\"", "npu", "xpu", "is_scripting", NULL};
    return walk->source->imports_torch && source_mentions(walk->source, test, devices);
}

static void walk_if(walk_t *walk, uint32_t node) {
    uint32_t test = child(walk, node, KEEL_PY_F_TEST);
    bool is_muted = walk_asks_tracing(walk, test), is_guard = loop_is_guard(walk, test),
         is_other = is_elsewhere(walk, test);
    walk_test(walk, test);
    value_t *before = take_slots(walk);
    walk->muted += is_muted;
    walk->guarded += is_guard;
    walk->muted += is_other;
    walk_block(walk, node, KEEL_PY_F_BODY);
    walk->muted -= is_other;
    value_t *body = take_slots(walk);
    put_slots(walk, before);
    walk->guarded -= is_guard;
    walk_block(walk, node, KEEL_PY_F_ORELSE);
    // What is left, if one arm ends, is what the test was about.
    bool is_left = is_end(walk, node, KEEL_PY_F_BODY),
         is_right = is_end(walk, node, KEEL_PY_F_ORELSE);
    if (is_right && !is_left)
        put_slots(walk, body);
    else if (!is_left)
        join_slots(walk, body);
    if (!(is_muted && (is_left || is_right))) walk->muted -= is_muted;
    keel_free(before);
    keel_free(body);
}

// ---- loops -------------------------------------------------------------------------------------

static void walk_loop(walk_t *walk, uint32_t node, bool is_for) {
    uint32_t loop = walk->loop, step = walk->step;
    unsigned guarded = walk->guarded;
    if (is_for)
        walk_iterate(walk, child(walk, node, KEEL_PY_F_TARGET), child(walk, node, KEEL_PY_F_ITER));
    walk->loop = node;
    if (!walk->traced && loop_is_step(walk, node)) {
        // A loop over the evaluation's data is part of what runs now and then.
        if (walk->step == KEEL_NONE) walk->guarded = 0;
        walk->step = node;
    }
    if (!is_for) walk_test(walk, child(walk, node, KEEL_PY_F_TEST));
    walk_block(walk, node, KEEL_PY_F_BODY);
    walk->loop = loop;
    walk->step = step;
    walk->guarded = guarded;
    walk_block(walk, node, KEEL_PY_F_ORELSE);
}

// ---- assignments -------------------------------------------------------------------------------

// `self.x += 1` and `self.x = 0`.
static void note_attribute(walk_t *walk, uint32_t target, uint32_t value, bool is_counted) {
    source_t *source = walk->source;
    if (source_node(source, target)->kind != KEEL_PY_ATTRIBUTE) return;
    if (!source_is_named(source, child(walk, target, KEEL_PY_F_VALUE), "self")) return;
    uint32_t name = source_name_of(source, target),
             class_node = source_class(source, walk->function);
    bool is_number = value != KEEL_NONE && source_is_constant(source, value, KEEL_PY_O_NUMBER);
    attribute_t *attribute = source_attribute(source, class_node, name, true);
    if (!attribute) return;
    bool before = attribute->is_counted && attribute->is_number;
    if (is_counted && is_number) attribute->is_counted = true;
    bool is_made = source_is_named(source, source->functions[walk->function].node, "__init__");
    if (!is_counted && is_made) attribute->is_number = is_number;
    if (attribute->is_counted && attribute->is_number && !before)
        for (size_t i = 0; i < source->function_count; ++i) // they may have been read already
            if (source_class(source, (uint32_t)i) == class_node)
                source->functions[i].is_dirty = true;
}

static void walk_assign(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    uint32_t from = child(walk, node, KEEL_PY_F_VALUE);
    value_t value = walk_value(walk, from);
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, node, KEEL_PY_F_TARGETS, at)) != KEEL_NONE;) {
        loop_check_assign(walk, at, from);
        note_attribute(walk, at, from, false);
        call_check_setting(walk, at, from);
        walk_bind(walk, at, value, from);
    }
}

static void walk_augmented(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    uint32_t target = child(walk, node, KEEL_PY_F_TARGET),
             from = child(walk, node, KEEL_PY_F_VALUE);
    value_t value = walk_value(walk, from), before = value_of(KIND_UNKNOWN);
    note_attribute(walk, target, from, true);
    if (source_node(source, target)->kind != KEEL_PY_NAME) {
        walk_value(walk, target);
        return;
    }
    slot_t *slot = walk_slot(walk, target);
    if (!slot) return;
    before = slot->is;
    if (is_array_used(before) || is_array_used(value))
        slot->is = value_of(KIND_ARRAY);
    else
        slot->is = value_of(before.kind == value.kind ? (kind_t)value.kind : KIND_UNKNOWN);
}

static void walk_annotated(walk_t *walk, uint32_t node) {
    uint32_t from = child(walk, node, KEEL_PY_F_VALUE),
             target = child(walk, node, KEEL_PY_F_TARGET);
    if (from == KEEL_NONE) return;
    value_t value = walk_value(walk, from);
    note_attribute(walk, target, from, false);
    walk_bind(walk, target, value, from);
}

// ---- definitions -------------------------------------------------------------------------------

static value_t decorated(walk_t *walk, uint32_t node, uint32_t decorator, value_t of) {
    source_t *source = walk->source;
    bool is_call = source_node(source, decorator)->kind == KEEL_PY_CALL;
    uint32_t func = is_call ? child(walk, decorator, KEEL_PY_F_FUNC) : decorator;
    word_t word = source_word(source, walk->function, func);
    uint32_t first = is_call ? source_argument(source, decorator, KEEL_NONE) : KEEL_NONE;
    if (word == WORD_PARTIAL && first != KEEL_NONE)
        word = source_word(source, walk->function, first); // `@partial(jax.jit, ...)`
    switch (word) {
        case WORD_JIT:
        case WORD_JIT_LOOSE:
        case WORD_COMPILE:
            return jit_made(walk, decorator, word, of, node);
        case WORD_TRACE:
        case WORD_VMAP:
        case WORD_TRACE_LOOSE:
            walk_trace(source, of.function, TRACED_JAX);
            return of;
        case WORD_WRAP:
            return of;
        default: { // it may return anything
            value_t out = value_of(KIND_UNKNOWN);
            out.function = of.function;
            return out;
        }
    }
}

void walk_definition(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_tree_t *tree = &source->tree;
    uint32_t number = source_function_at(source, node);
    value_t value = value_of(KIND_UNKNOWN);
    value.function = number;
    const function_t *function = &source->functions[number];
    for (uint32_t i = 0; i < function->parameter_count; ++i)
        walk_value(walk, child(walk, source->parameters[function->first_parameter + i].node,
                               KEEL_PY_F_DEFAULT));
    uint32_t decorators[8], count = 0;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_DECORATOR_LIST, at)) != KEEL_NONE && count < 8;)
        decorators[count++] = at;
    while (count)
        value = decorated(walk, node, decorators[--count], value);
    uint32_t name = source_name_of(source, node);
    if (source->classes[node] != KEEL_NONE) {
        attribute_t *attribute = value.jit == KEEL_NONE
                                     ? NULL
                                     : source_attribute(source, source->classes[node], name, true);
        if (attribute) attribute->jit = value.jit;
        return;
    }
    slot_t *slot = source_own_slot(source, walk->function, name);
    if (slot) slot->is = value;
}

// ---- the rest ----------------------------------------------------------------------------------

static void walk_with(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    bool is_concrete = false;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, node, KEEL_PY_F_ITEMS, at)) != KEEL_NONE;) {
        uint32_t manager = child(walk, at, KEEL_PY_F_CONTEXT_EXPR),
                 target = child(walk, at, KEEL_PY_F_OPTIONAL_VARS);
        if (source_node(source, manager)->kind == KEEL_PY_CALL)
            is_concrete |= source_word(source, walk->function,
                                       child(walk, manager, KEEL_PY_F_FUNC)) == WORD_CONCRETE;
        walk_value(walk, manager);
        if (target != KEEL_NONE) walk_bind(walk, target, value_of(KIND_UNKNOWN), KEEL_NONE);
    }
    walk->muted += is_concrete;
    walk_block(walk, node, KEEL_PY_F_BODY);
    walk->muted -= is_concrete;
}

static void walk_try(walk_t *walk, uint32_t node) {
    static const char *const errors[] = {"Tracer", "Concretization", NULL};
    const keel_py_tree_t *tree = &walk->source->tree;
    bool is_muted = false;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_HANDLERS, at)) != KEEL_NONE;) {
        uint32_t type = child(walk, at, KEEL_PY_F_TYPE);
        is_muted |= type != KEEL_NONE && source_mentions(walk->source, type, errors);
    }
    walk->muted += is_muted;
    walk_block(walk, node, KEEL_PY_F_BODY);
    walk->muted -= is_muted;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_HANDLERS, at)) != KEEL_NONE;)
        walk_block(walk, at, KEEL_PY_F_BODY);
    walk_block(walk, node, KEEL_PY_F_ORELSE);
    walk_block(walk, node, KEEL_PY_F_FINALBODY);
}

static void walk_match(walk_t *walk, uint32_t node) {
    const keel_py_tree_t *tree = &walk->source->tree;
    walk_value(walk, child(walk, node, KEEL_PY_F_SUBJECT));
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_CASES, at)) != KEEL_NONE;) {
        uint32_t guard = child(walk, at, KEEL_PY_F_GUARD);
        if (guard != KEEL_NONE) walk_test(walk, guard);
        walk_block(walk, at, KEEL_PY_F_BODY);
    }
}

// What does not parse, and statements that only hold expressions.
static void walk_others(walk_t *walk, uint32_t node) {
    const keel_py_tree_t *tree = &walk->source->tree;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_NOTHING, at)) != KEEL_NONE;)
        if (!keel_py_is_statement(source_node(walk->source, at))) walk_value(walk, at);
    walk_block(walk, node, KEEL_PY_F_BODY);
}

static void walk_statement(walk_t *walk, uint32_t node) {
    switch (source_node(walk->source, node)->kind) {
        case KEEL_PY_FUNCTION_DEF:
        case KEEL_PY_ASYNC_FUNCTION_DEF:
            walk_definition(walk, node);
            break;
        case KEEL_PY_ASSIGN:
            walk_assign(walk, node);
            break;
        case KEEL_PY_AUG_ASSIGN:
            walk_augmented(walk, node);
            break;
        case KEEL_PY_ANN_ASSIGN:
            walk_annotated(walk, node);
            break;
        case KEEL_PY_FOR:
        case KEEL_PY_ASYNC_FOR:
            walk_loop(walk, node, true);
            break;
        case KEEL_PY_WHILE:
            walk_loop(walk, node, false);
            break;
        case KEEL_PY_IF:
            walk_if(walk, node);
            break;
        case KEEL_PY_RETURN: {
            uint32_t value = child(walk, node, KEEL_PY_F_VALUE);
            if (value != KEEL_NONE) walk_return(walk, walk_value(walk, value));
            break;
        }
        case KEEL_PY_ASSERT:
            walk_test(walk, child(walk, node, KEEL_PY_F_TEST));
            break;
        case KEEL_PY_RAISE: // what its message reads is read once
            ++walk->muted;
            walk_others(walk, node);
            --walk->muted;
            break;
        case KEEL_PY_WITH:
        case KEEL_PY_ASYNC_WITH:
            walk_with(walk, node);
            break;
        case KEEL_PY_TRY:
        case KEEL_PY_TRY_STAR:
            walk_try(walk, node);
            break;
        case KEEL_PY_MATCH:
            walk_match(walk, node);
            break;
        default:
            walk_others(walk, node);
    }
}

void walk_block(walk_t *walk, uint32_t node, keel_py_field_t field) {
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&walk->source->tree, node, field, at)) != KEEL_NONE &&
         !walk->source->status;)
        if (keel_py_is_statement(source_node(walk->source, at))) walk_statement(walk, at);
}
