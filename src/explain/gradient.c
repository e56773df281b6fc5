// Gradients that are created in one program and added to in another. In the program, some arguments
// are on one side only, and each is used once, by an addition whose sum is returned.
#define _GNU_SOURCE
#include "explain/diff.h"

// One side of the comparison.
typedef struct gradient_side_t {
    keel_graph_t *graph;
    const keel_argument_t *arguments;
    const uint32_t *others; // by operation: its counterpart
    uint32_t count;
    bool is_after;
    bool has_as_many; // results as the other side
} gradient_side_t;

// The only operation that uses the value; NONE if there are several or none.
static keel_op_id_t only_user(const gradient_side_t *side, keel_value_id_t value) {
    const keel_program_t *program = side->graph->program;
    keel_op_id_t first, end, found = KEEL_NONE;
    keel_graph_body(side->graph, program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            if (found != KEEL_NONE) return KEEL_NONE;
            found = op;
        }
    }
    return found;
}

// HLO: an addition that PyTorch's engine recorded, on a thread without a Python stack.
static bool is_of_engine(const gradient_side_t *side, keel_op_id_t op) {
    return side->graph->lender && side->graph->lender[op] != op;
}

// The number of the result that returns a value; NONE.
static uint32_t result_of(const gradient_side_t *side, keel_value_id_t value) {
    keel_op_id_t user = only_user(side, value);
    if (user == KEEL_NONE) return KEEL_NONE;
    keel_str_t name = keel_graph_name(side->graph, user);
    if (!keel_str_is(name, "return") && !keel_str_is(name, "tuple")) return KEEL_NONE;
    keel_list_t operands = keel_program_operands(side->graph->program, user);
    uint32_t number = 0;
    while (operands.items[number] != value)
        ++number;
    return number;
}

// The addition that accumulates an argument; NONE.
static keel_op_id_t accumulation(const gradient_side_t *side, const keel_argument_t *argument,
                                 uint32_t *out_result) {
    keel_op_id_t op = only_user(side, argument->value);
    if (op == KEEL_NONE || !keel_str_is(keel_graph_name(side->graph, op), "add") ||
        side->others[op] != KEEL_NONE)
        return KEEL_NONE;
    const keel_operation_t *operation = &side->graph->program->operations.data[op];
    if (keel_graph_type(side->graph, operation->first_result) != argument->type) return KEEL_NONE;
    *out_result = KEEL_NONE;
    bool is_torchs = side->graph->lender && !argument->name.size;
    if (is_torchs) return is_of_engine(side, op) ? op : KEEL_NONE;
    *out_result = result_of(side, operation->first_result);
    return *out_result == KEEL_NONE ? KEEL_NONE : op;
}

static bool is_named_so(keel_str_t name) {
    return memmem(name.data, name.size, "grad", 4) || memmem(name.data, name.size, "accum", 5) ||
           (keel_str_starts(name, KEEL_STR("acc")) &&
            (name.size == 3 || name.data[3] == '[' || name.data[3] == '.'));
}

// "['w']" of "acc['w']" and of "result[1]['w']": a tree is returned as it was passed.
static keel_str_t leaf_of(keel_str_t name) {
    size_t begin = name.size;
    while (begin > 0 && name.data[begin - 1] != '[' && name.data[begin - 1] != '.')
        --begin;
    return (keel_str_t){name.data + begin, name.size - begin};
}

// HLO: numbers of the host, which come with any operation.
static bool is_scalar(const gradient_side_t *side, uint32_t number) {
    const keel_argument_t *argument = &side->arguments[number];
    return argument->op != KEEL_NONE && !keel_diff_dims(side->graph->program, argument->type).count;
}

// HLO: the sum takes the argument's place, and in the other program something else does.
static bool is_summed_in_place(const gradient_side_t *side, const keel_argument_t *argument) {
    return argument->op != KEEL_NONE && argument->is_donated && side->has_as_many;
}

// The first addition, if all arguments that only this side has are accumulated, except `out_state`
// that an optimizer takes. Residuals and biases look the same, so the arguments must be named like
// gradients, or be returned under their own names.
static keel_op_id_t all_accumulated(const gradient_side_t *side, uint32_t *out_state,
                                    uint32_t *out_argument) {
    keel_op_id_t first = KEEL_NONE;
    uint32_t lonely = 0;
    *out_state = 0;
    bool is_named = false, comes_back = true;
    enum { MOST = 4096 }; // each looks at the whole entry
    for (uint32_t i = 0; i < side->count; ++i) {
        if (side->arguments[i].counterpart != KEEL_NONE || is_scalar(side, i)) continue;
        if (keel_diff_is_optimizers(side->graph, side->arguments[i].op)) {
            ++*out_state;
            continue;
        }
        if (++lonely > MOST) return KEEL_NONE;
        // After the first few the rest are assumed: checking each would take quadratic time.
        if (lonely > 8) continue;
        uint32_t result;
        keel_op_id_t op = accumulation(side, &side->arguments[i], &result);
        if (op == KEEL_NONE) return KEEL_NONE;
        if (first == KEEL_NONE || op < first) {
            first = op;
            *out_argument = i;
        }
        is_named = is_named || result == KEEL_NONE;
        if (result == KEEL_NONE) continue;
        keel_str_t name = side->arguments[i].name, leaf = leaf_of(name);
        is_named = is_named || is_named_so(name) || is_summed_in_place(side, &side->arguments[i]);
        comes_back =
            comes_back && leaf.size && leaf.size < name.size &&
            keel_str_equal(leaf, leaf_of(keel_program_result_name(side->graph->program, result)));
    }
    return is_named || (lonely > 1 && comes_back) ? first : KEEL_NONE;
}

// The line that called backward(): it starts with an operation of its own.
static keel_op_id_t start_of(const gradient_side_t *side, keel_op_id_t op) {
    static const char suffix[] = "/torch/autograd/__init__.py";
    enum { FRAMES = 8 };
    const keel_program_t *program = side->graph->program;
    keel_op_id_t first, end;
    keel_graph_body(side->graph, program->entry, &first, &end);
    for (keel_op_id_t at = op; side->graph->lender && at-- > first;) {
        keel_frame_t frames[FRAMES];
        keel_attr_id_t location = program->operations.data[at].location;
        uint32_t count = keel_program_frames(program, location, frames, FRAMES, NULL);
        for (uint32_t i = 0; i < count && i < FRAMES; ++i) {
            keel_str_t file = frames[i].file;
            size_t size = sizeof suffix - 1;
            if (file.size > size && !memcmp(file.data + file.size - size, suffix, size)) return at;
        }
    }
    return op;
}

static bool is_zero(const keel_graph_t *graph, keel_op_id_t constant) {
    keel_type_id_t type;
    keel_tensor_view_t tensor;
    double number;
    if (constant == KEEL_NONE || keel_graph_is_parameter(graph, constant) ||
        !keel_graph_tensor(graph, constant, &type, &tensor))
        return false;
    return tensor.count && keel_diff_number(graph->program, type, &tensor, 0, &number) &&
           number == 0;
}

// HLO: if gradients were zeroed in place, the sum does not start from an argument. Gives the
// engine's first addition that takes a constant; NONE.
static keel_op_id_t added_to_zeros(const gradient_side_t *side) {
    keel_op_id_t first, end;
    keel_graph_body(side->graph, side->graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; side->graph->lender && op < end; ++op) {
        if (side->others[op] != KEEL_NONE || side->graph->constant[op] != KEEL_NONE ||
            !keel_str_is(keel_graph_name(side->graph, op), "add") || !is_of_engine(side, op))
            continue;
        keel_list_t operands = keel_program_operands(side->graph->program, op);
        keel_op_id_t producer =
            operands.count ? side->graph->producer[operands.items[0]] : KEEL_NONE;
        if (producer != KEEL_NONE && is_zero(side->graph, side->graph->constant[producer]))
            return op;
    }
    return KEEL_NONE;
}

static void tell_accumulation(keel_diff_t *diff, const gradient_side_t *side, keel_op_id_t op,
                              keel_difference_t *out) {
    out->kind = KEEL_CAUSE_GRADIENT;
    out->old_value = side->is_after ? "create" : "accumulate";
    out->new_value = side->is_after ? "accumulate" : "create";
    out->place = keel_diff_place(diff, side->is_after, start_of(side, op));
    *(side->is_after ? &out->new_op : &out->old_op) = op;
}

// Besides the state that an optimizer made in the same step.
static keel_status_t tell_beside_state(keel_diff_t *diff, const gradient_side_t *side,
                                       keel_op_id_t op, uint32_t argument) {
    keel_difference_t difference = {.subject = keel_diff_text(diff, "argument %u", argument),
                                    .note = "",
                                    .old_op = KEEL_NONE,
                                    .new_op = KEEL_NONE,
                                    .argument = side->is_after ? argument + 1 : 0,
                                    .follows = KEEL_NONE};
    tell_accumulation(diff, side, op, &difference);
    uint32_t root;
    return keel_diff_root(diff, &difference, &root);
}

static keel_status_t look_for_zeros(keel_diff_t *diff, const gradient_side_t *sides) {
    for (size_t i = 0; i < 2; ++i) {
        keel_op_id_t op = added_to_zeros(&sides[i]);
        if (op == KEEL_NONE) continue;
        keel_difference_t difference = {
            .subject = "add", .note = "", .old_op = KEEL_NONE, .new_op = KEEL_NONE};
        difference.follows = KEEL_NONE;
        tell_accumulation(diff, &sides[i], op, &difference);
        uint32_t root;
        return keel_diff_root(diff, &difference, &root);
    }
    return NULL;
}

keel_status_t keel_diff_gradient(keel_diff_t *diff) {
    bool has_as_many =
        keel_graph_results(&diff->before).count == keel_graph_results(&diff->after).count;
    gradient_side_t sides[] = {
        {&diff->before, diff->arguments_before, diff->counterpart, diff->before_count, false,
         has_as_many},
        {&diff->after, diff->arguments_after, diff->origin, diff->after_count, true, has_as_many}};
    if (keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS) == KEEL_NONE) return look_for_zeros(diff, sides);
    for (size_t i = 0; i < 2; ++i) {
        uint32_t state, number;
        keel_op_id_t op = all_accumulated(&sides[i], &state, &number);
        if (op == KEEL_NONE) continue;
        if (state) return tell_beside_state(diff, &sides[i], op, number);
        uint32_t first = keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS);
        for (uint32_t root = first; root < diff->root_count; ++root) {
            keel_root_t *argument = &diff->roots[root];
            if (argument->difference.kind != KEEL_CAUSE_ARGUMENTS) continue;
            if (root != first) argument->follows = first;
        }
        tell_accumulation(diff, &sides[i], op, &diff->roots[first].difference);
        return NULL;
    }
    return NULL;
}
