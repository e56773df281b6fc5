// HLO: causes that come from PyTorch's optimizers. The state that they make in their first step is
// an argument from the second on, and parameters that replaced others are no longer updated. Both
// show in the source, because what an optimizer computes is in a file of torch/optim.
#include "explain/cause.h"
#include "explain/diff.h"

// Averages of weights are a model's, not an optimizer's.
bool keel_diff_is_optimizers_file(keel_str_t file) {
    return keel_str_contains(file, "/torch/optim/") &&
           !keel_str_contains(file, "/torch/optim/swa_utils.py");
}

bool keel_diff_is_optimizers(const keel_graph_t *graph, keel_op_id_t op) {
    enum { FRAMES = 16 };
    if (op == KEEL_NONE) return false;
    keel_frame_t frames[FRAMES];
    const keel_program_t *program = graph->program;
    uint32_t count =
        keel_program_frames(program, program->operations.data[op].location, frames, FRAMES, NULL);
    for (uint32_t i = 0; i < count && i < FRAMES; ++i)
        if (keel_diff_is_optimizers_file(frames[i].file)) return true;
    return false;
}

// How many tensors of an optimizer's were added, if the host sent none beside them. What else is
// kept from the first step comes with them, gradients have a cause of their own, and numbers come
// with their users.
static uint32_t count_state(keel_diff_t *diff, uint32_t *out_others) {
    const keel_argument_t *list = diff->arguments_after;
    bool has_gradients = keel_diff_find(diff, KEEL_CAUSE_GRADIENT) != KEEL_NONE;
    uint32_t found = 0;
    *out_others = 0;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        if (list[i].counterpart != KEEL_NONE) continue;
        if (!keel_diff_dims(diff->after.program, list[i].type).count) continue;
        bool is_state = keel_diff_is_optimizers(&diff->after, list[i].op);
        keel_place_t place;
        if (!is_state && !has_gradients && (list[i].is_sent || keel_diff_made_at(diff, i, &place)))
            return 0;
        found += is_state;
        *out_others += !is_state;
    }
    return found;
}

// If gradients were added too, the root may represent one of these, and its count includes them.
static void tell_of_state(keel_diff_t *diff, keel_difference_t *difference, uint32_t count) {
    const keel_argument_t *list = diff->arguments_after;
    uint32_t first = 0;
    while (list[first].counterpart != KEEL_NONE ||
           !keel_diff_dims(diff->after.program, list[first].type).count ||
           !keel_diff_is_optimizers(&diff->after, list[first].op))
        ++first;
    difference->subject = keel_diff_text(diff, "argument %u", first);
    difference->argument = first + 1;
    difference->new_value = keel_diff_type(diff, diff->after.program, list[first].type);
    difference->place = keel_diff_place(diff, true, list[first].op);
    difference->note = count == 1 ? ""
                                  : keel_diff_text(diff, "and %u more argument%s", count - 1,
                                                   count == 2 ? "" : "s");
}

// The name of the operation that takes a value, whatever shape it is given first; "" if none does.
static keel_str_t taker_of(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (operands.count == 1 && keel_graph_only_reshapes(keel_graph_name(graph, op))) continue;
        for (uint32_t i = 0; i < operands.count; ++i)
            if (keel_graph_unshaped(graph, operands.items[i]) == value)
                return keel_graph_name(graph, op);
    }
    return KEEL_STR("");
}

// The 0 or 1 that a line writes into the program before; NULL if it writes none.
static const char *number_at(keel_diff_t *diff, uint64_t line) {
    keel_op_id_t first, end;
    keel_graph_body(&diff->before, diff->before.program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_type_id_t type;
        keel_tensor_view_t tensor;
        if (diff->before.constant[op] != op ||
            keel_graph_line(&diff->before, op)->identity != line ||
            !keel_graph_tensor(&diff->before, op, &type, &tensor) || tensor.count != 1)
            continue;
        const char *value = keel_diff_element(diff, diff->before.program, type, &tensor, 0);
        if (strcmp(value, "0") == 0 || strcmp(value, "1") == 0) return value;
    }
    return NULL;
}

// A number of the user's own that was 0 or 1 in the optimizer's first step, and is passed now.
static keel_status_t tell_numbers(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_after[i];
        if (argument->counterpart != KEEL_NONE || argument->op == KEEL_NONE ||
            keel_diff_dims(diff->after.program, argument->type).count ||
            keel_diff_is_optimizers(&diff->after, argument->op))
            continue;
        uint64_t line = keel_graph_line(&diff->after, argument->op)->identity;
        const char *value = line ? number_at(diff, line) : NULL;
        keel_str_t taker = taker_of(&diff->after, argument->value);
        if (!value || !taker.size) continue;
        keel_difference_t difference = keel_diff_of_call(
            diff, KEEL_CAUSE_CONSTANT, keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(taker)), value,
            "an argument");
        difference.note = keel_note_text(KEEL_NOTE_NOUGHT);
        difference.place = keel_diff_place(diff, true, argument->op);
        difference.new_op = argument->op;
        uint32_t root;
        KEEL_TRY(keel_diff_root(diff, &difference, &root));
    }
    return NULL;
}

// ---- parameters that are no longer updated -----------------------------------------------------

static keel_op_id_t first_of_optimizer(const keel_graph_t *graph) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    while (first < end && !keel_diff_is_optimizers(graph, first))
        ++first;
    return first < end ? first : KEEL_NONE;
}

keel_status_t keel_diff_find_optimized(keel_diff_t *diff, const keel_graph_t *graph,
                                       uint8_t **out) {
    size_t count = graph->program->value_types.count;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&diff->arena, count + 1, &memory));
    memset(memory, 0, count + 1);
    *out = memory;
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_diff_is_optimizers(graph, op)) continue;
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            (*out)[keel_graph_unshaped(graph, operands.items[i])] = 1;
    }
    return NULL;
}

// What happened to the parameters that one of the programs updates in place.
typedef struct updates_t {
    uint32_t then, now; // how many the optimizer updates, without its own state
    // Those that the program before updates and this one does not:
    uint32_t replaced; // the optimizer does not touch it, and another line moved its data
    uint32_t idle;     // the optimizer does not touch it
    uint32_t copied;   // it is still updated, but has another tensor's data
    uint32_t kept;     // all of them
    uint32_t begun;    // the optimizer begins to update it here
    uint32_t back;     // the reverse: updated here, and another line's before
    uint32_t late;     // scalars that both update, and that only this one may overwrite
} updates_t;

static bool has_other_line(keel_diff_t *diff, const keel_argument_t *then,
                           const keel_argument_t *now) {
    uint64_t line = keel_graph_line(&diff->before, then->op)->identity;
    return line && line != keel_graph_line(&diff->after, now->op)->identity;
}

static bool is_of_shape(keel_graph_t *graph, keel_type_id_t type, keel_type_id_t wanted) {
    keel_ints_t x = keel_diff_dims(graph->program, type),
                y = keel_diff_dims(graph->program, wanted);
    return keel_ints_equal(x, y) &&
           keel_diff_element_hash(graph, type) == keel_diff_element_hash(graph, wanted);
}

// A tensor that is no longer differentiated was frozen on purpose. Otherwise its gradient is a
// result.
static bool is_differentiated(keel_graph_t *graph, const keel_argument_t *argument) {
    keel_list_t results = keel_graph_results(graph);
    for (uint32_t i = 0; i < results.count; ++i)
        if (is_of_shape(graph, keel_graph_type(graph, results.items[i]), argument->type))
            return true;
    return false;
}

static uint32_t count_updated(const keel_graph_t *graph, const keel_argument_t *list,
                              uint32_t count, const uint8_t *optimized) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
        found += list[i].is_donated && optimized[list[i].value] &&
                 !keel_diff_is_optimizers(graph, list[i].op);
    return found;
}

// PyTorch/XLA shares what it sent to the device for equal numbers of the host, so a program never
// overwrites that; it does overwrite a scalar that a program computed.
static bool is_late(const keel_diff_t *diff, const keel_argument_t *then,
                    const keel_argument_t *now) {
    return !then->is_donated && now->is_donated &&
           !keel_diff_dims(diff->after.program, now->type).count;
}

static keel_status_t count_updates(keel_diff_t *diff, updates_t *out) {
    uint8_t *then, *now;
    KEEL_TRY(keel_diff_find_optimized(diff, &diff->before, &then));
    KEEL_TRY(keel_diff_find_optimized(diff, &diff->after, &now));
    out->then = count_updated(&diff->before, diff->arguments_before, diff->before_count, then);
    out->now = count_updated(&diff->after, diff->arguments_after, diff->after_count, now);
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *b = &diff->arguments_after[i];
        if (b->counterpart == KEEL_NONE) continue;
        const keel_argument_t *a = &diff->arguments_before[b->counterpart];
        bool is_other = has_other_line(diff, a, b), is_updated = now[b->value];
        if (is_late(diff, a, b) && is_updated && then[a->value]) {
            ++out->late;
            ++out->then;
            continue;
        }
        out->begun += !a->is_donated && b->is_donated && is_updated && !then[a->value];
        out->back += !a->is_donated && b->is_donated && is_other;
        if (!a->is_donated || b->is_donated) continue;
        ++out->kept;
        out->copied += is_updated || (!then[a->value] && is_other);
        if (is_updated || !then[a->value] || !is_differentiated(&diff->after, b)) continue;
        ++out->idle;
        out->replaced += is_other;
    }
    return NULL;
}

// Arguments that were added, numbers aside; NONE.
static uint32_t find_added(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->difference.kind == KEEL_CAUSE_ARGUMENTS && root->follows == KEEL_NONE &&
            !root->is_random && strcmp(root->difference.old_value, "absent") == 0)
            return i;
    }
    return KEEL_NONE;
}

static bool follows(const keel_diff_t *diff, const keel_difference_t *difference) {
    if (difference->kind == KEEL_CAUSE_ARGUMENTS) return true;
    return keel_diff_is_optimizers(&diff->after, difference->new_op) ||
           keel_diff_is_optimizers(&diff->before, difference->old_op);
}

static void lead(keel_diff_t *diff, uint32_t top) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != top && diff->roots[i].follows == KEEL_NONE &&
            follows(diff, &diff->roots[i].difference))
            diff->roots[i].follows = top;
}

static const char *updates_text(keel_diff_t *diff, uint32_t count) {
    if (!count) return "updates none";
    return keel_diff_text(diff, "updates %u tensor%s", count, count == 1 ? "" : "s");
}

static bool is_updated_here_only(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    const keel_argument_t *here = is_after ? diff->arguments_after : diff->arguments_before;
    const keel_argument_t *there = is_after ? diff->arguments_before : diff->arguments_after;
    uint32_t number =
        keel_diff_argument(here, is_after ? diff->after_count : diff->before_count, value);
    return number != KEEL_NONE && here[number].is_donated &&
           (here[number].counterpart == KEEL_NONE || !there[here[number].counterpart].is_donated);
}

// Where an optimizer updates what the other program leaves alone. NONE if that is not known.
static keel_op_id_t first_of_its_own(const keel_diff_t *diff, bool is_after) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_diff_is_optimizers(graph, op)) continue;
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            if (is_updated_here_only(diff, is_after, keel_graph_unshaped(graph, operands.items[i])))
                return op;
    }
    return KEEL_NONE;
}

// Makes the root the optimizer's, at its line in the program that does more.
static void tell_counts(keel_diff_t *diff, uint32_t top, uint32_t then, uint32_t now,
                        keel_note_t note) {
    keel_difference_t *difference = &diff->roots[top].difference;
    bool is_after = now >= then;
    keel_op_id_t op = first_of_its_own(diff, is_after);
    if (op == KEEL_NONE) op = first_of_optimizer(is_after ? &diff->after : &diff->before);
    difference->kind = KEEL_CAUSE_STRUCTURE;
    difference->subject = "optimizer";
    difference->old_value = updates_text(diff, then);
    difference->new_value = updates_text(diff, now);
    difference->note = keel_note_text(note);
    difference->place = keel_diff_place(diff, is_after, op);
    difference->old_op = difference->new_op = KEEL_NONE; // not of one operation
}

static bool is_made(keel_diff_t *diff, const keel_argument_t *argument) {
    const char *type = keel_diff_type(diff, diff->after.program, argument->type);
    for (uint32_t i = 0; i < diff->made_count; ++i)
        if (strcmp(diff->made[i].type, type) == 0) return true;
    return false;
}

// True if the host may have sent every tensor that is kept now, numbers aside: as many, and of
// these types if the types are known. Batches are sent too.
static bool may_be_sent(keel_diff_t *diff) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *now = &diff->arguments_after[i];
        bool is_kept = now->counterpart != KEEL_NONE && !now->is_donated &&
                       diff->arguments_before[now->counterpart].is_donated;
        if (!is_kept || !keel_diff_dims(diff->after.program, now->type).count) continue;
        if (diff->made_count && !is_made(diff, now)) return false;
        ++kept;
    }
    return kept && kept <= diff->sent;
}

// Reports it at the donation or, if the optimizer does nothing any more, at the optimizer. False if
// neither shows it.
static bool tell_idle(keel_diff_t *diff, uint32_t top, const updates_t *updates) {
    keel_op_id_t op = first_of_optimizer(&diff->before);
    bool is_left_alone = first_of_optimizer(&diff->after) == KEEL_NONE;
    keel_difference_t *difference = &diff->roots[top].difference;
    if (updates->replaced) {
        lead(diff, top);
        keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_REPLACED);
    } else if (is_left_alone && may_be_sent(diff)) {
        // A sync moved the other tensors, so their line is unknown.
        lead(diff, top);
        keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_REPLACED);
        difference->place = keel_diff_place(diff, false, op);
    } else if (is_left_alone) {
        lead(diff, top);
        tell_counts(diff, top, updates->idle, 0, KEEL_NOTE_IDLE);
    } else {
        return false;
    }
    return true;
}

// True if backward() was called: it records an operation of its own.
static bool is_trained(const keel_graph_t *graph) {
    enum { FRAMES = 16 };
    const keel_program_t *program = graph->program;
    keel_op_id_t first, end;
    keel_graph_body(graph, program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_frame_t frames[FRAMES];
        keel_attr_id_t location = program->operations.data[op].location;
        uint32_t count = keel_program_frames(program, location, frames, FRAMES, NULL);
        for (uint32_t i = 0; i < count && i < FRAMES; ++i)
            if (keel_str_contains(frames[i].file, "/torch/autograd/")) return true;
    }
    return false;
}

// Other differences follow from it, except in the step's arguments.
static void lead_all(keel_diff_t *diff, uint32_t top) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_cause_t kind = diff->roots[i].difference.kind;
        if (i != top && diff->roots[i].follows == KEEL_NONE &&
            (kind == KEEL_CAUSE_STRUCTURE || kind == KEEL_CAUSE_DONATION))
            diff->roots[i].follows = top;
    }
    lead(diff, top);
}

static void tell_evaluation(keel_diff_t *diff, uint32_t top, const updates_t *updates) {
    lead_all(diff, top);
    tell_counts(diff, top, updates->then, updates->now, KEEL_NOTE_EVALUATED);
}

// True if an optimizer on a different line than the first updates what the other program leaves
// alone.
static bool has_a_second_optimizer(keel_diff_t *diff, bool is_after) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t first = first_of_optimizer(graph), own = first_of_its_own(diff, is_after);
    if (first == KEEL_NONE || own == KEEL_NONE) return false;
    uint64_t line = keel_graph_line(graph, own)->identity;
    return line && line != keel_graph_line(graph, first)->identity;
}

// Tensors that were frozen or unfrozen, or a second optimizer that takes its step now and then.
static void tell_other_tensors(keel_diff_t *diff, uint32_t top, const updates_t *updates) {
    if (has_a_second_optimizer(diff, updates->now > updates->then)) {
        lead_all(diff, top);
        tell_counts(diff, top, updates->then, updates->now, KEEL_NOTE_TURNS);
        return;
    }
    lead(diff, top);
    tell_counts(diff, top, updates->then, updates->now, KEEL_NOTE_FROZEN);
}

// Its step is in this program and not in the one before, though that has gradients too: it is taken
// once for several micro-batches, each with a sync of its own.
static void tell_stepped(keel_diff_t *diff, uint32_t top, const updates_t *updates) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != top && diff->roots[i].follows == KEEL_NONE &&
            diff->roots[i].difference.kind == KEEL_CAUSE_DONATION)
            diff->roots[i].follows = top;
    lead(diff, top);
    tell_counts(diff, top, 0, updates->now, KEEL_NOTE_STEPPED);
}

// Two optimizers that share a sync, each with its own tensors, like those of a generator and a
// discriminator.
static void tell_turns(keel_diff_t *diff, uint32_t top, const updates_t *updates) {
    lead_all(diff, top);
    tell_counts(diff, top, updates->then, updates->now, KEEL_NOTE_TURNS);
    diff->roots[top].difference.new_value =
        keel_diff_text(diff, "updates %u other%s", updates->now, updates->now == 1 ? "" : "s");
}

static keel_status_t tell_of_updates(keel_diff_t *diff, uint32_t top, bool *out_told) {
    updates_t updates = {0};
    KEEL_TRY(count_updates(diff, &updates));
    bool is_evaluation = (!updates.now && updates.then && !is_trained(&diff->after)) ||
                         (!updates.then && updates.now && !is_trained(&diff->before));
    bool had_one = updates.then || first_of_optimizer(&diff->before) != KEEL_NONE;
    bool takes_turns = updates.begun && updates.kept && had_one;
    bool is_frozen = updates.then && updates.now && updates.then != updates.now;
    // Before the first sync, a tensor has the line that moved it to the device.
    bool accumulates = keel_diff_find(diff, KEEL_CAUSE_GRADIENT) != KEEL_NONE;
    bool is_stepped =
        updates.begun && (!updates.back || accumulates) && !had_one && is_trained(&diff->before);
    *out_told = updates.idle || updates.copied || updates.back || is_evaluation || is_frozen ||
                takes_turns || is_stepped;
    if (is_evaluation)
        tell_evaluation(diff, top, &updates);
    else if (takes_turns)
        tell_turns(diff, top, &updates);
    else if (is_stepped)
        tell_stepped(diff, top, &updates);
    else if (updates.idle && tell_idle(diff, top, &updates))
        return NULL;
    else if (!updates.idle && updates.copied)
        keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_COPIED);
    else if (!updates.idle && updates.back)
        lead(diff, top);
    else if (is_frozen)
        tell_other_tensors(diff, top, &updates);
    else if (updates.late)
        keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_SCALAR_SENT);
    return NULL;
}

// ---- tensors that only the optimizer has -------------------------------------------------------

// By argument: whether the optimizer updates it in place and something else reads it too, so that
// it is the model's and not the optimizer's own state.
static keel_status_t find_models(keel_diff_t *diff, bool is_after, uint8_t **out,
                                 uint32_t *out_count) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    uint8_t *optimized;
    KEEL_TRY(keel_diff_find_optimized(diff, graph, &optimized));
    size_t values = graph->program->value_types.count;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&diff->arena, values + count + 1, &memory));
    memset(memory, 0, values + count + 1);
    uint8_t *read = memory, *models = read + values;
    keel_op_id_t root = graph->program->functions.data[graph->program->entry].root, first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (keel_diff_is_optimizers(graph, op) || op == root) continue;
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            read[operands.items[i]] = 1;
    }
    *out_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        models[i] = list[i].is_donated && optimized[list[i].value] && read[list[i].value];
        *out_count += models[i];
    }
    *out = models;
    return NULL;
}

// What has the places of the model's tensors, if both programs train, the one before updates these
// and this one updates none of the model's. Whether they are others, only their buffers show.
keel_status_t keel_diff_left_alone(keel_diff_t *diff, keel_explanation_t *out) {
    enum { MOST = 256 };
    uint8_t *then, *now;
    uint32_t models, updated, found = 0;
    if (!diff->before.lender || !diff->after.lender) return NULL;
    bool was_optimized = first_of_optimizer(&diff->before) != KEEL_NONE;
    out->stops = was_optimized && first_of_optimizer(&diff->after) == KEEL_NONE &&
                 is_trained(&diff->before) == is_trained(&diff->after);
    if (!was_optimized || !is_trained(&diff->before) || !is_trained(&diff->after)) return NULL;
    KEEL_TRY(find_models(diff, false, &then, &models));
    KEEL_TRY(find_models(diff, true, &now, &updated));
    if (!models || updated) return NULL;
    void *memory;
    KEEL_TRY(keel_arena_array(&out->arena, models, sizeof *out->left, &memory));
    out->left = memory;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_after[i];
        if (argument->counterpart == KEEL_NONE || !then[argument->counterpart] ||
            argument->is_donated)
            continue;
        if (found < MOST) out->left[found] = i;
        ++found;
    }
    if (found == models) out->left_count = found < MOST ? found : MOST;
    return NULL;
}

keel_status_t keel_diff_optimizer(keel_diff_t *diff) {
    if (!diff->before.lender || !diff->after.lender) return NULL;
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (top != KEEL_NONE) {
        bool told;
        KEEL_TRY(tell_of_updates(diff, top, &told));
        if (told) return NULL;
    }
    top = find_added(diff);
    uint32_t others, state = top == KEEL_NONE ? 0 : count_state(diff, &others);
    if (!state) return NULL;
    lead(diff, top);
    if (others || keel_diff_find(diff, KEEL_CAUSE_GRADIENT) != KEEL_NONE)
        tell_of_state(diff, &diff->roots[top].difference, state);
    keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_STATE_MADE);
    return tell_numbers(diff);
}
