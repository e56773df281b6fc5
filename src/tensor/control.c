// Loops, branches and checkpoints: what they refuse, and the nodes that they become.
#include "tensor/trace.h"

// A control node under construction.
typedef struct control_t {
    keel_context_t *context;
    keel_caller_t site;
    const char *what;
    list_t operands;
    KEEL_TABLE(result_t) types; // of parameters, then of results
    KEEL_TABLE(int64_t) words;
} control_t;

static bool begin(control_t *control, keel_context_t *context, keel_caller_t site,
                  const char *what) {
    *control = (control_t){.context = context, .site = site, .what = what};
    if (context) context->site = site;
    return context;
}

static void end(control_t *control) {
    keel_free(control->operands.data);
    keel_free(control->types.data);
    keel_free(control->words.data);
}

static bool took(control_t *control, keel_status_t status) {
    if (!status) return true;
    context_take(control->context, control->site, status);
    return false;
}

static const char *describe(const result_t *type, char out[SHAPE_TEXT]) {
    return shape_text(type->dtype, &type->shape, out);
}

// ---- operands ----------------------------------------------------------------------------------

static bool add_operands(control_t *control, const keel_tensor_t *tensors, size_t count) {
    uint32_t node;
    if (count && !tensors) {
        context_fail(control->context, control->site, "%s: no tensors", control->what);
        return false;
    }
    if (!took(control, keel_table_reserve(&control->operands, (uint32_t)count)) ||
        !took(control, keel_table_reserve(&control->types, (uint32_t)count)))
        return false;
    for (size_t i = 0; i < count; ++i) {
        if (tensors[i].context != control->context) {
            context_fail(control->context, control->site,
                         tensors[i].context ? "%s: operand %zu belongs to another context"
                                            : "%s: operand %zu is empty",
                         control->what, i + 1);
            return false;
        }
        if (!ops_begin(control->site, control->what, &tensors[i], 1, &node)) return false;
        control->operands.data[control->operands.count++] = node;
        control->types.data[control->types.count++] = region_node_type(control->context, node);
    }
    return true;
}

static bool add_word(control_t *control, int64_t word) {
    if (!took(control, keel_table_reserve(&control->words, 1))) return false;
    control->words.data[control->words.count++] = word;
    return true;
}

// The region of a body whose parameters are the types so far.
static bool add_region(control_t *control, keel_body_t trace, void *user, size_t result_count) {
    uint32_t region;
    const body_t body = {.what = control->what,
                         .site = control->site,
                         .trace = trace,
                         .user = user,
                         .parameters = control->types.data,
                         .parameter_count = control->types.count,
                         .result_count = (uint32_t)result_count};
    return region_trace(control->context, &body, &region) && add_word(control, region);
}

static result_t result_of(const control_t *control, uint32_t region, uint32_t which) {
    return region_node_type(control->context, region_results(control->context, region)[which]);
}

static bool is_same_type(const result_t *x, const result_t *y) {
    return x->dtype == y->dtype && shape_equal(&x->shape, &y->shape);
}

// Whether the body gives each carry as it got it.
static bool check_carry(control_t *control, uint32_t region, size_t count) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    for (uint32_t i = 0; i < count; ++i) {
        const result_t given = result_of(control, region, i);
        if (is_same_type(&control->types.data[i], &given)) continue;
        context_fail(control->context, control->site,
                     "%s: carry %u is %s, and the body makes %s of it", control->what, i + 1,
                     describe(&control->types.data[i], text), describe(&given, other));
        return false;
    }
    return true;
}

// Appends the node; its regions are the first words.
static bool add_node(control_t *control, node_kind_t kind, uint32_t region_count,
                     const result_t *results, size_t result_count, keel_tensor_t *out) {
    keel_context_t *context = control->context;
    if (!took(control,
              region_captures(context, control->words.data, region_count, &control->operands)))
        return false;
    const node_spec_t spec = {
        .kind = kind, .words = control->words.data, .word_count = control->words.count};
    uint32_t node = trace_add_tuple(context, &spec, control->operands.data, control->operands.count,
                                    results, (uint32_t)result_count, out);
    for (uint32_t i = 0; i < region_count; ++i)
        context->regions.data[control->words.data[i]].control = node;
    return node != KEEL_NONE;
}

static bool has_room(control_t *control, const keel_tensor_t *out, size_t count) {
    if (!count || !out || count > UINT16_MAX)
        context_fail(control->context, control->site, "%s: no results, or no place for them",
                     control->what);
    return count && out && count <= UINT16_MAX;
}

static bool is_policy(control_t *control, keel_save_t save) {
    if ((unsigned)save <= KEEL_SAVE_NOTHING) return true;
    context_fail(control->context, control->site, "%s: there is no policy %d", control->what,
                 (int)save);
    return false;
}

static void clear(keel_tensor_t *out, size_t count) {
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
}

// ---- while -------------------------------------------------------------------------------------

static bool check_condition(control_t *control) {
    char text[SHAPE_TEXT];
    const result_t given = result_of(control, (uint32_t)control->words.data[0], 0);
    if (given.dtype == KEEL_BOOL && !given.shape.rank) return true;
    context_fail(control->context, control->site,
                 "%s: the condition is %s, and it must be a scalar of bool", control->what,
                 describe(&given, text));
    return false;
}

void keel_while_at(keel_caller_t site, keel_context_t *context, keel_body_t condition,
                   keel_body_t body, void *user, const keel_tensor_t *carry, size_t count,
                   keel_tensor_t *out) {
    control_t control;
    if (begin(&control, context, site, "while") && has_room(&control, out, count) &&
        add_operands(&control, carry, count) && add_region(&control, condition, user, 1) &&
        check_condition(&control) && add_region(&control, body, user, count) &&
        check_carry(&control, (uint32_t)control.words.data[1], count) &&
        add_word(&control, (int64_t)count)) {
        clear(out, count);
        add_node(&control, NODE_WHILE, 2, control.types.data, count, out);
    } else {
        clear(out, count);
    }
    end(&control);
}

// ---- scan --------------------------------------------------------------------------------------

// The number of steps, and what a step gets of each input.
static bool read_inputs(control_t *control, const keel_scan_t *scan, int64_t *length) {
    char text[SHAPE_TEXT];
    *length = scan->length;
    for (size_t i = 0; i < scan->input_count; ++i) {
        result_t *type = &control->types.data[scan->carry_count + i];
        if (!*length && type->shape.rank) *length = type->shape.dims[0];
        if (!type->shape.rank || type->shape.dims[0] != *length) {
            context_fail(control->context, control->site,
                         "scan: input %zu is %s, and there are %lld steps along its axis 0", i + 1,
                         describe(type, text), (long long)*length);
            return false;
        }
        --type->shape.rank;
        memmove(type->shape.dims, type->shape.dims + 1,
                (size_t)type->shape.rank * sizeof *type->shape.dims);
    }
    if (*length >= 0 && *length <= INT32_MAX && (*length || scan->input_count)) return true;
    context_fail(control->context, control->site,
                 "scan: %lld steps; give it a length, or inputs with an axis 0",
                 (long long)*length);
    return false;
}

// The dtypes and shapes of the carries and of the stacked outputs replace those of the parameters.
static bool stack_outputs(control_t *control, const keel_scan_t *scan, int64_t length) {
    uint32_t region = (uint32_t)control->words.data[0];
    control->types.count = (uint32_t)scan->carry_count;
    if (!took(control, keel_table_reserve(&control->types, (uint32_t)scan->output_count)))
        return false;
    for (size_t i = 0; i < scan->output_count; ++i) {
        char text[SHAPE_TEXT];
        result_t type = result_of(control, region, (uint32_t)(scan->carry_count + i));
        if (type.shape.rank == KEEL_MAX_RANK) {
            context_fail(control->context, control->site,
                         "scan: output %zu is %s, which cannot be stacked in %d dimensions", i + 1,
                         describe(&type, text), KEEL_MAX_RANK);
            return false;
        }
        type.shape = shape_stacked(&type.shape, length);
        control->types.data[control->types.count++] = type;
    }
    return true;
}

// Of no steps: the carries as they are, and outputs without elements.
static void give_none(control_t *control, const keel_scan_t *scan, keel_tensor_t *out) {
    keel_context_t *context = control->context;
    for (size_t i = 0; i < control->types.count; ++i) {
        const result_t *type = &control->types.data[i];
        out[i] = i < scan->carry_count
                     ? (keel_tensor_t){context, control->operands.data[i], context->step}
                     : keel_broadcast_at(control->site, ops_constant(context, type->dtype, 0),
                                         type->shape);
    }
}

// The region of the body: there already, or traced now.
static bool find_region(control_t *control, uint32_t region, keel_body_t body, void *user,
                        size_t count) {
    return region == KEEL_NONE ? add_region(control, body, user, count) : add_word(control, region);
}

static bool add_scan(control_t *control, const keel_scan_t *scan, uint32_t region, keel_body_t body,
                     void *user, keel_tensor_t *out) {
    int64_t length;
    size_t count = scan->carry_count + scan->output_count;
    if (!has_room(control, out, count) || !is_policy(control, scan->save) ||
        !add_operands(control, scan->carry, scan->carry_count) ||
        !add_operands(control, scan->inputs, scan->input_count) ||
        !read_inputs(control, scan, &length) || !find_region(control, region, body, user, count) ||
        !check_carry(control, (uint32_t)control->words.data[0], scan->carry_count) ||
        !stack_outputs(control, scan, length) || !add_word(control, length) ||
        !add_word(control, (int64_t)scan->carry_count) ||
        !add_word(control, (int64_t)scan->input_count) ||
        !add_word(control, scan->is_reversed != 0) || !add_word(control, (int64_t)scan->save))
        return false;
    clear(out, count);
    if (!length)
        give_none(control, scan, out);
    else
        add_node(control, NODE_SCAN, 1, control->types.data, count, out);
    return true;
}

void keel_scan_at(keel_caller_t site, keel_context_t *context, keel_body_t body, void *user,
                  const keel_scan_t *scan, keel_tensor_t *out) {
    control_t control;
    if (begin(&control, context, site, "scan") && !scan)
        context_fail(context, site, "scan: nothing says over what");
    else if (context && !add_scan(&control, scan, KEEL_NONE, body, user, out))
        clear(out, scan->carry_count + scan->output_count);
    end(&control);
}

void control_scan(keel_caller_t site, keel_context_t *context, const keel_scan_t *scan,
                  uint32_t region, keel_tensor_t *out) {
    control_t control;
    begin(&control, context, site, "layers");
    if (!add_scan(&control, scan, region, NULL, NULL, out))
        clear(out, scan->carry_count + scan->output_count);
    end(&control);
}

// ---- branches ----------------------------------------------------------------------------------

static bool check_branch(control_t *control, uint32_t branch, size_t count) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    for (uint32_t i = 0; i < count; ++i) {
        const result_t first = result_of(control, (uint32_t)control->words.data[0], i);
        const result_t given = result_of(control, (uint32_t)control->words.data[branch], i);
        if (is_same_type(&first, &given)) continue;
        context_fail(control->context, control->site,
                     "%s: result %u is %s in the first branch, and %s in branch %u", control->what,
                     i + 1, describe(&first, text), describe(&given, other), branch + 1);
        return false;
    }
    return true;
}

// The types are those of what the first region gives.
static bool set_results(control_t *control, size_t count) {
    control->types.count = 0;
    if (!took(control, keel_table_reserve(&control->types, (uint32_t)count))) return false;
    for (uint32_t i = 0; i < count; ++i)
        control->types.data[control->types.count++] =
            result_of(control, (uint32_t)control->words.data[0], i);
    return true;
}

static bool add_branches(control_t *control, const keel_body_t *branches, size_t branch_count,
                         void *user, size_t count) {
    control->types.count = 0; // branches have no parameters
    for (uint32_t i = 0; i < branch_count; ++i)
        if (!add_region(control, branches[i], user, count) || !check_branch(control, i, count))
            return false;
    return set_results(control, count);
}

static void branch(control_t *control, keel_tensor_t which, const keel_body_t *branches,
                   size_t branch_count, void *user, size_t count, keel_tensor_t *out) {
    bool is_good = has_room(control, out, count) && add_operands(control, &which, 1) &&
                   add_branches(control, branches, branch_count, user, count);
    clear(out, count);
    if (is_good)
        add_node(control, NODE_SWITCH, (uint32_t)branch_count, control->types.data, count, out);
}

void keel_cond_at(keel_caller_t site, keel_tensor_t predicate, keel_body_t on_true,
                  keel_body_t on_false, void *user, size_t count, keel_tensor_t *out) {
    control_t control;
    char text[SHAPE_TEXT];
    const keel_body_t branches[] = {on_true, on_false};
    const keel_shape_t shape = keel_shape(predicate);
    keel_context_t *context = predicate.context;
    clear(out, count);
    if (begin(&control, context, site, "cond") && ops_is_usable(predicate) &&
        (keel_dtype(predicate) != KEEL_BOOL || shape.rank))
        context_fail(context, site, "cond: the predicate is %s, and it must be a scalar of bool",
                     shape_text(keel_dtype(predicate), &shape, text));
    else if (context)
        branch(&control, predicate, branches, 2, user, count, out);
    end(&control);
}

static keel_tensor_t clamped(keel_caller_t site, keel_tensor_t index, int64_t count) {
    keel_context_t *context = index.context;
    keel_dtype_t dtype = keel_dtype(index);
    context->site = site;
    index = keel_binary_at(site, KEEL_OP_MAXIMUM, index, ops_constant(context, dtype, 0));
    index = keel_binary_at(site, KEEL_OP_MINIMUM, index,
                           ops_constant(context, dtype, (double)(count - 1)));
    return keel_cast_at(site, index, KEEL_I32);
}

void keel_switch_at(keel_caller_t site, keel_tensor_t index, const keel_body_t *branches,
                    size_t branch_count, void *user, size_t count, keel_tensor_t *out) {
    control_t control;
    char text[SHAPE_TEXT];
    const keel_shape_t shape = keel_shape(index);
    keel_context_t *context = index.context;
    clear(out, count);
    if (!begin(&control, context, site, "switch")) return;
    if (ops_is_usable(index) && (!dtype_is_integer(keel_dtype(index)) || shape.rank))
        context_fail(context, site, "switch: the index is %s, and it must be a scalar integer",
                     shape_text(keel_dtype(index), &shape, text));
    else if (!branches || !branch_count || branch_count > UINT16_MAX)
        context_fail(context, site, "switch: no branches");
    else
        branch(&control, clamped(site, index, (int64_t)branch_count), branches, branch_count, user,
               count, out);
    end(&control);
}

// ---- checkpoints -------------------------------------------------------------------------------

void keel_checkpoint_at(keel_caller_t site, keel_context_t *context, keel_body_t body, void *user,
                        keel_save_t save, const keel_tensor_t *in, size_t in_count, size_t count,
                        keel_tensor_t *out) {
    control_t control;
    bool is_good = begin(&control, context, site, "checkpoint") && has_room(&control, out, count) &&
                   is_policy(&control, save) && add_operands(&control, in, in_count) &&
                   add_region(&control, body, user, count) && add_word(&control, (int64_t)save) &&
                   add_word(&control, (int64_t)in_count) && set_results(&control, count);
    clear(out, count);
    if (is_good) add_node(&control, NODE_CHECKPOINT, 1, control.types.data, count, out);
    end(&control);
}
