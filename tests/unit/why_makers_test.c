// What the buffers of an execution show: arguments that another new program made, and tensors that
// an optimizer updates in vain.
#include "why_help.h"

#define FRAME "{\"file\":\"/w/t.py\",\"line\":%d,\"function\":\"f\"}"

// A program that a line asks for, compared with another one; `roots` and further fields.
static void ask(const char *program, const char *against, int line, const char *roots) {
    char rest[1024];
    snprintf(rest, sizeof rest,
             ",\"recompile\":%s,\"site\":" FRAME ",\"origin\":\"/w/t.py:%d\",\"stack\":[" FRAME "],"
             "\"against\":{\"program\":\"%s\",\"name\":\"S\",\"is_ours\":true},\"roots\":[%s",
             *against ? "true" : "false", line, line, line, against, roots);
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":\"S\","
                       "\"key\":\"k%s\",\"seconds\":1,\"format\":\"hlo\",\"recompile\":%s}\n",
                       program, program, *against ? "true" : "false");
    explain("compile", program, "S", 1, rest);
}

#define ROOT(kind, more) "{\"kind\":\"" kind "\",\"subject\":\"argument 1\"" more "}"

static void note(const char *event) {
    keel_buffer_format(&journal, "{\"event\":%s}\n", event);
}

static void assert_entry(size_t index, keel_cause_t cause, const char *advice) {
    keel_why_t why;
    parse(&why);
    const keel_why_entry_t *entry = &why.entries[index];
    assert_int_equal(entry->roots[0].kind, cause);
    const char *given = keel_why_advice(&why, entry, entry->roots, KEEL_FRAMEWORK_TORCH);
    if (!strstr(given, advice)) fail_msg("%s is not in: %s", advice, given);
    keel_why_deinitialize(&why);
}

#define KEPT ROOT("donation", ",\"old\":\"donated\",\"new\":\"kept\"") "],\"left\":[1,2]"
#define STEADY "\"steady\",\"pid\":1,\"program\":\"b\",\"arguments\":[%s],\"programs\":[\"c\"]"

static void steady(const char *arguments) {
    char event[200];
    snprintf(event, sizeof event, STEADY, arguments);
    note(event);
}

static void
tensors_that_stay_the_same_where_the_models_were_are_said_to_have_replaced_them(void **state) {
    (void)state;
    ask("a", "", 7, "]");
    ask("b", "a", 7, KEPT);
    ask("c", "b", 7, ROOT("gradient", "") "]");
    ask("d", "b", 7, ROOT("shape", "") "]");
    steady("0,1,2");
    assert_entry(1, KEEL_CAUSE_STRUCTURE, "without assign=True");
    assert_entry(2, KEEL_CAUSE_STRUCTURE, "without assign=True");
    assert_entry(3, KEEL_CAUSE_SHAPE, "");
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.entries[1].roots[0].subject, "optimizer");
    assert_string_equal(why.entries[1].roots[0].old_value, "updates 2 tensors");
    assert_string_equal(why.entries[1].roots[0].new_value, "updates none");
    assert_int_equal(why.entries[2].leader, 1);
    assert_true(keel_why_ruins(&why.entries[1]) && !keel_why_ruins(&why.entries[3]));
    assert_text(&why, &(keel_text_style_t){.width = 80}, "1  ");
    keel_why_deinitialize(&why);
}

static void tensors_of_which_one_changes_have_not_replaced_the_models(void **state) {
    (void)state;
    ask("a", "", 7, "]");
    ask("b", "a", 7, KEPT);
    steady("0,1");
    assert_entry(1, KEEL_CAUSE_DONATION, "in place");
}

static void a_program_of_other_calls_is_not_the_training_loop(void **state) {
    (void)state;
    ask("a", "", 7, "]");
    ask("b", "a", 8, KEPT);
    steady("1,2");
    assert_entry(1, KEEL_CAUSE_DONATION, "in place");
}

static void a_note_of_replaced_tensors_goes_if_other_calls_asked(void **state) {
    (void)state;
    for (int line = 7; line < 9; ++line) {
        keel_buffer_deinitialize(&journal);
        begin(NULL);
        ask("a", "", 7, "]");
        ask("b", "a", line,
            ROOT("donation", ",\"note\":\"it was replaced by a tensor that the optimizer does not "
                             "update; and 1 more argument\"") "]");
        assert_entry(1, KEEL_CAUSE_DONATION, line == 7 ? "assign=True" : "in place");
    }
}

#define STOPS ROOT("arguments", "") "],\"stops\":true"

static void results_that_nobody_takes_are_said_of_the_program_without_the_step(void **state) {
    (void)state;
    ask("f", "", 6, "]");
    ask("a", "f", 7, ROOT("structure", "") "]");
    ask("b", "a", 7, STOPS);
    ask("g", "f", 6, ROOT("arguments", "") "]");
    note("\"abandoned\",\"pid\":1,\"maker\":\"a\",\"results\":4,\"programs\":[\"b\",\"g\"]");
    assert_entry(2, KEEL_CAUSE_STRUCTURE, "without assign=True");
    assert_entry(3, KEEL_CAUSE_ARGUMENTS, "");
}

static void results_of_another_program_say_nothing_of_it(void **state) {
    (void)state;
    ask("f", "", 6, "]");
    ask("a", "f", 7, ROOT("structure", "") "]");
    ask("b", "a", 7, STOPS);
    note("\"abandoned\",\"pid\":1,\"maker\":\"f\",\"results\":4,\"programs\":[\"b\"]");
    assert_entry(2, KEEL_CAUSE_ARGUMENTS, "");
}

#define INPUTS "\"inputs\",\"pid\":1,\"program\":\"d\",\"maker\":\"b\",\"arguments\":[1]"

static void a_program_follows_from_the_one_that_made_what_changed(void **state) {
    (void)state;
    ask("a", "", 6, "]");
    ask("c", "", 7, "]");
    ask("b", "a", 6, ROOT("size", "") "]");
    ask("d", "c", 7, ROOT("shape", ",\"arguments\":[1]") "]");
    note(INPUTS);
    assert_entry(3, KEEL_CAUSE_SIZE, "");
}

static void a_loop_that_appends_to_its_own_results_has_its_cause_in_each_round(void **state) {
    (void)state;
    ask("a", "", 6, "]");
    ask("b", "a", 6, ROOT("arguments", "") "]");
    ask("d", "b", 6, ROOT("shape", ",\"arguments\":[1]") "]");
    note(INPUTS);
    assert_entry(1, KEEL_CAUSE_ARGUMENTS, "");
    assert_entry(2, KEEL_CAUSE_SHAPE, "");
}

static void a_gradient_that_accumulates_has_a_cause_of_its_own(void **state) {
    (void)state;
    ask("a", "", 6, "]");
    ask("c", "", 7, "]");
    ask("b", "a", 6, ROOT("size", "") "]");
    ask("d", "c", 7, ROOT("gradient", ",\"arguments\":[1]") "]");
    note(INPUTS);
    assert_entry(3, KEEL_CAUSE_GRADIENT, "");
}

static void the_state_of_an_optimizer_has_a_cause_of_its_own(void **state) {
    (void)state;
    ask("a", "", 6, "]");
    ask("c", "a", 7, "]");
    ask("b", "a", 6, ROOT("structure", "") "]");
    ask("d", "c", 7,
        ROOT("arguments",
             ",\"arguments\":[1],\"note\":\"the optimizer created this state in its first "
             "step\"") "]");
    note(INPUTS);
    assert_entry(3, KEEL_CAUSE_ARGUMENTS, "");
}

static void what_else_changed_does_not_follow(void **state) {
    (void)state;
    ask("a", "", 6, "]");
    ask("c", "", 7, "]");
    ask("b", "a", 6, ROOT("size", "") "]");
    ask("d", "c", 7, ROOT("shape", ",\"arguments\":[2]") "]");
    note(INPUTS);
    assert_entry(3, KEEL_CAUSE_SHAPE, "");
}

// A program of TorchTPU's; nothing is executed, so all are of one step.
static void ask_torch_tpu(const char *program, const char *name, const char *kind) {
    char rest[512];
    snprintf(rest, sizeof rest, AGAIN ",\"roots\":[{\"kind\":\"%s\",\"subject\":\"argument 0\"}]",
             kind);
    compile(program, name, 1, 0);
    explain("compile", program, name, 1, rest);
}

static void assert_leader(size_t index, uint32_t leader) {
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.entries[index].leader, leader);
    keel_why_deinitialize(&why);
}

static void operations_of_torch_tpu_follow_from_the_first_of_their_step(void **state) {
    (void)state;
    ask_torch_tpu("a", "tt_jit_embedding", "shape");
    ask_torch_tpu("b", "tt_jit_relu", "shape");
    ask_torch_tpu("c", "tt_jit_ones_like", "size");
    ask_torch_tpu("d", "tt_jit_relu", "dtype");
    assert_leader(0, KEEL_NONE);
    assert_leader(1, 0);
    assert_leader(2, 0);
    assert_leader(3, KEEL_NONE);
}

static void graphs_of_torch_tpu_do_not_follow_from_their_step(void **state) {
    (void)state;
    ask_torch_tpu("a", "tt_jit_forward", "shape");
    ask_torch_tpu("b", "tt_jit_forward", "shape");
    assert_leader(1, KEEL_NONE);
}

static void the_gradients_of_a_graph_follow_from_it(void **state) {
    (void)state;
    ask_torch_tpu("b", "tt_jit_forward", "shape");
    ask_torch_tpu("d", "tt_jit_backward", "arguments");
    assert_leader(1, KEEL_NONE);
    note(INPUTS);
    assert_leader(1, 0);
}

int main(void) {
#define EACH(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(tensors_that_stay_the_same_where_the_models_were_are_said_to_have_replaced_them),
        EACH(tensors_of_which_one_changes_have_not_replaced_the_models),
        EACH(a_program_of_other_calls_is_not_the_training_loop),
        EACH(a_note_of_replaced_tensors_goes_if_other_calls_asked),
        EACH(results_that_nobody_takes_are_said_of_the_program_without_the_step),
        EACH(results_of_another_program_say_nothing_of_it),
        EACH(a_program_follows_from_the_one_that_made_what_changed),
        EACH(a_loop_that_appends_to_its_own_results_has_its_cause_in_each_round),
        EACH(a_gradient_that_accumulates_has_a_cause_of_its_own),
        EACH(the_state_of_an_optimizer_has_a_cause_of_its_own),
        EACH(what_else_changed_does_not_follow),
        EACH(operations_of_torch_tpu_follow_from_the_first_of_their_step),
        EACH(graphs_of_torch_tpu_do_not_follow_from_their_step),
        EACH(the_gradients_of_a_graph_follow_from_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
