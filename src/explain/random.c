// A different generator of random numbers. JAX computes threefry's numbers with ordinary
// operations, and has one operation for rbg and unsafe_rbg. Every difference where random numbers
// are made follows from that.
#include <string.h>

#include "explain/diff.h"

// Lines of the user's source where random numbers are made, of both programs.
typedef struct draws_t {
    keel_diff_t *diff;
    keel_map_t lines;
    keel_op_id_t seed; // the first operation of `after` that makes a key of a seed; NONE
    bool was_rbg, is_rbg, had_threefry, has_threefry;
} draws_t;

static bool is_threefry(const keel_program_t *program, uint32_t function) {
    return keel_str_contains(keel_program_str(program, program->functions.data[function].name),
                             "threefry");
}

static bool is_rbg(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_str_is(keel_graph_name(graph, op), "rng_bit_generator");
}

static void find_generators(const keel_graph_t *graph, bool *out_is_rbg, bool *out_is_threefry) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program) && !*out_is_rbg; ++op)
        *out_is_rbg = is_rbg(graph, op);
    for (uint32_t i = 0; i < program->functions.count && !*out_is_threefry; ++i)
        *out_is_threefry = is_threefry(program, i);
}

static bool is_draw(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    keel_str_t primitive = KEEL_STR("");
    uint32_t callee = keel_graph_callee(graph, op), function = graph->function_of[op];
    if (is_rbg(graph, op) || (callee != KEEL_NONE && is_threefry(program, callee)) ||
        (function != KEEL_NONE && is_threefry(program, function)))
        return true;
    keel_program_frames(program, program->operations.data[op].location, NULL, 0, &primitive);
    return keel_str_contains(primitive, "/random_");
}

static keel_op_id_t find_seed(const keel_graph_t *graph) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        keel_str_t primitive = KEEL_STR("");
        keel_program_frames(program, program->operations.data[op].location, NULL, 0, &primitive);
        if (keel_str_contains(primitive, "/random_seed")) return op;
    }
    return KEEL_NONE;
}

static keel_status_t find_draws(draws_t *draws, keel_graph_t *graph) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (!is_draw(graph, op)) continue;
        const keel_source_line_t *line = keel_graph_line(graph, op);
        if (line->identity)
            KEEL_TRY(
                keel_map_put(&draws->lines, keel_bytes(&line->identity, sizeof line->identity), 1));
    }
    return NULL;
}

static bool is_on_such_a_line(const draws_t *draws, keel_graph_t *graph, keel_op_id_t op) {
    if (op == KEEL_NONE) return false;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    return line->identity &&
           keel_map_find(&draws->lines, keel_bytes(&line->identity, sizeof line->identity));
}

static bool is_about_random(const draws_t *draws, const keel_difference_t *difference) {
    return is_on_such_a_line(draws, &draws->diff->after, difference->new_op) ||
           is_on_such_a_line(draws, &draws->diff->before, difference->old_op);
}

static uint32_t find_generator(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (keel_note_leads(diff->roots[i].difference.note, KEEL_NOTE_GENERATOR)) return i;
    return KEEL_NONE;
}

static bool stands_before(const keel_place_t *a, const keel_place_t *b) {
    return a->line && a->line < b->line && strcmp(a->file, b->file) == 0;
}

// Where the key is made, if that decides it; otherwise the first difference.
static keel_place_t first_place(const draws_t *draws) {
    keel_diff_t *diff = draws->diff;
    if (draws->seed != KEEL_NONE) return keel_diff_place(diff, true, draws->seed);
    const keel_place_t *place = NULL;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *one = &diff->roots[i].difference;
        if (is_about_random(draws, one) && (!place || stands_before(&one->place, place)))
            place = &one->place;
    }
    return place ? *place : diff->site;
}

static keel_status_t explain_draws(draws_t *draws, uint32_t *out) {
    keel_difference_t difference = keel_diff_of_call(draws->diff, KEEL_CAUSE_OPTION, "jax.random",
                                                     draws->was_rbg ? KEEL_RBG : KEEL_THREEFRY,
                                                     draws->is_rbg ? KEEL_RBG : KEEL_THREEFRY);
    difference.note = keel_note_text(KEEL_NOTE_GENERATOR);
    difference.place = first_place(draws);
    return keel_diff_root(draws->diff, &difference, out);
}

static keel_status_t look_for_draws(draws_t *draws) {
    keel_diff_t *diff = draws->diff;
    find_generators(&diff->before, &draws->was_rbg, &draws->had_threefry);
    find_generators(&diff->after, &draws->is_rbg, &draws->has_threefry);
    uint32_t root = find_generator(diff);
    bool is_other = draws->was_rbg != draws->is_rbg &&
                    (draws->is_rbg ? draws->had_threefry : draws->has_threefry);
    if (root == KEEL_NONE && !is_other) return NULL;
    KEEL_TRY(find_draws(draws, &diff->before));
    KEEL_TRY(find_draws(draws, &diff->after));
    if (root == KEEL_NONE) {
        draws->seed = find_seed(&diff->after);
        KEEL_TRY(explain_draws(draws, &root));
    }
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != root && diff->roots[i].follows == KEEL_NONE &&
            is_about_random(draws, &diff->roots[i].difference))
            diff->roots[i].follows = root;
    return NULL;
}

keel_status_t keel_diff_random(keel_diff_t *diff) {
    if (diff->after.lender || !diff->root_count) return NULL; // PyTorch/XLA has one generator
    draws_t draws = {.diff = diff, .seed = KEEL_NONE};
    keel_map_initialize(&draws.lines);
    keel_status_t status = look_for_draws(&draws);
    keel_map_deinitialize(&draws.lines);
    return status;
}
