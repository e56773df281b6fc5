// What expressions hold.
#include "lint/walk.h"

static value_t any_of(walk_t *walk, uint32_t node) {
    const keel_py_tree_t *tree = &walk->source->tree;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_NOTHING, at)) != KEEL_NONE;)
        walk_value(walk, at);
    return value_of(KIND_UNKNOWN);
}

static value_t child_value(walk_t *walk, uint32_t node, keel_py_field_t field) {
    uint32_t child = source_child(walk->source, node, field);
    return child == KEEL_NONE ? value_of(KIND_UNKNOWN) : walk_value(walk, child);
}

kind_t walk_join(kind_t a, kind_t b) {
    if (a == b) return a;
    bool are_arrays = (a == KIND_ARRAY || a == KIND_BOOLS) && (b == KIND_ARRAY || b == KIND_BOOLS);
    if (are_arrays) return KIND_ARRAY;
    for (unsigned i = 0; i < 2; ++i) {
        kind_t one = i ? b : a, other = i ? a : b;
        if (one == KIND_READ && other == KIND_HOST) return KIND_READ;
        if ((one == KIND_ARGUMENT || one == KIND_MAYBE) && other == KIND_ARRAY) return one;
    }
    return KIND_UNKNOWN;
}

value_t walk_element(value_t value) {
    switch (value.kind) {
        case KIND_ARRAYS:
            return value_of(KIND_ARRAY);
        case KIND_ARGUMENT:
        case KIND_MAYBE:
        case KIND_ARRAY:
        case KIND_BOOLS:
        case KIND_HOST:
        case KIND_READ:
        case KIND_LOCAL:
            return value_of((kind_t)value.kind);
        default:
            return value_of(KIND_UNKNOWN);
    }
}

// ---- binding -----------------------------------------------------------------------------------

static void bind_parts(walk_t *walk, uint32_t target, value_t value, uint32_t from) {
    source_t *source = walk->source;
    unsigned kind = from == KEEL_NONE ? KEEL_PY_KIND_COUNT : source_node(source, from)->kind;
    bool is_by_parts = kind == KEEL_PY_TUPLE || kind == KEEL_PY_LIST;
    uint32_t part = KEEL_NONE;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, target, KEEL_PY_F_ELTS, at)) != KEEL_NONE;) {
        value_t one = walk_element(value);
        if (is_by_parts && (part == KEEL_NONE || part))
            part = keel_py_child(&source->tree, from, KEEL_PY_F_ELTS, part);
        if (is_by_parts) {
            bool is_there = part != KEEL_NONE && part;
            one = is_there ? walk_known(walk, part) : value_of(KIND_UNKNOWN);
            if (!is_there) part = 0;
        }
        walk_bind(walk, at, one, is_by_parts && part ? part : KEEL_NONE);
    }
}

void walk_bind(walk_t *walk, uint32_t target, value_t value, uint32_t source_of) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, target);
    switch (is->kind) {
        case KEEL_PY_NAME: {
            slot_t *slot = walk_slot(walk, target);
            if (!slot || source->classes[target] != KEEL_NONE) return; // of a class
            slot->is = value;
            slot->value = source_of;
            return;
        }
        case KEEL_PY_TUPLE:
        case KEEL_PY_LIST:
            bind_parts(walk, target, value, source_of);
            return;
        case KEEL_PY_STARRED:
            walk_bind(walk, source_child(source, target, KEEL_PY_F_VALUE), value_of(KIND_UNKNOWN),
                      KEEL_NONE);
            return;
        case KEEL_PY_ATTRIBUTE: {
            uint32_t owner = source_child(source, target, KEEL_PY_F_VALUE),
                     class_node = source_class(source, walk->function);
            walk_value(walk, owner);
            if (value.jit == KEEL_NONE || !source_is_named(source, owner, "self")) return;
            attribute_t *attribute =
                source_attribute(source, class_node, source->names[is->name], true);
            if (attribute) attribute->jit = value.jit;
            return;
        }
        default:
            any_of(walk, target);
    }
}

// `for target in iterated`, in a statement or a comprehension.
value_t walk_iterate(walk_t *walk, uint32_t target, uint32_t iterated) {
    source_t *source = walk->source;
    value_t value = walk_value(walk, iterated);
    if (value.kind == KIND_SET && walk->traced & TRACED_JAX)
        walk_report(walk, KEEL_LINT_SET_ORDER, iterated);
    char memory[SOURCE_LONGEST];
    bool is_call = source_node(source, iterated)->kind == KEEL_PY_CALL;
    keel_str_t name = KEEL_STR("");
    if (is_call)
        name = source_full_name(source, walk->function,
                                source_child(source, iterated, KEEL_PY_F_FUNC), memory);
    bool is_counted = keel_str_is(name, "enumerate"), is_pair = keel_str_is(name, "zip");
    if ((is_counted || is_pair) && source_node(source, target)->kind == KEEL_PY_TUPLE) {
        uint32_t argument = KEEL_NONE;
        bool is_first = true;
        for (uint32_t at = KEEL_NONE;
             (at = keel_py_child(&source->tree, target, KEEL_PY_F_ELTS, at)) != KEEL_NONE;
             is_first = false) {
            value_t one = value_of(KIND_UNKNOWN);
            if (is_counted && is_first) {
                one = value_of(KIND_HOST);
            } else if (argument == KEEL_NONE || argument) {
                argument = source_argument(source, iterated, argument);
                if (argument != KEEL_NONE) one = walk_element(walk_known(walk, argument));
                if (argument == KEEL_NONE) argument = 0;
            }
            walk_bind(walk, at, one, KEEL_NONE);
        }
        return value;
    }
    walk_bind(walk, target, walk_element(value), KEEL_NONE);
    return value;
}

// ---- tests -------------------------------------------------------------------------------------

static void report_test(walk_t *walk, uint32_t node, value_t value) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, node);
    if (!is_array(value)) return;
    // `if mask:` of one that may be None asks whether it is there.
    if (is->kind == KEEL_PY_NAME) {
        const parameter_t *parameter =
            source_parameter(source, walk->function, source->names[is->name]);
        if (parameter && parameter->may_be_none) return;
    }
    if (walk->traced) walk_report(walk, KEEL_LINT_BRANCH, node);
}

void walk_test(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, node);
    if (is->kind == KEEL_PY_BOOL_OP) {
        for (uint32_t at = KEEL_NONE;
             (at = keel_py_child(&source->tree, node, KEEL_PY_F_VALUES, at)) != KEEL_NONE;)
            walk_test(walk, at);
    } else if (is->kind == KEEL_PY_UNARY_OP && is->op == KEEL_PY_O_NOT) {
        walk_test(walk, source_child(source, node, KEEL_PY_F_OPERAND));
    } else {
        report_test(walk, node, walk_value(walk, node));
    }
}

// `a and b`: each but the last is asked, and one of them is the value.
static value_t bool_op(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    kind_t kind = KIND_UNKNOWN;
    bool is_first = true;
    uint32_t next = keel_py_child(&source->tree, node, KEEL_PY_F_VALUES, KEEL_NONE);
    while (next != KEEL_NONE) {
        uint32_t at = next;
        next = keel_py_child(&source->tree, node, KEEL_PY_F_VALUES, at);
        value_t value = walk_value(walk, at);
        if (next != KEEL_NONE) report_test(walk, at, value);
        kind = is_first ? (kind_t)value.kind : walk_join(kind, (kind_t)value.kind);
        is_first = false;
    }
    return value_of(kind);
}

// ---- operators ---------------------------------------------------------------------------------

static kind_t kind_of_operation(value_t left, value_t right) {
    value_t both[2] = {left, right};
    bool is_list = false;
    for (unsigned i = 0; i < 2; ++i)
        is_list |= both[i].kind == KIND_ARRAYS || both[i].kind == KIND_SET;
    if (is_list) return KIND_UNKNOWN;
    if (left.kind == KIND_BOOLS && right.kind == KIND_BOOLS) return KIND_BOOLS;
    if (is_array_used(left) || is_array_used(right)) return KIND_ARRAY;
    if (left.kind == KIND_MAYBE || right.kind == KIND_MAYBE) return KIND_MAYBE;
    if (left.kind == KIND_MAYBE_BOOL && right.kind == KIND_MAYBE_BOOL) return KIND_MAYBE_BOOL;
    if (left.kind == KIND_READ || right.kind == KIND_READ) return KIND_READ;
    for (unsigned i = 0; i < 2; ++i)
        if (both[i].kind == KIND_LOCAL)
            return both[!i].kind == KIND_LOCAL || both[!i].kind == KIND_HOST ? KIND_LOCAL
                                                                             : KIND_UNKNOWN;
    return left.kind == KIND_HOST && right.kind == KIND_HOST ? KIND_HOST : KIND_UNKNOWN;
}

static bool is_text(const source_t *source, uint32_t node) {
    const keel_py_node_t *is = source_node(source, node);
    return is->kind == KEEL_PY_JOINED_STR || source_is_constant(source, node, KEEL_PY_O_STR);
}

static bool is_container(const source_t *source, uint32_t node) {
    unsigned kind = source_node(source, node)->kind;
    return kind == KEEL_PY_TUPLE || kind == KEEL_PY_LIST || kind == KEEL_PY_LIST_COMP;
}

static value_t bin_op(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    uint32_t left = source_child(source, node, KEEL_PY_F_LEFT),
             right = source_child(source, node, KEEL_PY_F_RIGHT);
    value_t a = walk_value(walk, left), b = walk_value(walk, right);
    if (is_text(source, left)) return value_of(KIND_HOST);
    if (is_container(source, left) || is_container(source, right)) return value_of(KIND_UNKNOWN);
    return value_of(kind_of_operation(a, b));
}

static value_t unary_op(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    uint32_t operand = source_child(source, node, KEEL_PY_F_OPERAND);
    if (source_node(source, node)->op == KEEL_PY_O_NOT) {
        walk_test(walk, operand);
        return value_of(KIND_HOST);
    }
    value_t value = walk_value(walk, operand);
    if (value.kind == KIND_ARGUMENT) return value_of(KIND_ARRAY);
    return value_of((kind_t)value.kind);
}

// A value that arrays are compared with as whole things.
static bool is_no_number(const source_t *source, uint32_t node) {
    return is_text(source, node) || source_is_constant(source, node, KEEL_PY_O_NONE) ||
           source_is_constant(source, node, KEEL_PY_O_TRUE) ||
           source_is_constant(source, node, KEEL_PY_O_FALSE) || is_container(source, node);
}

static value_t compare(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_tree_t *tree = &source->tree;
    uint32_t left = source_child(source, node, KEEL_PY_F_LEFT), operator= KEEL_NONE,
             right = KEEL_NONE, count = 0;
    value_t a = walk_value(walk, left);
    kind_t kind = KIND_UNKNOWN;
    bool has_array = false;
    while ((operator= keel_py_child(tree, node, KEEL_PY_F_OPS, operator)) != KEEL_NONE &&
           (right = keel_py_child(tree, node, KEEL_PY_F_COMPARATORS, right)) != KEEL_NONE) {
        value_t b = walk_value(walk, right);
        unsigned op = tree->nodes[operator].op;
        bool is_identity = op == KEEL_PY_O_IS || op == KEEL_PY_O_IS_NOT || op == KEEL_PY_O_IN ||
                           op == KEEL_PY_O_NOT_IN || is_no_number(source, left) ||
                           is_no_number(source, right);
        kind_t of = kind_of_operation(a, b);
        if (is_identity || of == KIND_HOST)
            kind = KIND_HOST;
        else if (of == KIND_ARRAY || of == KIND_BOOLS)
            kind = KIND_BOOLS;
        else if (of == KIND_MAYBE)
            kind = KIND_MAYBE_BOOL;
        else
            kind = of == KIND_READ || of == KIND_LOCAL ? of : KIND_UNKNOWN;
        has_array |= kind == KIND_BOOLS;
        left = right;
        a = b;
        ++count;
    }
    // `0 < x < 1` asks whether the first of them is true.
    if (count > 1 && has_array && walk->traced) walk_report(walk, KEEL_LINT_BRANCH, node);
    return value_of(count > 1 && has_array ? KIND_BOOLS : kind);
}

// ---- names, attributes, subscripts -------------------------------------------------------------

static value_t name(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, node);
    if (is->op != KEEL_PY_O_LOAD) return value_of(KIND_UNKNOWN);
    uint32_t text = source->names[is->name];
    const slot_t *slot = source_slot(source, walk->function, text);
    if (!slot) return value_of(KIND_UNKNOWN);
    value_t value = slot->is;
    // What the function around binds again is not what it was.
    bool is_own = slot->function == walk->function;
    if (!is_own && slot->stores > 1 && value.kind != KIND_ARRAY) value.kind = KIND_UNKNOWN;
    if (!is_own) {
        jit_check_closure(walk, node, slot);
        // What is not traced has values, also where a traced function reads it.
        bool is_traced = source->functions[slot->function].traced;
        if (!is_traced && is_array(value)) value.kind = KIND_UNKNOWN;
    }
    if (value.function == KEEL_NONE && slot->value == KEEL_NONE)
        value.function = source_function(source, walk->function, text);
    return value;
}

// A Python number that `self` counts up.
static bool is_counter(const attribute_t *attribute) {
    return attribute && attribute->is_counted && attribute->is_number;
}

static value_t attribute(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    uint32_t owner = source_child(source, node, KEEL_PY_F_VALUE);
    value_t value = walk_value(walk, owner);
    if (source_is_named(source, owner, "self")) {
        uint32_t text = source_name_of(source, node),
                 class_node = source_class(source, walk->function);
        value_t out = value_of(KIND_UNKNOWN);
        out.function = source_method(source, class_node, text);
        out.is_bound = out.function != KEEL_NONE && source_has_self(source, out.function);
        const attribute_t *known = source_attribute(source, class_node, text, false);
        if (known) out.jit = known->jit;
        if (is_counter(known) && walk->traced && !(walk->traced & TRACED_TORCH) &&
            source_node(source, node)->op == KEEL_PY_O_LOAD)
            walk_report(walk, KEEL_LINT_COUNTER, node);
        return out;
    }
    return walk_attribute(walk, node, value);
}

// In PyTorch/XLA a number is part of the program where it meets a tensor.
static void check_counter(walk_t *walk, uint32_t side, value_t result) {
    source_t *source = walk->source;
    bool is_tensor = is_array(result) || result.kind == KIND_MAYBE;
    if (!(walk->traced & TRACED_TORCH) || !is_tensor) return;
    if (source_node(source, side)->kind != KEEL_PY_ATTRIBUTE) return;
    if (!source_is_named(source, source_child(source, side, KEEL_PY_F_VALUE), "self")) return;
    if (is_counter(source_attribute(source, source_class(source, walk->function),
                                    source_name_of(source, side), false)))
        walk_report(walk, KEEL_LINT_COUNTER, side);
}

static value_t operation(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    value_t value = bin_op(walk, node);
    check_counter(walk, source_child(source, node, KEEL_PY_F_LEFT), value);
    check_counter(walk, source_child(source, node, KEEL_PY_F_RIGHT), value);
    return value;
}

static bool is_mask(value_t value) {
    return value.kind == KIND_BOOLS || value.kind == KIND_MAYBE_BOOL;
}

static void check_bound(walk_t *walk, uint32_t slice, keel_py_field_t field) {
    uint32_t bound = source_child(walk->source, slice, field);
    if (bound == KEEL_NONE) return;
    value_t value = walk_value(walk, bound);
    bool is_value = is_array(value) || value.kind == KIND_READ ||
                    (value.kind == KIND_ARGUMENT && walk->traced & TRACED_JAX);
    bool is_bound_read = value.kind == KIND_READ && !(walk->traced & TRACED_TORCH);
    if (is_value && !is_bound_read && walk_is_step(walk)) walk_report(walk, KEEL_LINT_SIZE, bound);
}

// One index of a subscript; true if it is a mask.
static bool index_value(walk_t *walk, uint32_t node) {
    if (source_node(walk->source, node)->kind != KEEL_PY_SLICE)
        return is_mask(walk_value(walk, node));
    check_bound(walk, node, KEEL_PY_F_LOWER);
    check_bound(walk, node, KEEL_PY_F_UPPER);
    return false;
}

static value_t subscript(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_node_t *is = source_node(source, node);
    uint32_t owner = source_child(source, node, KEEL_PY_F_VALUE),
             index = source_child(source, node, KEEL_PY_F_SLICE_OF);
    value_t value = walk_value(walk, owner);
    bool has_mask = false;
    if (index != KEEL_NONE && source_node(source, index)->kind == KEEL_PY_TUPLE) {
        for (uint32_t at = KEEL_NONE;
             (at = keel_py_child(&source->tree, index, KEEL_PY_F_ELTS, at)) != KEEL_NONE;)
            has_mask |= index_value(walk, at);
    } else if (index != KEEL_NONE) {
        has_mask = index_value(walk, index);
    }
    // `x.at[mask]` keeps the size, and a list takes no mask.
    bool is_place = source_node(source, owner)->kind == KEEL_PY_ATTRIBUTE &&
                    source_is_named(source, owner, "at");
    bool is_owner = is_array_used(value) || value.kind == KIND_MAYBE ||
                    (value.kind == KIND_UNKNOWN && !is_container(source, owner));
    bool is_read = is->op == KEEL_PY_O_LOAD;
    bool is_counted = walk->traced || walk_is_xla(source);
    if (has_mask && is_read && is_owner && !is_place && is_counted && walk_is_step(walk))
        walk_report(walk, KEEL_LINT_MASK, node);
    return walk_element(value);
}

// ---- the rest ----------------------------------------------------------------------------------

static value_t comprehension(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    const keel_py_tree_t *tree = &source->tree;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_GENERATORS, at)) != KEEL_NONE;) {
        walk_iterate(walk, source_child(source, at, KEEL_PY_F_TARGET),
                     source_child(source, at, KEEL_PY_F_ITER));
        for (uint32_t test = KEEL_NONE;
             (test = keel_py_child(tree, at, KEEL_PY_F_IFS, test)) != KEEL_NONE;)
            walk_test(walk, test);
    }
    static const keel_py_field_t fields[] = {KEEL_PY_F_ELT, KEEL_PY_F_KEY, KEEL_PY_F_VALUE};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        child_value(walk, node, fields[i]);
    return value_of(source_node(source, node)->kind == KEEL_PY_SET_COMP ? KIND_SET : KIND_UNKNOWN);
}

static value_t if_exp(walk_t *walk, uint32_t node) {
    uint32_t test = source_child(walk->source, node, KEEL_PY_F_TEST);
    bool is_muted = walk_asks_tracing(walk, test);
    walk_test(walk, test);
    walk->muted += is_muted;
    value_t a = child_value(walk, node, KEEL_PY_F_BODY),
            b = child_value(walk, node, KEEL_PY_F_ORELSE);
    walk->muted -= is_muted;
    return value_of(walk_join((kind_t)a.kind, (kind_t)b.kind));
}

static value_t follow(walk_t *walk, uint32_t node) {
    source_t *source = walk->source;
    switch (source_node(source, node)->kind) {
        case KEEL_PY_CONSTANT:
        case KEEL_PY_JOINED_STR:
            any_of(walk, node);
            return value_of(KIND_HOST);
        case KEEL_PY_NAME:
            return name(walk, node);
        case KEEL_PY_ATTRIBUTE:
            return attribute(walk, node);
        case KEEL_PY_SUBSCRIPT:
            return subscript(walk, node);
        case KEEL_PY_CALL:
            return walk_call(walk, node);
        case KEEL_PY_BIN_OP:
            return operation(walk, node);
        case KEEL_PY_UNARY_OP:
            return unary_op(walk, node);
        case KEEL_PY_BOOL_OP:
            return bool_op(walk, node);
        case KEEL_PY_COMPARE:
            return compare(walk, node);
        case KEEL_PY_IF_EXP:
            return if_exp(walk, node);
        case KEEL_PY_NAMED_EXPR: {
            uint32_t from = source_child(source, node, KEEL_PY_F_VALUE);
            value_t value = walk_value(walk, from);
            walk_bind(walk, source_child(source, node, KEEL_PY_F_TARGET), value, from);
            return value;
        }
        case KEEL_PY_LAMBDA: {
            value_t value = value_of(KIND_UNKNOWN);
            value.function = source_function_at(source, node);
            return value;
        }
        case KEEL_PY_SET:
            any_of(walk, node);
            return value_of(KIND_SET);
        case KEEL_PY_LIST_COMP:
        case KEEL_PY_SET_COMP:
        case KEEL_PY_DICT_COMP:
        case KEEL_PY_GENERATOR_EXP:
            return comprehension(walk, node);
        default:
            return any_of(walk, node);
    }
}

value_t walk_value(walk_t *walk, uint32_t node) {
    if (node == KEEL_NONE || walk->source->status) return value_of(KIND_UNKNOWN);
    return walk->source->values[node] = follow(walk, node);
}

value_t walk_known(const walk_t *walk, uint32_t node) {
    return node == KEEL_NONE ? value_of(KIND_UNKNOWN) : walk->source->values[node];
}
