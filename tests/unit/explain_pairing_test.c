// Which parts of two programs are paired, and on which line the rest is reported: pairs as JAX
// compiled them, with a library of loops between the user and JAX.
#define _GNU_SOURCE
#include "explain_help.h"

#include "explain/pair.h"
#include "small_program.h"

#define ALL_PASSED "\t\n" // nothing was left out of the program

typedef struct case_t {
    const char *name;                       // of the samples, and of the file that they come from
    const char *names_before, *names_after; // keel_side_t
    keel_cause_t kind;
    const char *subject; // NULL: any
    uint32_t line, call_line;
} case_t;

static const case_t cases[] = {
    // One more value is carried: no other is compared with its neighbor.
    {"loop_carries_more", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "args", 19, 0},
    {"other_solver", NULL, NULL, KEEL_CAUSE_STRUCTURE, NULL, 9, 17},
    {"nothing_in_common", NULL, NULL, KEEL_CAUSE_STRUCTURE, NULL, 9, 17},
    // The library's call, not the line that it calls back.
    {"callback_added", NULL, NULL, KEEL_CAUSE_STRUCTURE, NULL, 13, 21},
    // The stack of a library's own jit ends there.
    {"inside_a_librarys_jit", NULL, NULL, KEEL_CAUSE_STRUCTURE, NULL, 10, 18},
    {"statistics_unused", "\tstats['mean']\n\tstats['var']\n\t\n", ALL_PASSED, KEEL_CAUSE_STRUCTURE,
     NULL, 10, 18},
    {"leaf_moved", ALL_PASSED, "\ttrained['head']['w']\n\t\n", KEEL_CAUSE_STRUCTURE, NULL, 9, 19},
    // The density of the added value is not that of another, though the same line computes both.
    {"density_added", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "values['group']", 26, 0},
    // What a division by the added value is differentiated with is no other exponent.
    {"scale_beside_a_power", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "values['scale']", 18,
     0},
    // What was wrapped came with the wrapper's own.
    {"layer_wrapped", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "params['layer']['down']", 22,
     0},
    {"layer_wrapped", NULL, NULL, KEEL_CAUSE_ARGUMENTS, "params['layer']['down']", 22, 0},
    // Of one type by accident, in a program that does the same all along.
    {"width_of_another_layer", NULL, NULL, KEEL_CAUSE_SHAPE, "layers[0]", 23, 0},
    // Whether y is there decides what is computed of x, which is passed both times.
    {"value_left_out", "\tx\n\t\n", ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "y", 13, 0},
    // What was computed in its place is gone with it, in the gradient too.
    {"head_of_its_own", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_ARGUMENTS, "params['head']", 20, 0},
    // JAX keeps its own function with the line that called it first, here another function's.
    {"helper_used_before", NULL, NULL, KEEL_CAUSE_SIZE, "iota", 11, 17},
    // A body that is cut in two functions is a call more.
    {"metrics_of_a_scan", ALL_PASSED, ALL_PASSED, KEEL_CAUSE_STRUCTURE, NULL, 13, 19},
};
enum { CASES = sizeof cases / sizeof *cases };

static void explain_named(const case_t *one, bool is_back, keel_explanation_t *out) {
    loaded_t before, after;
    load_pair(one->name, &before, &after);
    keel_side_t sides[2] = {{.program = &before.program, .names = one->names_before},
                            {.program = &after.program, .names = one->names_after}};
    keel_explanation_initialize(out);
    assert_ok(keel_explain(&sides[is_back], &sides[!is_back], out));
    check_explanation(out);
    unload(&before);
    unload(&after);
}

static void one_cause_is_told_where_lists_of_values_differ(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; ++i) {
        keel_explanation_t e;
        print_message("  %s\n", cases[i].name);
        explain_named(&cases[i], false, &e);
        assert_int_equal(e.root_total, 1);
        assert_string_equal(keel_cause_facts(e.roots->kind)->word,
                            keel_cause_facts(cases[i].kind)->word);
        if (cases[i].subject) assert_string_equal(e.roots->subject, cases[i].subject);
        assert_int_equal(e.roots->place.line, cases[i].line);
        assert_int_equal(e.roots->place.call_line, cases[i].call_line);
        keel_explanation_deinitialize(&e);
    }
}

static void the_way_back_has_one_cause_of_the_same_kind(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; ++i) {
        keel_explanation_t e;
        print_message("  %s\n", cases[i].name);
        explain_named(&cases[i], true, &e);
        assert_int_equal(e.root_total, 1);
        assert_int_equal(e.roots->kind, cases[i].kind);
        keel_explanation_deinitialize(&e);
    }
}

// The same two programs: it depends on what was passed.
static void an_argument_that_nobody_passed_is_the_cause(void **state) {
    (void)state;
    case_t one = {
        .name = "statistics_unused", .names_before = ALL_PASSED, .names_after = ALL_PASSED};
    keel_explanation_t e;
    explain_named(&one, false, &e);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_ARGUMENTS);
    assert_string_equal(e.roots->subject, "stats['mean']");
    assert_string_equal(e.roots->old_value, "absent");
    keel_explanation_deinitialize(&e);
}

// ---- which types may belong to one value -------------------------------------------------------

static uint32_t list_of(keel_program_t *program, keel_type_id_t type) {
    uint32_t list;
    assert_ok(keel_program_add_list(program, &type, 1, &list));
    return list;
}

static void types_are_told_apart_by_all_they_have(void **state) {
    (void)state;
    keel_program_t program;
    keel_graph_t graph = {.program = NULL};
    keel_arena_t arena;
    small_program("x: f32[4] y: i32[4]\nreturn x", &program);
    keel_type_id_t x = keel_program_value_type(&program, 0),
                   y = keel_program_value_type(&program, 1);
    uint32_t xs = list_of(&program, x), ys = list_of(&program, y);
    const keel_type_t types[] = {{KEEL_TYPE_FUNCTION, 0, KEEL_NONE, xs, xs},
                                 {KEEL_TYPE_FUNCTION, 0, KEEL_NONE, xs, ys},
                                 {KEEL_TYPE_FUNCTION, 0, KEEL_NONE, ys, xs},
                                 {KEEL_TYPE_TUPLE, 0, KEEL_NONE, xs, KEEL_NONE},
                                 {KEEL_TYPE_TUPLE, 0, KEEL_NONE, ys, KEEL_NONE},
                                 {KEEL_TYPE_QUANTIZED, 0, x, y, KEEL_NONE},
                                 {KEEL_TYPE_QUANTIZED, 0, x, x, KEEL_NONE},
                                 {KEEL_TYPE_QUANTIZED, 0, y, y, KEEL_NONE},
                                 {KEEL_TYPE_COMPLEX, 0, x, KEEL_NONE, KEEL_NONE},
                                 {KEEL_TYPE_COMPLEX, 0, y, KEEL_NONE, KEEL_NONE}};
    enum { COUNT = sizeof types / sizeof *types };
    keel_type_id_t first = program.types.count;
    for (size_t i = 0; i < COUNT; ++i) {
        assert_ok(keel_table_reserve(&program.types, 1));
        program.types.data[program.types.count++] = types[i];
    }
    keel_arena_initialize(&arena, 0);
    assert_ok(keel_graph_build(&graph, &program, NULL, &arena));
    for (uint32_t i = 0; i < COUNT; ++i)
        for (uint32_t k = 0; k < i; ++k)
            assert_true(keel_graph_type_hash(&graph, first + i) !=
                        keel_graph_type_hash(&graph, first + k));
    keel_arena_deinitialize(&arena);
    keel_program_deinitialize(&program);
}

static void a_type_fits_another_only_as_an_argument_shows(void **state) {
    (void)state;
    loaded_t before, after;
    load_pair("loop_carries_more", &before, &after);
    keel_diff_t diff = {.arguments_before = NULL};
    keel_arena_initialize(&diff.arena, 0);
    assert_ok(keel_graph_build(&diff.before, &before.program, NULL, &diff.arena));
    assert_ok(keel_graph_build(&diff.after, &after.program, NULL, &diff.arena));
    keel_fit_learn(&diff);
    uint32_t count = before.program.types.count, others = after.program.types.count, fits = 0;
    for (keel_type_id_t a = 0; a < count; ++a)
        for (keel_type_id_t b = 0; b < others; ++b) {
            bool both = keel_fit_class(&diff, a, b) && keel_fit_rank(&diff, a, b);
            fits += both;
            // Without an argument that moved the token says the same.
            assert_int_equal(both, keel_fit_token(&diff, &diff.before, a) ==
                                       keel_fit_token(&diff, &diff.after, b));
        }
    assert_true(fits && fits < count * others);
    // The first argument, f32[3], became the counter's i32[] all over.
    const keel_type_id_t vector = keel_graph_type(&diff.before, 0);
    keel_type_id_t counter = KEEL_NONE;
    for (keel_type_id_t b = 0; b < others && counter == KEEL_NONE; ++b)
        if (!keel_fit_class(&diff, vector, b) && !keel_diff_dims(&after.program, b).count)
            counter = b;
    assert_int_not_equal(counter, KEEL_NONE);
    assert_false(keel_fit_rank(&diff, vector, counter));
    keel_argument_t was = {.type = vector, .counterpart = 0}, is = {.type = counter};
    diff.arguments_before = &was;
    diff.arguments_after = &is;
    diff.before_count = diff.after_count = 1;
    keel_fit_learn(&diff);
    assert_true(keel_fit_class(&diff, vector, counter));
    assert_true(keel_fit_rank(&diff, vector, counter));
    keel_arena_deinitialize(&diff.arena);
    unload(&before);
    unload(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cause_is_told_where_lists_of_values_differ),
        cmocka_unit_test(the_way_back_has_one_cause_of_the_same_kind),
        cmocka_unit_test(an_argument_that_nobody_passed_is_the_cause),
        cmocka_unit_test(types_are_told_apart_by_all_they_have),
        cmocka_unit_test(a_type_fits_another_only_as_an_argument_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
