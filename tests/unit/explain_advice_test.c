// What a difference means to the user, which decides what can be done about it: pairs of programs
// as JAX compiled them.
#define _GNU_SOURCE
#include "explain_help.h"

// The note of the first root begins with it, "" for none of those that have advice.
static void check_note(const keel_side_t *before, const keel_side_t *after, const char *subject,
                       keel_note_t note) {
    keel_explanation_t e;
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(before, after, &e));
    assert_int_equal(e.root_total, 1);
    assert_string_equal(e.roots[0].subject, subject);
    if (note == KEEL_NOTE_COUNT)
        assert_null(keel_note_advice(e.roots[0].note));
    else if (!keel_note_leads(e.roots[0].note, note))
        fail_msg("%s: '%s', not '%s'", subject, e.roots[0].note, keel_note_text(note));
    keel_explanation_deinitialize(&e);
}

static void check_pair(const char *name, const char *subject, keel_note_t note, bool both_ways) {
    loaded_t before, after;
    load_pair(name, &before, &after);
    const keel_side_t old_side = {.program = &before.program},
                      new_side = {.program = &after.program};
    check_note(&old_side, &new_side, subject, note);
    if (both_ways) check_note(&new_side, &old_side, subject, note);
    unload(&before);
    unload(&after);
}

static void a_wider_model_is_no_short_batch(void **state) {
    (void)state;
    check_pair("model_wider", "params['v']", KEEL_NOTE_MODEL_SIZE, true); // by its name
    check_pair("layers_wider", "p[0]", KEEL_NOTE_MODEL_SIZE, true);       // by what moves with it
    check_pair("longer_tokens", "b['at']", KEEL_NOTE_COUNT, true);
    check_pair("loader_last_batch", "batch['image']", KEEL_NOTE_COUNT, true);
}

static void a_model_in_another_dtype_is_no_data_that_was_not_converted(void **state) {
    (void)state;
    check_pair("model_in_half", "params['w']", KEEL_NOTE_MODEL_DTYPE, true);
}

static void an_argument_that_is_none_at_times_is_no_key_of_a_dictionary(void **state) {
    (void)state;
    check_pair("mask_left_out", "mask", KEEL_NOTE_LEFT_OUT, true);
    check_pair("key_appears", "batch['mask']", KEEL_NOTE_COUNT, true);
}

static void a_closed_over_array_of_another_length_is_noted(void **state) {
    (void)state;
    check_pair("replay_closed_over", "broadcast_in_dim", KEEL_NOTE_HOST_ARRAY, true);
}

static void numbers_that_are_written_in_a_shape_are_no_array_of_the_host(void **state) {
    (void)state;
    check_pair("drawn_of_static_shape", "iota", KEEL_NOTE_COUNT, true);
}

static void parts_that_are_joined_to_one_size_were_shifted(void **state) {
    (void)state;
    check_pair("rolled_by_more", "slice", KEEL_NOTE_SHIFTED, true);
    check_pair("left_out_between", "slice end", KEEL_NOTE_SHIFTED, true);
    check_pair("halves", "slice end", KEEL_NOTE_COUNT, true); // computed apart
}

static keel_status_t read_no_source(void *context, const char *file, keel_str_t *out) {
    (void)context;
    (void)file;
    *out = KEEL_STR("");
    return NULL;
}

static void check_of_another_run(const char *name, const char *subject, keel_note_t note) {
    const keel_sources_t sources = {.read = read_no_source, .context = NULL};
    loaded_t before, after;
    load_pair(name, &before, &after);
    check_note(&(keel_side_t){.program = &before.program, .sources = &sources},
               &(keel_side_t){.program = &after.program, .sources = &sources}, subject, note);
    unload(&before);
    unload(&after);
}

static void another_order_is_that_of_arguments_or_of_a_set(void **state) {
    (void)state;
    check_pair("arguments_by_name", "arguments", KEEL_NOTE_REORDERED, true);
    check_pair("terms_of_a_set", "subtract", KEEL_NOTE_COUNT, true);
    check_of_another_run("terms_of_a_set", "subtract", KEEL_NOTE_SHUFFLED);
    check_of_another_run("terms_moved", "subtract", KEEL_NOTE_SHUFFLED);
}

static void another_policy_of_remat_is_noted_as_one(void **state) {
    (void)state;
    check_pair("remat_policy", "optimization_barrier", KEEL_NOTE_REMAT, false);
}

static void a_number_is_static_where_a_library_jits_for_the_user(void **state) {
    (void)state;
    loaded_t before, after;
    load_pair("closed_float", &before, &after);
    static const struct {
        const char *library;
        keel_note_t note;
    } cases[] = {{"/l/site-packages/equinox/_jit.py", KEEL_NOTE_STATIC_NUMBER},
                 {"/l/site-packages/flax/nnx/transforms/compilation.py", KEEL_NOTE_STATIC_NUMBER},
                 {"/l/site-packages/flax/linen/linear.py", KEEL_NOTE_COUNT},
                 {NULL, KEEL_NOTE_COUNT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const keel_place_t site = {.file = "/home/ada/train.py",
                                   .line = 3,
                                   .function = "",
                                   .call_file = "",
                                   .library_file = cases[i].library};
        check_note(&(keel_side_t){.program = &before.program},
                   &(keel_side_t){.program = &after.program, .site = &site}, "multiply",
                   cases[i].note);
    }
    unload(&before);
    unload(&after);
}

// ---- asked for again ---------------------------------------------------------------------------

static void check_retrace(keel_retrace_t retrace, const char *origin, const char *library,
                          const char *subject, const char *note) {
    loaded_t before, after;
    load_pair("numbers_counted", &before, &after);
    const keel_site_t site = {
        .place = {.file = "", .function = "", .call_file = "", .library_file = library},
        .origin = origin};
    retrace.before = &before.program;
    retrace.after = &after.program;
    retrace.site = &site;
    keel_explanation_t e;
    keel_explanation_initialize(&e);
    assert_ok(keel_explain_retrace(&retrace, &e));
    assert_int_equal(e.root_total, 1);
    assert_string_equal(e.roots[0].subject, subject);
    assert_string_equal(e.roots[0].note, note);
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
}

static const char module_level[] = "step at /home/ada/train.py:3";

static void a_retrace_tells_what_differs_between_the_calls(void **state) {
    (void)state;
    static const char *const earlier[] = {"s config\tConfig 0x7f0\n"};
    keel_retrace_t retrace = {
        .call = "s config\tConfig 0x7f8\n", .earlier = earlier, .earlier_count = 1};
    char note[256];
    snprintf(note, sizeof note, "%s: Config", keel_note_text(KEEL_NOTE_STATIC_OBJECT));
    check_retrace(retrace, module_level, NULL, "config", note);
    retrace.call = "s config\t3\n";
    check_retrace(retrace, module_level, NULL, "config", keel_note_text(KEEL_NOTE_STATIC_VALUE));
}

static void a_retrace_of_unknown_calls_tells_whether_the_function_was_made_anew(void **state) {
    (void)state;
    keel_retrace_t retrace = {.call = ""};
    check_retrace(retrace, module_level, NULL, "", keel_note_text(KEEL_NOTE_SAME_FUNCTION));
    check_retrace(retrace, "main.<locals>.step at /home/ada/train.py:3", NULL, "", "");
    check_retrace(retrace, "/l/site-packages/numpyro/util.py:896", NULL, "", "");
    retrace.is_jitted_there = true;
    check_retrace(retrace, module_level, NULL, "", "");
}

static void a_retrace_in_a_librarys_jit_tells_what_that_compares(void **state) {
    (void)state;
    keel_retrace_t retrace = {.call = ""};
    check_retrace(retrace, module_level, "/l/site-packages/equinox/_jit.py", "",
                  keel_note_text(KEEL_NOTE_FILTERED));
    check_retrace(retrace, module_level, "/l/site-packages/flax/nnx/transforms/compilation.py", "",
                  keel_note_text(KEEL_NOTE_MODULE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wider_model_is_no_short_batch),
        cmocka_unit_test(a_model_in_another_dtype_is_no_data_that_was_not_converted),
        cmocka_unit_test(an_argument_that_is_none_at_times_is_no_key_of_a_dictionary),
        cmocka_unit_test(a_closed_over_array_of_another_length_is_noted),
        cmocka_unit_test(numbers_that_are_written_in_a_shape_are_no_array_of_the_host),
        cmocka_unit_test(parts_that_are_joined_to_one_size_were_shifted),
        cmocka_unit_test(another_order_is_that_of_arguments_or_of_a_set),
        cmocka_unit_test(another_policy_of_remat_is_noted_as_one),
        cmocka_unit_test(a_number_is_static_where_a_library_jits_for_the_user),
        cmocka_unit_test(a_retrace_tells_what_differs_between_the_calls),
        cmocka_unit_test(a_retrace_of_unknown_calls_tells_whether_the_function_was_made_anew),
        cmocka_unit_test(a_retrace_in_a_librarys_jit_tells_what_that_compares),
    };
    return cmocka_run_group_tests_name("explain_advice", tests, NULL, NULL);
}
