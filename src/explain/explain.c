#include "explain/explain.h"

#include <stdlib.h>

#include "explain/inline.h"
#include "explain/pair.h"

// ---- what follows from what --------------------------------------------------------------------

// The most telling first: what the user passes, what was traced, what is set outside.
static const uint8_t ranks[KEEL_CAUSE_COUNT] = {
    [KEEL_CAUSE_SHAPE] = 0,    [KEEL_CAUSE_DTYPE] = 1,     [KEEL_CAUSE_WEAK_TYPE] = 2,
    [KEEL_CAUSE_GRADIENT] = 3, [KEEL_CAUSE_ARGUMENTS] = 4, [KEEL_CAUSE_STRUCTURE] = 5,
    [KEEL_CAUSE_SIZE] = 6,     [KEEL_CAUSE_CONSTANT] = 7,  [KEEL_CAUSE_PRECISION] = 8,
    [KEEL_CAUSE_DEVICES] = 9,  [KEEL_CAUSE_SHARDING] = 10, [KEEL_CAUSE_DONATION] = 11,
    [KEEL_CAUSE_LAYOUT] = 12,  [KEEL_CAUSE_OPTION] = 13,   [KEEL_CAUSE_FLAG] = 14,
    [KEEL_CAUSE_BACKEND] = 15, [KEEL_CAUSE_RETRACE] = 16,  [KEEL_CAUSE_CACHE] = 17,
    [KEEL_CAUSE_FIRST] = 18,   [KEEL_CAUSE_EDIT] = 4,      [KEEL_CAUSE_NESTED_JIT] = 5,
};

static uint32_t top_of(const keel_diff_t *diff, uint32_t root) {
    for (uint32_t step = 0; step < diff->root_count && diff->roots[root].follows != KEEL_NONE;
         ++step)
        root = diff->roots[root].follows;
    return root;
}

static void fold_root(keel_diff_t *diff, uint32_t root, uint32_t under) {
    // Two sizes may each explain the other.
    if (under >= diff->root_count || top_of(diff, under) == root) return;
    diff->roots[root].follows = under;
}

// Two rules may each fold a root under the other's: then the first of them leads.
static void break_cycles(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        uint32_t at = i;
        for (uint32_t step = 0; step < diff->root_count && at != KEEL_NONE; ++step) {
            at = diff->roots[at].follows;
            if (at != i) continue;
            diff->roots[i].follows = KEEL_NONE;
            break;
        }
    }
}

static bool is_about(const keel_root_t *root, const char *what) {
    return strncmp(root->difference.subject, what, strlen(what)) == 0;
}

// Shardings of results and the names of a mesh's axes follow from how arguments are sharded; a mesh
// of another size moves all of them.
static void fold_shardings(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DEVICES);
    for (uint32_t i = 0; top == KEEL_NONE && i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_SHARDING &&
            !is_about(&diff->roots[i], "mesh ") && !is_about(&diff->roots[i], "result "))
            top = i;
    if (top == KEEL_NONE) top = keel_diff_find(diff, KEEL_CAUSE_SHARDING);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_SHARDING) continue;
        // With explicit axes the sharding of each operation is worked out from its operands'.
        bool is_inside =
            root->difference.new_op != KEEL_NONE && diff->roots[top].difference.new_op == KEEL_NONE;
        if (diff->roots[top].difference.kind == KEEL_CAUSE_DEVICES || is_about(root, "mesh ") ||
            is_about(root, "result ") || is_inside)
            fold_root(diff, i, top);
    }
}

// What follows from the number of dimensions of an argument: layouts, which list them, and axes,
// which count them.
static void fold_ranks(keel_diff_t *diff) {
    uint32_t top = diff->rank_root;
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->follows != KEEL_NONE || root->difference.new_op == KEEL_NONE) continue;
        if (root->difference.kind == KEEL_CAUSE_LAYOUT ||
            (root->difference.kind == KEEL_CAUSE_CONSTANT && keel_diff_is_axis(&root->difference)))
            fold_root(diff, i, top);
    }
}

// Everything that drifted from that root is proportional to the number of devices.
static bool is_per_device(const keel_diff_t *diff, uint32_t root, const keel_root_t *devices) {
    int64_t had = (int64_t)devices->before, has = (int64_t)devices->after;
    bool any = false;
    for (uint32_t i = 0; i < diff->sizes.count; ++i) {
        const keel_drift_t *drift = &diff->sizes.drifts[i];
        if (drift->root != root) continue;
        if (drift->before % had || drift->after % has || drift->before / had != drift->after / has)
            return false;
        any = true;
    }
    return any;
}

// A batch that is split over all devices grows with their number; under pmap it has to.
static void fold_shapes(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DEVICES);
    if (top == KEEL_NONE || diff->roots[top].before <= 0 || diff->roots[top].after <= 0) return;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_SHAPE &&
            diff->roots[i].follows == KEEL_NONE && is_per_device(diff, i, &diff->roots[top]))
            fold_root(diff, i, top);
}

static bool is_share(double before, double after, const keel_root_t *devices) {
    return before > 0 && after > 0 && before * devices->before == after * devices->after;
}

// The share of each device, and how many elements a mean divides by.
static void fold_shares(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DEVICES);
    if (top == KEEL_NONE || diff->roots[top].before <= 0 || diff->roots[top].after <= 0) return;
    keel_root_t *devices = &diff->roots[top];
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        const keel_difference_t *difference = &root->difference;
        if (root->follows != KEEL_NONE) continue;
        if (difference->kind == KEEL_CAUSE_SIZE &&
            is_share(strtod(difference->old_value, NULL), strtod(difference->new_value, NULL),
                     devices))
            fold_root(diff, i, top);
        bool is_count = root->before == devices->before && root->after == devices->after;
        if (difference->kind == KEEL_CAUSE_CONSTANT && root->is_number &&
            (is_count || is_share(root->before, root->after, devices)))
            fold_root(diff, i, top);
    }
}

// HLO: the client orders its operations by the results, so the same ones in another order are no
// cause if there is one.
static void fold_reordered(keel_diff_t *diff) {
    uint32_t top = 0;
    while (top < diff->root_count &&
           (diff->roots[top].is_reordered || diff->roots[top].follows != KEEL_NONE))
        ++top;
    for (uint32_t i = 0; top < diff->root_count && i < diff->root_count; ++i)
        if (diff->roots[i].is_reordered && diff->roots[i].follows == KEEL_NONE)
            fold_root(diff, i, top);
}

// A constant, or the window of an operation whose result keeps its shape.
static bool is_setting(keel_diff_t *diff, const keel_root_t *root) {
    if (root->difference.kind == KEEL_CAUSE_CONSTANT) return true;
    keel_op_id_t before = root->difference.old_op, after = root->difference.new_op;
    if (root->difference.kind != KEEL_CAUSE_SIZE || before == KEEL_NONE || after == KEEL_NONE)
        return false;
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    return p->result_count && q->result_count &&
           keel_graph_type_hash(&diff->before, keel_graph_type(&diff->before, p->first_result)) ==
               keel_graph_type_hash(&diff->after, keel_graph_type(&diff->after, q->first_result));
}

// Sizes that were found after a constant, and branches on its line.
static void fold_settings(keel_diff_t *diff) {
    uint32_t structure = keel_diff_find(diff, KEEL_CAUSE_STRUCTURE);
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->follows != KEEL_NONE || !is_setting(diff, root)) continue;
        if (root->is_number)
            fold_root(diff, i,
                      keel_pair_explain_number(diff, root->difference.new_op, root->before,
                                               root->after, root->is_coarse));
        if (structure == KEEL_NONE || root->follows != KEEL_NONE) continue;
        const keel_place_t *place = &diff->roots[structure].difference.place;
        if (keel_diff_same_line(diff, &root->difference.place, place))
            fold_root(diff, i, structure);
    }
}

// The line is the user's, and not the call of the traced function.
static bool is_inside(keel_diff_t *diff, keel_op_id_t op) {
    const keel_source_line_t *line = keel_graph_line(&diff->after, op);
    return line->identity && !line->is_foreign &&
           (line->line != diff->site.line || !keel_str_is(line->file, diff->site.file));
}

// Data that a library closes over have no line in the program: they are shown at the first of the
// user's lines that uses them.
static void place_closed_over(keel_diff_t *diff) {
    if (diff->after.program->format != KEEL_FORMAT_MLIR) return;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *root = &diff->roots[i].difference;
        keel_op_id_t op = root->new_op;
        bool is_constant = op != KEEL_NONE && diff->after.constant[op] == op;
        if (!is_constant || is_inside(diff, op)) continue;
        uint32_t k = 0;
        while (k < diff->folded_count &&
               (diff->folded[k].follows != i || diff->folded[k].new_op == KEEL_NONE ||
                !is_inside(diff, diff->folded[k].new_op)))
            ++k;
        if (k < diff->folded_count) root->place = diff->folded[k].place;
    }
}

// HLO: gradients from PyTorch's engine have no line of their own and follow from what is
// differentiated; host numbers come and go with the operations that take them.
static bool is_derived_there(const keel_diff_t *diff, const keel_root_t *root) {
    if (root->difference.kind == KEEL_CAUSE_GRADIENT) return false;
    if (root->difference.kind == KEEL_CAUSE_ARGUMENTS) return root->is_random;
    bool is_after = root->difference.new_op != KEEL_NONE;
    keel_op_id_t op = is_after ? root->difference.new_op : root->difference.old_op;
    return op != KEEL_NONE && (is_after ? &diff->after : &diff->before)->lender[op] != op;
}

static void fold_derived(keel_diff_t *diff) {
    if (!diff->before.lender || !diff->after.lender) return;
    uint32_t top = 0;
    while (top < diff->root_count &&
           (diff->roots[top].follows != KEEL_NONE || is_derived_there(diff, &diff->roots[top])))
        ++top;
    for (uint32_t i = 0; top < diff->root_count && i < diff->root_count; ++i)
        if (is_derived_there(diff, &diff->roots[i])) fold_root(diff, i, top);
}

// ---- handing over ------------------------------------------------------------------------------

typedef struct order_t {
    uint32_t root, rank;
} order_t;

static int by_rank(const void *a, const void *b) {
    const order_t *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->root < y->root ? -1 : x->root > y->root;
}

static keel_status_t give_explanation(keel_diff_t *diff, keel_explanation_t *out) {
    if (!diff->root_count) return NULL;
    break_cycles(diff);
    order_t order[KEEL_DIFF_ROOTS];
    uint32_t place[KEEL_DIFF_ROOTS], count = 0;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].follows == KEEL_NONE && !keel_diff_is_idle(diff, i))
            order[count++] = (order_t){i, ranks[diff->roots[i].difference.kind]};
    if (!count) return NULL;
    qsort(order, count, sizeof *order, by_rank);
    for (uint32_t i = 0; i < count; ++i) {
        keel_difference_t difference = diff->roots[order[i].root].difference;
        difference.follows = KEEL_NONE;
        difference.folds = 0;
        place[order[i].root] = i;
        KEEL_TRY(keel_explanation_add(out, &difference));
    }
    out->root_total += diff->roots_dropped;
    // First the roots that turned out to follow from another, then the rest.
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        if (diff->roots[i].follows == KEEL_NONE) continue;
        keel_difference_t difference = diff->roots[i].difference;
        difference.follows = place[top_of(diff, i)];
        KEEL_TRY(keel_explanation_add(out, &difference));
    }
    uint32_t structure = keel_diff_find(diff, KEEL_CAUSE_STRUCTURE);
    // For types that changed because operations came or went: the root of these operations.
    uint32_t pending = structure != KEEL_NONE ? structure : order[0].root;
    diff->roots[pending].folded += diff->pending;
    for (uint32_t i = 0; i < diff->folded_count; ++i) {
        keel_difference_t difference = diff->folded[i];
        uint32_t root = difference.follows < diff->root_count ? difference.follows : pending;
        --diff->roots[root].folded;
        difference.follows = place[top_of(diff, root)];
        KEEL_TRY(keel_explanation_add(out, &difference));
    }
    // Those that were not kept are counted too.
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        if (keel_diff_is_idle(diff, i)) continue;
        uint32_t at = place[top_of(diff, i)];
        if (at >= out->root_count) continue;
        out->roots[at].folds += diff->roots[i].folded;
        out->folded_total += diff->roots[i].folded;
    }
    return NULL;
}

// ---- the comparison ----------------------------------------------------------------------------

// Two programs have nothing in common if fewer than this percentage of operations have a
// counterpart; the second holds if they share no argument.
enum { UNRELATED = 10, STRANGERS = 50 };

static bool shares_name(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->before_count; ++i)
        if (diff->arguments_before[i].counterpart != KEEL_NONE &&
            diff->arguments_before[i].name.size)
            return true;
    return false;
}

// One argument agrees by name, or most agree by type.
static bool shares_arguments(const keel_diff_t *diff) {
    uint32_t fewer =
        diff->before_count < diff->after_count ? diff->before_count : diff->after_count;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < diff->before_count; ++i)
        shared += diff->arguments_before[i].counterpart != KEEL_NONE;
    return shares_name(diff) || !fewer || shared > fewer / 2;
}

// With another dtype, all operations may differ. A number that became a condition belongs to
// another function.
static bool is_of_other_dtype(const keel_diff_t *diff) {
    return keel_diff_find(diff, KEEL_CAUSE_DTYPE) != KEEL_NONE && !diff->fit.crosses &&
           diff->before_count == diff->after_count &&
           keel_str_equal(keel_program_str(diff->before.program, diff->before.program->name),
                          keel_program_str(diff->after.program, diff->after.program->name));
}

static bool is_unrelated(const keel_diff_t *diff) {
    if (!diff->alignable || is_of_other_dtype(diff)) return false;
    uint64_t percent = (uint64_t)diff->aligned * 100 / diff->alignable;
    return percent < (shares_arguments(diff) ? UNRELATED : STRANGERS);
}

// "make.<locals>.step at /home/u/train.py:12"
static bool is_users(const char *origin, const char *application) {
    const char *at = strstr(origin, " at "), *end = strrchr(origin, ':');
    return at && end && end > at + 4 &&
           !keel_is_foreign_file((keel_str_t){at + 4, (size_t)(end - at - 4)}, application);
}

// An argument in only one program that was passed both times.
static bool shares_unused(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->before_count; ++i)
        if (diff->arguments_before[i].passing == KEEL_PASSED) return true;
    for (uint32_t i = 0; i < diff->after_count; ++i)
        if (diff->arguments_after[i].passing == KEEL_PASSED) return true;
    return false;
}

// The same function of the user's, which does something else now. A library's function may be
// shared by two of the user's; its gradient takes arguments without names.
static bool is_one_function(keel_diff_t *diff) {
    if (!shares_name(diff) && !shares_unused(diff)) return false;
    keel_site_t before, after;
    const keel_stack_t none = {.application = diff->site.application};
    keel_site_of(diff->before.program, &none, &diff->arena, &before);
    keel_site_of(diff->after.program, &none, &diff->arena, &after);
    // A function that only returns its arguments has no line to identify it.
    if (before.is_traced != after.is_traced &&
        (shares_unused(diff) || keel_graph_is_idle(&diff->before) ||
         keel_graph_is_idle(&diff->after)))
        return is_users(before.is_traced ? before.origin : after.origin, none.application) &&
               keel_str_equal(keel_program_str(diff->before.program, diff->before.program->name),
                              keel_program_str(diff->after.program, diff->after.program->name));
    return before.is_traced && after.is_traced && is_users(after.origin, none.application) &&
           strcmp(before.origin, after.origin) == 0;
}

static const keel_place_t nowhere = {.file = "", .function = "", .call_file = ""};

static keel_difference_t plain(keel_cause_t kind, const keel_place_t *place) {
    return (keel_difference_t){.kind = kind,
                               .subject = "",
                               .old_value = "",
                               .new_value = "",
                               .note = "",
                               .place = *place,
                               .old_op = KEEL_NONE,
                               .new_op = KEEL_NONE,
                               .follows = KEEL_NONE};
}

// jax.jit(jax.jit(f)): the program has the name of the function that it calls.
static bool is_twice_jitted(const keel_program_t *program, keel_str_t function) {
    keel_str_t name = keel_program_str(program, program->name), jit = KEEL_STR("jit_");
    return keel_str_starts(name, jit) &&
           keel_str_equal((keel_str_t){name.data + jit.size, name.size - jit.size}, function);
}

// A function that only one of the two programs keeps separate.
static keel_status_t tell_nested(keel_diff_t *diff, const keel_inlined_t *inlined, bool is_after) {
    static const char *const of_helpers[] = {"part of its caller", "a jit of its own"};
    static const char *const of_programs[] = {"jitted once", "jitted twice"};
    if (!inlined->is_made) return NULL;
    const char *const *words =
        is_twice_jitted(&inlined->program, inlined->function) ? of_programs : of_helpers;
    keel_place_t place = *inlined->place.file ? inlined->place : diff->site;
    bool is_call = place.line == diff->site.line && strcmp(place.file, diff->site.file) == 0;
    if (!is_call) {
        place.call_file = diff->site.file;
        place.call_line = diff->site.line;
    }
    keel_difference_t difference = plain(KEEL_CAUSE_NESTED_JIT, is_call ? &diff->site : &place);
    difference.subject =
        keel_diff_text(diff, "%.*s", (int)inlined->function.size, inlined->function.data);
    difference.old_value = words[!is_after];
    difference.new_value = words[is_after];
    if (inlined->more)
        difference.note = keel_diff_text(diff, "and %u more function%s", inlined->more,
                                         inlined->more == 1 ? "" : "s");
    uint32_t root;
    return keel_diff_root(diff, &difference, &root);
}

// An explanation refers to operations of the original programs.
static void name_origins(const keel_inlined_t *inlined, keel_difference_t *list, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (inlined[0].is_made && list[i].old_op != KEEL_NONE)
            list[i].old_op = inlined[0].origin[list[i].old_op];
        if (inlined[1].is_made && list[i].new_op != KEEL_NONE)
            list[i].new_op = inlined[1].origin[list[i].new_op];
    }
}

static keel_status_t compare_sides(keel_diff_t *diff, const keel_side_t *old_side,
                                   const keel_side_t *new_side, const keel_inlined_t inlined[2],
                                   keel_explanation_t *out) {
    const keel_program_t *after = diff->after.program;
    diff->rewired = diff->rank_root = diff->baked_root = KEEL_NONE;
    KEEL_TRY(tell_nested(diff, &inlined[0], false));
    KEEL_TRY(tell_nested(diff, &inlined[1], true));
    size_t values = after->value_types.count ? after->value_types.count : 1;
    KEEL_TRY(keel_arena_array(&diff->arena, values, sizeof *diff->taint, (void **)&diff->taint));
    memset(diff->taint, 0, values * sizeof *diff->taint);
    size_t types = after->types.count ? after->types.count : 1;
    KEEL_TRY(keel_arena_array(&diff->arena, types, sizeof *diff->learned, (void **)&diff->learned));
    memset(diff->learned, 0, types * sizeof *diff->learned);
    KEEL_TRY(keel_diff_signature(diff, new_side->sources));
    KEEL_TRY(keel_diff_pair(diff));
    out->alike = diff->alignable ? (double)diff->aligned / (double)diff->alignable : 1;
    bool are_strangers = is_unrelated(diff);
    out->unrelated = are_strangers && !is_one_function(diff);
    if (out->unrelated) return NULL;
    KEEL_TRY(keel_diff_compare(diff));
    KEEL_TRY(keel_diff_powers(diff));
    KEEL_TRY(keel_diff_gradient(diff));
    KEEL_TRY(keel_diff_structure(diff));
    keel_diff_choices(diff);
    keel_diff_windows(diff);
    KEEL_TRY(keel_diff_results(diff));
    KEEL_TRY(keel_diff_random(diff));
    KEEL_TRY(keel_diff_rest(diff));
    fold_shardings(diff);
    fold_ranks(diff);
    fold_shapes(diff);
    fold_shares(diff);
    KEEL_TRY(keel_diff_optimizer(diff));
    KEEL_TRY(keel_diff_left_alone(diff, out));
    fold_reordered(diff);
    KEEL_TRY(keel_diff_updated(diff, new_side->sources));
    keel_diff_equal_numbers(diff);
    KEEL_TRY(keel_diff_copied(diff));
    KEEL_TRY(keel_diff_grown(diff));
    KEEL_TRY(keel_diff_dtypes(diff));
    KEEL_TRY(keel_diff_arms(diff, old_side, new_side));
    keel_diff_subsume(diff, are_strangers);
    fold_settings(diff);
    keel_diff_unrolled(diff);
    KEEL_TRY(keel_diff_numbers(diff, new_side->sources));
    fold_derived(diff);
    KEEL_TRY(keel_diff_edit(diff, old_side, new_side));
    place_closed_over(diff);
    keel_diff_shuffled(diff);
    KEEL_TRY(keel_diff_subjects(diff));
    keel_diff_circumstances(diff);
    KEEL_TRY(keel_diff_lead_columns(diff));
    return give_explanation(diff, out);
}

keel_place_t keel_side_place(const keel_side_t *side, keel_arena_t *arena) {
    keel_site_t site;
    if (side->site)
        site.place = *side->site;
    else
        keel_site_of(side->program, NULL, arena, &site);
    keel_str_t file = keel_str(site.place.file), name;
    bool is_told = site.place.application && *site.place.application;
    if (is_told || !keel_is_library_file(file)) return site.place;
    // A journal that does not name applications: a line that asked is the user's.
    keel_status_t status = keel_arena_str(arena, keel_package_name(file), &name);
    site.place.application = status ? NULL : name.data;
    keel_status_ignore(status);
    return site.place;
}

// The two graphs, of the programs as they are compared.
static keel_status_t build_graphs(keel_diff_t *diff, const keel_program_t *before,
                                  const keel_program_t *after, keel_inlined_t out_inlined[2]) {
    const char *application = diff->site.application;
    KEEL_TRY(keel_graph_build(&diff->before, before, application, &diff->arena));
    KEEL_TRY(keel_graph_build(&diff->after, after, application, &diff->arena));
    KEEL_TRY(keel_inline(&diff->before, &diff->after, &out_inlined[0]));
    KEEL_TRY(keel_inline(&diff->after, &diff->before, &out_inlined[1]));
    if (out_inlined[0].is_made)
        KEEL_TRY(
            keel_graph_build(&diff->before, &out_inlined[0].program, application, &diff->arena));
    if (out_inlined[1].is_made)
        KEEL_TRY(
            keel_graph_build(&diff->after, &out_inlined[1].program, application, &diff->arena));
    return NULL;
}

static keel_status_t explain_programs(const keel_side_t *old_side, const keel_side_t *new_side,
                                      keel_explanation_t *out) {
    keel_diff_t diff = {.arguments_before = NULL};
    keel_arena_initialize(&diff.arena, (size_t)1 << 16);
    diff.site = keel_side_place(new_side, &diff.arena);
    diff.sent = new_side->sent;
    diff.made = new_side->made;
    diff.made_count = new_side->made_count;
    diff.is_of_another_run = old_side->sources != NULL;
    diff.names_before = old_side->names;
    diff.names_after = new_side->names;
    keel_inlined_t inlined[2];
    keel_status_t status =
        keel_columns_find(old_side->call, new_side->call, &diff.arena, &diff.columns);
    if (!status) status = build_graphs(&diff, old_side->program, new_side->program, inlined);
    if (!status) status = compare_sides(&diff, old_side, new_side, inlined, out);
    if (!status) {
        name_origins(inlined, out->roots, out->root_count);
        name_origins(inlined, out->folded, out->folded_count);
    }
    bool lacks_memory = diff.lacks_memory || diff.before.lacks_memory || diff.after.lacks_memory;
    if (!status && lacks_memory)
        status = keel_status_make(KEEL_NO_MEMORY, "no memory to explain a program");
    keel_arena_deinitialize(&diff.arena);
    return status;
}

// ---- with the rest of the key ------------------------------------------------------------------

// Options that a client derives from the program: how many arguments there are, how many
// partitions.
static bool is_derived(const keel_difference_t *difference) {
    static const char *const derived[] = {"spmd",   "num_partitions",      "num_replicas",
                                          "device", "parameter_is_tupled", "shardy"};
    if (difference->kind == KEEL_CAUSE_DEVICES) return true;
    if (difference->kind != KEEL_CAUSE_OPTION) return false;
    for (size_t i = 0; i < sizeof derived / sizeof *derived; ++i)
        if (strstr(difference->subject, derived[i])) return true;
    return false;
}

// An array on another device is committed to it. Then the device is the cause.
static keel_status_t put_device_first(const keel_explanation_t *components, keel_explanation_t *out,
                                      bool *out_done) {
    *out_done = false;
    if (!out->root_count || !components->root_count) return NULL;
    keel_difference_t device = components->roots[0], first = out->roots[0];
    if (!keel_note_leads(device.note, KEEL_NOTE_OTHER_DEVICE) ||
        !keel_note_leads(first.note, KEEL_NOTE_COMMITTED))
        return NULL;
    if (out->root_count == KEEL_ROOTS_KEPT) return NULL;
    device.place = first.place;
    device.follows = KEEL_NONE;
    KEEL_TRY(keel_explanation_add(out, &device));
    --out->root_total;
    out->roots[0] = out->roots[--out->root_count];
    out->roots[0].folds = first.folds;
    first.folds = 0;
    first.follows = 0;
    *out_done = true;
    return keel_explanation_add(out, &first);
}

static keel_status_t add_components(keel_explanation_t *components, keel_explanation_t *out) {
    uint32_t place[KEEL_ROOTS_KEPT] = {0};
    bool has_program_root = out->root_total > 0, is_device_first;
    KEEL_TRY(put_device_first(components, out, &is_device_first));
    for (size_t i = is_device_first; i < components->root_count; ++i) {
        keel_difference_t difference = components->roots[i];
        bool follows = has_program_root && is_derived(&difference);
        difference.folds = 0;
        difference.follows = follows ? 0 : KEEL_NONE;
        place[i] = follows ? 0 : (uint32_t)out->root_count;
        KEEL_TRY(keel_explanation_add(out, &difference));
    }
    for (size_t i = 0; i < components->folded_count; ++i) {
        keel_difference_t difference = components->folded[i];
        difference.follows = place[difference.follows];
        KEEL_TRY(keel_explanation_add(out, &difference));
    }
    return NULL;
}

static keel_status_t explain_components(const keel_side_t *old_side, const keel_side_t *new_side,
                                        keel_explanation_t *out) {
    keel_explanation_t components;
    keel_explanation_initialize(&components);
    keel_status_t status =
        keel_explain_components(old_side->key, new_side->key, KEEL_NONE, &components);
    if (!status) status = add_components(&components, out);
    keel_explanation_deinitialize(&components);
    return status;
}

// A program that cannot be keyed never equals another. Whether an argument is committed to a device
// may not be in the key, but JAX asks again.
static keel_status_t is_same_program(const keel_side_t *a, const keel_side_t *b, bool *out) {
    *out = false;
    if (a->program && b->program && keel_explain_is_commitment(a->program, b->program)) return NULL;
    if (a->key && b->key) {
        *out = keel_digest_equal(&a->key->components[KEEL_COMPONENT_PROGRAM],
                                 &b->key->components[KEEL_COMPONENT_PROGRAM]);
        return NULL;
    }
    if (!a->program || !b->program) return NULL;
    keel_digest_t x, y;
    keel_status_t status = keel_key_program(a->program, &x);
    if (!status) status = keel_key_program(b->program, &y);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    *out = !status && keel_digest_equal(&x, &y);
    keel_status_ignore(status);
    return NULL;
}

// Two programs that differ, one of which cannot be read.
static keel_status_t tell_of_the_unknown(const keel_side_t *old_side, const keel_side_t *new_side,
                                         keel_explanation_t *out) {
    if (old_side->program && new_side->program) { // no function is the entry
        out->alike = 0;
        out->unrelated = true;
        return NULL;
    }
    keel_difference_t difference = plain(KEEL_CAUSE_STRUCTURE, &nowhere);
    difference.subject = "program";
    difference.note = "one of the two programs is missing";
    return keel_explanation_add(out, &difference);
}

static bool has_entry(const keel_program_t *program) {
    return program && program->entry != KEEL_NONE;
}

keel_status_t keel_explain(const keel_side_t *old_side, const keel_side_t *new_side,
                           keel_explanation_t *out) {
    bool is_same;
    KEEL_TRY(is_same_program(old_side, new_side, &is_same));
    if (!is_same && has_entry(old_side->program) && has_entry(new_side->program))
        KEEL_TRY(explain_programs(old_side, new_side, out));
    else if (!is_same)
        KEEL_TRY(tell_of_the_unknown(old_side, new_side, out));
    if (out->unrelated) return NULL;
    if (old_side->key && new_side->key) KEEL_TRY(explain_components(old_side, new_side, out));
    if (out->root_total) return NULL;
    keel_difference_t difference = plain(KEEL_CAUSE_RETRACE, &nowhere);
    if (new_side->program || new_side->site)
        difference.place = keel_side_place(new_side, &out->arena);
    return keel_explanation_add(out, &difference);
}
