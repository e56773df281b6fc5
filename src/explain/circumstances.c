// How a root came about, if the operations around it show that: the bound of a loop, a branch that
// draws random numbers or recomputes, an operation that ran by itself. Such roots get a note and
// advice of their own (cause.h).
#include <math.h>
#include <stdlib.h>

#include "explain/diff.h"
#include "explain/lines.h"

// ---- loops -------------------------------------------------------------------------------------

// The number that a value is, if it is a single constant.
static bool number_of(const keel_graph_t *graph, keel_value_id_t value, double *out) {
    keel_op_id_t producer = graph->producer[value];
    keel_op_id_t constant = producer == KEEL_NONE ? KEEL_NONE : graph->constant[producer];
    keel_type_id_t type;
    keel_tensor_view_t tensor;
    return constant != KEEL_NONE && keel_graph_tensor(graph, constant, &type, &tensor) &&
           tensor.count == 1 && keel_diff_number(graph->program, type, &tensor, 0, out);
}

// The constant that a loop's condition compares with. False if it is not such a condition.
static bool bound_of(const keel_graph_t *graph, keel_op_id_t loop, double *out) {
    const keel_program_t *program = graph->program;
    keel_region_run_t regions = keel_program_regions(program, loop);
    if (!regions.count || !regions.items[0].block_count) return false;
    const keel_block_t *block = &program->blocks.data[regions.items[0].first_block];
    for (keel_op_id_t op = block->first_op; op < block->end_op; ++op) {
        if (!keel_str_is(keel_graph_name(graph, op), "compare")) continue;
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            if (number_of(graph, operands.items[i], out)) return true;
        return false;
    }
    return false;
}

static bool is_of(const keel_root_t *root, const char *before, const char *after) {
    keel_cause_t kind = root->difference.kind;
    return (kind == KEEL_CAUSE_SIZE || kind == KEEL_CAUSE_CONSTANT) && root->follows == KEEL_NONE &&
           strcmp(root->difference.old_value, before) == 0 &&
           strcmp(root->difference.new_value, after) == 0;
}

// What the loop carries has a dimension that changed by as much: it collects one element from each
// turn after the first few.
static uint32_t collected_by(keel_diff_t *diff, keel_op_id_t loop, double step) {
    const keel_operation_t *operation = &diff->after.program->operations.data[loop];
    if (fabs(step) < 2 && !keel_diff_is_librarys(diff, loop)) return KEEL_NONE;
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        keel_value_id_t value = operation->first_result + i;
        uint32_t root = diff->taint[value] - 1;
        if (root >= diff->root_count) continue;
        keel_ints_t dims =
            keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, value));
        for (uint32_t j = 0; j < diff->sizes.count; ++j) {
            const keel_drift_t *drift = &diff->sizes.drifts[j];
            if (drift->root == root && (double)(drift->after - drift->before) == step &&
                dims.count && dims.items[0] == drift->after)
                return root;
        }
    }
    return KEEL_NONE;
}

static bool starts_with(const keel_graph_t *graph, keel_op_id_t loop, int64_t size) {
    keel_list_t operands = keel_program_operands(graph->program, loop);
    double number;
    for (uint32_t i = 0; i < operands.count; ++i)
        if (number_of(graph, operands.items[i], &number) && number == (double)size) return true;
    return false;
}

static double bits_of(int64_t size) {
    double bits = 0;
    for (; size > 0; size /= 2)
        ++bits;
    return bits;
}

// A binary search: it starts with the size of the array it searches, and takes as many turns as
// that size has bits.
static uint32_t searched_by(const keel_diff_t *diff, keel_op_id_t loop, double before,
                            double after) {
    for (uint32_t i = 0; i < diff->sizes.count; ++i) {
        const keel_drift_t *drift = &diff->sizes.drifts[i];
        if (drift->root < diff->root_count && bits_of(drift->before) == before &&
            bits_of(drift->after) == after && starts_with(&diff->after, loop, drift->after) &&
            starts_with(&diff->before, diff->origin[loop], drift->before))
            return drift->root;
    }
    return KEEL_NONE;
}

static bool has_dim(const keel_graph_t *graph, keel_value_id_t value, double size) {
    keel_ints_t dims = keel_diff_dims(graph->program, keel_graph_type(graph, value));
    for (uint32_t i = 0; i < dims.count; ++i)
        if ((double)dims.items[i] == size) return true;
    return false;
}

// True if it is made from nothing that has this size.
static bool makes_dim(const keel_graph_t *graph, keel_op_id_t op, double size) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    keel_list_t operands = keel_program_operands(graph->program, op);
    if (operation->result_count != 1 || !has_dim(graph, operation->first_result, size))
        return false;
    for (uint32_t i = 0; i < operands.count; ++i)
        if (has_dim(graph, operands.items[i], size)) return false;
    return true;
}

// Something of that size is made on a line other than the loop's: so it is more than the number of
// turns.
static bool is_made_beside(keel_diff_t *diff, keel_op_id_t loop, double before, double after) {
    const keel_source_line_t *place = keel_graph_line(&diff->after, loop);
    for (keel_op_id_t op = 0; op < keel_program_op_count(diff->after.program); ++op) {
        if (diff->origin[op] == KEEL_NONE || diff->after.constant[op] != KEEL_NONE ||
            !makes_dim(&diff->after, op, after) ||
            !makes_dim(&diff->before, diff->origin[op], before))
            continue;
        const keel_source_line_t *line = keel_graph_line(&diff->after, op);
        if (line->identity && line->library_file.size &&
            (line->identity != place->identity || line->library_line != place->library_line))
            return true;
    }
    return false;
}

// An array with as many elements as the loop has turns follows from the loop's bound. If a library
// makes more of that size than its loop, it is the other way round: the user chose how many.
static void tell_loop(keel_diff_t *diff, keel_op_id_t loop, double before, double after) {
    const char *was = keel_diff_text(diff, "%.0f", before);
    const char *is = keel_diff_text(diff, "%.0f", after);
    uint32_t first = KEEL_NONE, size = KEEL_NONE;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        if (!is_of(&diff->roots[i], was, is)) continue;
        if (first == KEEL_NONE) first = i;
        if (size == KEEL_NONE && diff->roots[i].difference.kind == KEEL_CAUSE_SIZE) size = i;
    }
    if (first == KEEL_NONE) return;
    bool is_size = size != KEEL_NONE && keel_diff_is_librarys(diff, loop) &&
                   is_made_beside(diff, loop, before, after);
    uint32_t lead = is_size ? size : first;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != lead && is_of(&diff->roots[i], was, is)) diff->roots[i].follows = lead;
    if (is_size) return;
    uint32_t source = searched_by(diff, loop, before, after);
    if (source == KEEL_NONE) source = collected_by(diff, loop, after - before);
    if (source != KEEL_NONE && source != lead) {
        diff->roots[lead].follows = source;
        return;
    }
    keel_difference_t *difference = &diff->roots[lead].difference;
    // A loop over what was cut out: where it is cut decides.
    bool is_cut = difference->kind == KEEL_CAUSE_SIZE && difference->new_op != KEEL_NONE &&
                  keel_str_is(keel_graph_name(&diff->after, difference->new_op), "slice");
    if (is_cut) return;
    // A number that is also a size of the program is one cause, whichever was found first.
    difference->kind = KEEL_CAUSE_CONSTANT;
    difference->subject = "loop bound";
    difference->note =
        keel_note_text(keel_diff_is_librarys(diff, loop) ? KEEL_NOTE_COUNT_GIVEN : KEEL_NOTE_LOOP);
}

static void find_loops(keel_diff_t *diff) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(diff->after.program); ++op) {
        if (diff->origin[op] == KEEL_NONE ||
            !keel_str_is(keel_graph_name(&diff->after, op), "while"))
            continue;
        double before, after;
        if (bound_of(&diff->before, diff->origin[op], &before) &&
            bound_of(&diff->after, op, &after) && before != after && isfinite(before) &&
            isfinite(after))
            tell_loop(diff, op, before, after);
    }
}

// ---- branches ----------------------------------------------------------------------------------

static bool is_barrier(const keel_graph_t *graph, keel_op_id_t op) {
    return op != KEEL_NONE && keel_str_is(keel_graph_name(graph, op), "optimization_barrier");
}

// Both programs recompute something, but keep different values for that: the number of operands of
// the barrier before it shows this.
static bool keeps_others(const keel_diff_t *diff) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(diff->after.program); ++op) {
        keel_op_id_t was = diff->origin[op];
        if (was != KEEL_NONE && is_barrier(&diff->after, op) && is_barrier(&diff->before, was) &&
            keel_program_operands(diff->after.program, op).count !=
                keel_program_operands(diff->before.program, was).count)
            return true;
    }
    return false;
}

static uint32_t count_barriers(const keel_graph_t *graph) {
    uint32_t count = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op)
        count += is_barrier(graph, op);
    return count;
}

static bool has_one_structure(const keel_diff_t *diff) {
    uint32_t structures = 0;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        structures += diff->roots[i].difference.kind == KEEL_CAUSE_STRUCTURE &&
                      diff->roots[i].follows == KEEL_NONE;
    return structures == 1;
}

// What a remat policy moves is computed in different places, all for one reason.
static bool is_other_policy(const keel_diff_t *diff) {
    uint32_t before = count_barriers(&diff->before), after = count_barriers(&diff->after);
    return has_one_structure(diff) && before && after && (before != after || keeps_others(diff));
}

// The first barrier that jax.checkpoint wrote; NONE. A user's own has no such name.
static keel_op_id_t first_recomputation(const keel_graph_t *graph) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (!is_barrier(graph, op)) continue;
        keel_str_t name = keel_lines_primitive(graph, op);
        if (keel_str_contains(name, "remat") || keel_str_contains(name, "checkpoint")) return op;
    }
    return KEEL_NONE;
}

// Only one of the programs computes activations again. Without that, what a derivative needs is
// computed with the function itself, so the first operation that differs may be any.
static bool place_recomputation(keel_diff_t *diff, keel_difference_t *difference) {
    keel_op_id_t was = first_recomputation(&diff->before), is = first_recomputation(&diff->after);
    if ((was == KEEL_NONE) == (is == KEEL_NONE) || !has_one_structure(diff)) return false;
    bool is_after = is != KEEL_NONE;
    difference->place = keel_diff_place(diff, is_after, is_after ? is : was);
    return true;
}

static bool brings_key(const keel_diff_t *diff, uint32_t root) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].is_random && diff->roots[i].follows == root &&
            diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS)
            return true;
    return false;
}

static void tell_branches(keel_diff_t *diff) {
    bool has_other_policy = is_other_policy(diff);
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        if (difference->kind != KEEL_CAUSE_STRUCTURE || keel_note_advice(difference->note))
            continue;
        if (is_barrier(&diff->before, difference->old_op) ||
            is_barrier(&diff->after, difference->new_op) || has_other_policy ||
            (diff->roots[i].follows == KEEL_NONE && place_recomputation(diff, difference)))
            keel_diff_note(diff, difference, KEEL_NOTE_REMAT);
        else if (brings_key(diff, i))
            keel_diff_note(diff, difference, KEEL_NOTE_DRAWN);
    }
}

// ---- arrays of the host ------------------------------------------------------------------------

// The dimensions of a constant with contents; count 0 for anything else. One number in a shape may
// be written by whatever has that shape: jax.random.normal writes some.
static keel_ints_t array_dims(const keel_graph_t *graph, keel_op_id_t op) {
    keel_type_id_t type;
    keel_tensor_view_t tensor;
    if (graph->constant[op] != op || !keel_graph_tensor(graph, op, &type, &tensor) ||
        tensor.is_splat)
        return (keel_ints_t){NULL, 0};
    return keel_diff_dims(graph->program, type);
}

// They differ only in that one has `after` where the other has `before`.
static bool is_grown(keel_ints_t was, keel_ints_t is, long long before, long long after) {
    bool has_grown = false;
    if (was.count != is.count) return false;
    for (uint32_t i = 0; i < is.count; ++i) {
        if (was.items[i] == is.items[i]) continue;
        if (was.items[i] != before || is.items[i] != after) return false;
        has_grown = true;
    }
    return has_grown;
}

enum { ARRAYS = 64 }; // of each program that are looked at

static uint32_t list_arrays(const keel_graph_t *graph, keel_ints_t out[ARRAYS]) {
    uint32_t count = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program) && count < ARRAYS; ++op) {
        out[count] = array_dims(graph, op);
        count += out[count].count > 0;
    }
    return count;
}

static bool has_array(const keel_diff_t *diff, long long before, long long after) {
    keel_ints_t was[ARRAYS], is[ARRAYS];
    uint32_t was_count = list_arrays(&diff->before, was), is_count = list_arrays(&diff->after, is);
    for (uint32_t i = 0; i < is_count; ++i)
        for (uint32_t j = 0; j < was_count; ++j)
            if (is_grown(was[j], is[i], before, after)) return true;
    return false;
}

static bool read_size(const char *text, long long *out) {
    char *end;
    *out = strtoll(text, &end, 10);
    return *text && !*end;
}

// What a library closed over for the user has the line that uses it, which may be the user's.
static bool is_shown_as_librarys(const keel_difference_t *difference) {
    return difference->place.library_file && *difference->place.library_file;
}

static void tell_arrays(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        long long before, after;
        if (difference->kind == KEEL_CAUSE_SIZE && diff->roots[i].follows == KEEL_NONE &&
            !keel_note_advice(difference->note) && !is_shown_as_librarys(difference) &&
            read_size(difference->old_value, &before) && read_size(difference->new_value, &after) &&
            has_array(diff, before, after))
            keel_diff_note(diff, difference, KEEL_NOTE_HOST_ARRAY);
    }
}

// ---- libraries that call jax.jit for the user --------------------------------------------------

// They pass arrays as arguments; everything else becomes part of the program.
bool keel_diff_is_filtered(const keel_diff_t *diff) {
    const char *library = diff->site.library_file ? diff->site.library_file : "";
    return strstr(library, "/equinox/") || strstr(library, "/flax/nnx/");
}

static void tell_static_numbers(keel_diff_t *diff) {
    bool is_filtered = keel_diff_is_filtered(diff);
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        const keel_root_t *root = &diff->roots[i];
        if (difference->kind != KEEL_CAUSE_CONSTANT || !root->is_number ||
            keel_note_advice(difference->note))
            continue;
        bool is_count = root->is_integer && keel_diff_is_librarys(diff, difference->new_op);
        // If a library's function was traced, the number came by a call of its own.
        bool is_users = !diff->site.library_file || !*diff->site.library_file;
        if (is_filtered || (is_count && is_users))
            keel_diff_note(diff, difference,
                           is_count ? KEEL_NOTE_COUNT_GIVEN : KEEL_NOTE_STATIC_NUMBER);
    }
}

// ---- conversions -------------------------------------------------------------------------------

static bool is_cast(const keel_root_t *root) {
    const keel_difference_t *difference = &root->difference;
    return difference->kind == KEEL_CAUSE_STRUCTURE && root->follows == KEEL_NONE &&
           strcmp(difference->subject, "convert") == 0 &&
           (strcmp(difference->old_value, "nothing") == 0 ||
            strcmp(difference->new_value, "nothing") == 0);
}

static bool is_float(const keel_program_t *program, keel_type_id_t type) {
    const keel_type_t *found = keel_program_type(program, type);
    if (found->kind == KEEL_TYPE_TENSOR) found = keel_program_type(program, found->a);
    return found->kind == KEEL_TYPE_FLOAT;
}

// Numbers are converted to floats too, by JAX itself. For an array that is one already, somebody
// chose another precision.
static bool is_between_floats(const keel_diff_t *diff, const keel_difference_t *difference) {
    bool is_after = difference->new_op != KEEL_NONE;
    keel_op_id_t op = is_after ? difference->new_op : difference->old_op;
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    if (op == KEEL_NONE || !keel_str_is(keel_graph_name(graph, op), "convert")) return false;
    keel_list_t operands = keel_program_operands(graph->program, op);
    keel_value_id_t result = graph->program->operations.data[op].first_result;
    if (operands.count != 1) return false;
    keel_type_id_t from = keel_graph_type(graph, operands.items[0]);
    keel_type_id_t to = keel_graph_type(graph, result);
    return from != to && keel_diff_dims(graph->program, to).count &&
           is_float(graph->program, from) && is_float(graph->program, to);
}

static bool is_above(const keel_place_t *a, const keel_place_t *b) {
    return strcmp(a->file, b->file) == 0 && a->line < b->line;
}

static bool leads_cast(const keel_diff_t *diff, uint32_t root) {
    for (uint32_t i = 0; i < diff->folded_count; ++i) {
        const keel_difference_t *one = &diff->folded[i];
        if (one->follows == root && one->kind == KEEL_CAUSE_STRUCTURE &&
            strcmp(one->subject, "convert") == 0 &&
            (strcmp(one->old_value, "nothing") == 0 || strcmp(one->new_value, "nothing") == 0))
            return true;
    }
    return false;
}

// HLO: a value inside has another dtype, because only one program converts what goes into it, or
// because it is converted to another one. An argument of another dtype is its own cause.
static bool is_inside_cast(const keel_diff_t *diff, uint32_t root) {
    const keel_difference_t *difference = &diff->roots[root].difference;
    return diff->after.lender && difference->kind == KEEL_CAUSE_DTYPE &&
           diff->roots[root].follows == KEEL_NONE && difference->old_op != KEEL_NONE &&
           difference->new_op != KEEL_NONE &&
           !keel_graph_is_parameter(&diff->after, difference->new_op) &&
           (strcmp(difference->subject, "convert") == 0 || leads_cast(diff, root));
}

// TorchTPU: the constants of a program stand first, and those that operations take beside what is
// converted have its dtype. The topmost conversion stands for them.
static void lead_with_cast(keel_diff_t *diff, uint32_t root) {
    keel_difference_t *lead = &diff->roots[root].difference, *found = NULL;
    if (lead->kind != KEEL_CAUSE_DTYPE || strcmp(lead->subject, "constant") != 0) return;
    for (uint32_t i = 0; i < diff->folded_count; ++i) {
        keel_difference_t *one = &diff->folded[i];
        bool is_cast =
            one->follows == root && one->kind == KEEL_CAUSE_STRUCTURE &&
            strcmp(one->subject, "convert") == 0 &&
            (strcmp(one->old_value, "nothing") == 0 || strcmp(one->new_value, "nothing") == 0);
        if (is_cast && (!found || is_above(&one->place, &found->place))) found = one;
    }
    if (!found) return;
    keel_difference_t cast = *found;
    cast.follows = lead->follows;
    cast.folds = lead->folds;
    *found = *lead;
    found->follows = root;
    found->folds = 0;
    *lead = cast;
    keel_diff_note(diff, lead, KEEL_NOTE_CAST);
}

// One choice of a dtype, autocast for example, adds conversions to each layer. The topmost line
// stands for all.
static void tell_casts(keel_diff_t *diff) {
    uint32_t lead = KEEL_NONE, count = 0;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        if (keel_parameters_have_no_order(diff)) lead_with_cast(diff, i);
        if (is_inside_cast(diff, i))
            keel_diff_note(diff, &diff->roots[i].difference, KEEL_NOTE_CAST);
        if (!is_cast(&diff->roots[i])) continue;
        ++count;
        if (lead == KEEL_NONE ||
            is_above(&diff->roots[i].difference.place, &diff->roots[lead].difference.place))
            lead = i;
    }
    bool is_jax = diff->after.program->format == KEEL_FORMAT_MLIR;
    if (count < 2 && !(is_jax && count && is_between_floats(diff, &diff->roots[lead].difference)))
        return;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != lead && is_cast(&diff->roots[i])) diff->roots[i].follows = lead;
    keel_diff_note(diff, &diff->roots[lead].difference, KEEL_NOTE_CAST);
}

// ---- operations by themselves ------------------------------------------------------------------

// All operations with a known line have the same one.
static bool is_on_one_line(keel_graph_t *graph) {
    const keel_program_t *program = graph->program;
    uint64_t line = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        uint64_t identity =
            keel_graph_line_at(graph, program->operations.data[op].location)->identity;
        if (identity && line && identity != line) return false;
        if (identity) line = identity;
    }
    return line != 0;
}

// An operation that the client runs outside all traced functions: its only line of the user's is
// not in a traced function.
static bool is_single_operation(keel_graph_t *graph) {
    enum { FEW = 256 };
    const keel_program_t *program = graph->program;
    keel_str_t name = keel_program_str(program, program->name);
    if (program->format != KEEL_FORMAT_MLIR || keel_program_op_count(program) > FEW ||
        keel_torch_tpu_is_name(name) || !is_on_one_line(graph))
        return false;
    keel_site_t site;
    keel_site_of(program, &(keel_stack_t){.application = graph->application}, graph->arena, &site);
    return !site.is_traced && *site.place.file && !keel_str_is(name, "jit__fun");
}

static void tell_eager(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        bool is_inside = difference->kind == KEEL_CAUSE_SIZE ||
                         difference->kind == KEEL_CAUSE_CONSTANT ||
                         difference->kind == KEEL_CAUSE_STRUCTURE;
        if (is_inside && !keel_note_advice(difference->note))
            keel_diff_note(diff, difference, KEEL_NOTE_EAGER);
    }
}

void keel_diff_circumstances(keel_diff_t *diff) {
    if (!diff->root_count) return;
    keel_diff_axes(diff);
    tell_casts(diff);
    if (diff->after.lender) {
        keel_diff_modes(diff);
        keel_diff_settings(diff);
        return;
    }
    find_loops(diff);
    tell_branches(diff);
    tell_static_numbers(diff);
    tell_arrays(diff);
    keel_diff_shifts(diff);
    if (is_single_operation(&diff->after) && is_single_operation(&diff->before)) tell_eager(diff);
}
