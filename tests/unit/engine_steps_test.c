// Steps, and the programs of each, as the engine knows them while the run goes on.
#define _GNU_SOURCE
#include "engine_help.h"

#include "engine/counters.h"
#include "engine/steps.h"

static keel_engine_steps_t steps_of(const bare_t *bare) {
    keel_engine_steps_t steps;
    keel_engine_steps(bare->engine, &steps);
    return steps;
}

static void execute(const bare_t *bare, PJRT_LoadedExecutable *loaded, int times) {
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .num_devices = 1};
    while (times--)
        CHECK(!keel_engine_executed(bare->engine, &args));
}

// ---- steps that the user marks -----------------------------------------------------------------

static void count_marked(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    bare_client(&bare);
    keel_engine_steps_t steps = steps_of(&bare);
    CHECK(!steps.ended && !steps.marked && !steps.programs && !steps.fresh && !steps.settled);

    PJRT_LoadedExecutable *one = bare_compile(&bare, "one"), *two = bare_compile(&bare, "two");
    PJRT_LoadedExecutable *three = bare_compile(&bare, "three");
    execute(&bare, one, 2);
    execute(&bare, two, 1);
    execute(&bare, three, 1);
    keel_engine_step(bare.engine);
    steps = steps_of(&bare);
    CHECK(steps.ended == 1 && steps.marked && steps.programs == 3 && steps.settled == 1);
    CHECK(steps.fresh == 0 && steps.in_step == 0 && steps.in_last == 3);

    execute(&bare, one, 5);
    steps = steps_of(&bare);
    CHECK(steps.in_step == 1 && steps.in_last == 3);
    keel_engine_step(bare.engine);
    keel_engine_step(bare.engine);
    steps = steps_of(&bare);
    CHECK(steps.ended == 3 && steps.in_step == 0 && steps.in_last == 0);

    PJRT_LoadedExecutable *four = bare_compile(&bare, "four");
    bare_live(&bare, "five");
    bare_live(&bare, "one"); // known
    execute(&bare, four, 1);
    execute(&bare, one, 1);
    execute(&bare, four, 1);
    steps = steps_of(&bare);
    CHECK(steps.ended == 3 && steps.programs == 5 && steps.fresh == 2 && steps.settled == 4);
    CHECK(steps.in_step == 2);
}

static void test_marked_steps_and_their_programs(void **state) {
    door_run(*state, "", count_marked);
}

// ---- steps that nobody marks -------------------------------------------------------------------

static keel_digest_t digest_of(const char *text) {
    return keel_digest(keel_str_bytes(keel_str(text)));
}

static steps_when_t last_asked;
static bool has_gradient; // of what is asked for

// Asks for a program and gives its counter.
static counter_t *ask(const bare_t *bare, const char *function, const char *program, uint64_t ops,
                      bool is_eager) {
    keel_digest_t digest = digest_of(program);
    const steps_ask_t asked = {.program = &digest,
                               .key = &digest,
                               .function = keel_str_bytes(keel_str(function)),
                               .ops = ops,
                               .is_eager = is_eager,
                               .has_gradient = has_gradient};
    counter_t *counter;
    CHECK(!steps_asked(bare->engine, &asked, &last_asked));
    CHECK(!counters_of(bare->engine->counters, &digest, &counter));
    return counter;
}

static void run(const bare_t *bare, counter_t *counter, uint64_t times) {
    while (times--)
        counters_executed(bare->engine->counters, counter);
}

static void count_unmarked(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *step = ask(&bare, "step", "step 1", 100, false);
    counter_t *add = ask(&bare, "add", "add", 1, true);
    CHECK(steps_of(&bare).fresh == 2 && steps_of(&bare).settled == 1);
    run(&bare, add, 50); // so far nothing else ran
    CHECK(steps_of(&bare).ended == 50);
    run(&bare, step, 3); // what runs by itself is part of a step
    CHECK(steps_of(&bare).ended == 3);
    CHECK(steps_of(&bare).fresh == 0);

    counter_t *other = ask(&bare, "step", "step 2", 120, false);
    keel_engine_steps_t steps = steps_of(&bare);
    CHECK(steps.ended == 3 && steps.fresh == 1 && steps.settled == 4 && steps.programs == 3);
    run(&bare, other, 4); // of the same function
    CHECK(steps_of(&bare).ended == 7);
    ask(&bare, "step", "step 2", 120, false);
    CHECK(steps_of(&bare).programs == 3 && steps_of(&bare).settled == 4);

    counter_t *eval = ask(&bare, "evaluate", "evaluate", 50, false);
    run(&bare, eval, 2); // less work
    CHECK(steps_of(&bare).ended == 7);
    run(&bare, eval, 1000);
    CHECK(steps_of(&bare).ended == 1002);
    CHECK(!steps_of(&bare).marked && !steps_of(&bare).in_step && !steps_of(&bare).in_last);
}

static void count_training(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *loader = ask(&bare, "load", "load", 50, false);
    has_gradient = true;
    counter_t *step = ask(&bare, "step", "step", 100, false);
    has_gradient = false;
    counter_t *metric = ask(&bare, "metric", "metric", 50, false);
    run(&bare, loader, 1000);
    run(&bare, metric, 2000);
    run(&bare, step, 1); // a single gradient is no loop
    CHECK(steps_of(&bare).ended == 2000);
    run(&bare, step, 1);
    CHECK(steps_of(&bare).ended == 2);
}

static void test_a_function_that_computes_gradients_leads(void **state) {
    door_run(*state, "", count_training);
}

static counter_t *warm(const bare_t *bare, const char *function, const char *program) {
    counter_t *counter = ask(bare, function, program, 100, false);
    if (last_asked.warms_up) steps_warmed_up(bare->engine);
    return counter;
}

static void count_warm_up(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *one = warm(&bare, "prefill", "prefill 1");
    CHECK(!last_asked.warms_up); // the first of its function
    run(&bare, one, 1);
    CHECK(steps_of(&bare).ended == 0 && steps_of(&bare).warm == 1);
    run(&bare, warm(&bare, "prefill", "prefill 2"), 1);
    CHECK(last_asked.warms_up && last_asked.step == 2); // the journal numbers all executions
    counter_t *decode = warm(&bare, "decode", "decode");
    run(&bare, decode, 6);
    CHECK(steps_of(&bare).ended == 6); // so far it looks like steps
    run(&bare, warm(&bare, "prefill", "prefill 3"), 1);
    keel_engine_steps_t steps = steps_of(&bare);
    CHECK(steps.ended == 0 && steps.warm == 6 && steps.settled == 1);
    run(&bare, decode, 6);
    run(&bare, one, 1);
    CHECK(steps_of(&bare).ended == 6);
    warm(&bare, "prefill", "prefill 4"); // one ran twice: no warm-up any more
    CHECK(!last_asked.warms_up && steps_of(&bare).ended == 6);
    keel_engine_step(bare.engine); // marked steps are the user's
    CHECK(steps_of(&bare).ended == 1 && steps_of(&bare).warm == 0);
}

static void test_executions_of_a_warm_up_are_no_steps(void **state) {
    door_run(*state, "", count_warm_up);
}

static void count_training_warm_up(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    run(&bare, warm(&bare, "init", "init"), 1);
    CHECK(steps_of(&bare).ended == 0);
    has_gradient = true;
    run(&bare, warm(&bare, "step", "step 1"), 1);
    run(&bare, warm(&bare, "step", "step 2"), 1); // a gradient has trained
    CHECK(!last_asked.warms_up && steps_of(&bare).ended == 2);
    has_gradient = false;
    run(&bare, warm(&bare, "evaluate", "evaluate 1"), 1);
    run(&bare, warm(&bare, "evaluate", "evaluate 2"), 1);
    CHECK(last_asked.warms_up && steps_of(&bare).ended == 2);
}

static void test_a_training_step_that_ran_is_a_step(void **state) {
    door_run(*state, "", count_training_warm_up);
}

static void ask_in_a_loop(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_journal_leading_t leading;
    for (uint64_t i = 1; i <= 5; ++i) {
        counter_t *only = ask(&bare, "f", "f", 3, false);
        CHECK(last_asked.step == i && !last_asked.steady);
        steps_leading(bare.engine, &leading);
        CHECK(!leading.program == (i == 1) && leading.executes == i - 1);
        run(&bare, only, 1);
    }
}

static void test_a_process_with_one_program_counts_its_steps_too(void **state) {
    door_run(*state, "", ask_in_a_loop);
}

static void test_the_function_that_does_most_work_ends_steps_that_nobody_marks(void **state) {
    door_run(*state, "", count_unmarked);
}

static void count_steady(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *add = ask(&bare, "add", "add", 1, true);
    CHECK(last_asked.step == 1 && !last_asked.steady);
    run(&bare, add, 50); // operations by themselves are no steps that pass
    counter_t *step = ask(&bare, "step", "step 1", 100, false);
    CHECK(!last_asked.steady);
    run(&bare, step, 2);
    counter_t *second = ask(&bare, "step", "step 2", 100, false); // its own first step is none
    CHECK(last_asked.step == 3 && last_asked.steady == 1);
    run(&bare, second, 1);
    ask(&bare, "step", "step 3", 100, false); // in the next step
    CHECK(last_asked.step == 4 && !last_asked.steady);
    run(&bare, second, 8);
    ask(&bare, "step", "step 2", 100, false); // known
    CHECK(last_asked.step == 12 && !last_asked.steady);
    ask(&bare, "step", "step 4", 100, false);
    CHECK(last_asked.step == 12 && last_asked.steady == 7);
    ask(&bare, "step", "step 5", 100, false); // in the same step
    CHECK(last_asked.step == 12 && last_asked.steady == 7);
    run(&bare, second, 4);
    ask(&bare, "ones", "ones", 1, true); // what comes first in a step does not hide what follows
    ask(&bare, "step", "step 6", 100, false);
    CHECK(last_asked.step == 16 && last_asked.steady == 3);
}

static void test_steps_without_a_new_program_are_counted_for_the_next_one(void **state) {
    door_run(*state, "", count_steady);
}

static void look_for_late(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *step = ask(&bare, "step", "step 1", 100, false);
    ask(&bare, "add", "add 1", 1, true);
    CHECK(!last_asked.is_late);
    run(&bare, step, 4);
    ask(&bare, "norm", "norm 1", 1, true); // the optimizer's first step, after micro-batches
    ask(&bare, "add", "add 2", 1, true);
    CHECK(!last_asked.is_late);
    run(&bare, step, 4);
    ask(&bare, "add", "add 3", 1, true);
    CHECK(last_asked.is_late);
    ask(&bare, "sum", "sum 1", 1, true);
    ask(&bare, "norm", "norm 2", 1, true);
    CHECK(last_asked.is_late);
}

static void test_operations_beside_a_new_one_are_not_late(void **state) {
    door_run(*state, "", look_for_late);
}

static void count_from_start(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    counter_t *step = ask(&bare, "step", "step 1", 100, false);
    run(&bare, step, 6);
    ask(&bare, "step", "step 2", 100, false);
    CHECK(last_asked.step == 7 && last_asked.steady == 5);
}

static void test_the_first_function_of_a_run_is_counted_from_its_start(void **state) {
    door_run(*state, "", count_from_start);
}

static void count_after_others(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    run(&bare, ask(&bare, "initialize", "initialize", 100, false), 3);
    counter_t *step = ask(&bare, "step", "step 1", 10, false);
    for (int i = 0; i < 200; ++i) { // what only ran once, by itself
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        run(&bare, ask(&bare, text, text, 1, true), 1);
    }
    CHECK(last_asked.step == 4 && last_asked.steady == 2); // all of them in one step
    run(&bare, step, 50);
    counter_t *second = ask(&bare, "step", "step 2", 10, false);
    CHECK(last_asked.step == 51 && last_asked.steady == 49);
    run(&bare, second, 1); // those of the function that led before are none from now on
    ask(&bare, "initialize", "initialize 2", 100, false);
    CHECK(last_asked.step == 52 && !last_asked.steady);
}

static void test_a_function_that_leads_later_is_counted_from_the_last_new_program(void **state) {
    door_run(*state, "", count_after_others);
}

static void count_among_many(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    enum { MANY = 1000 };
    counter_t *first = ask(&bare, "first", "first", 1, false);
    run(&bare, first, 1);
    for (int i = 0; i < MANY; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        run(&bare, ask(&bare, text, text, 10, false), 1);
    }
    run(&bare, first, 500); // when it ran before is not known any more
    CHECK(steps_of(&bare).ended == 501);
    ask(&bare, "first", "first 2", 1, false);
    CHECK(!last_asked.steady);
    run(&bare, first, 10);
    ask(&bare, "first", "first 3", 1, false);
    CHECK(last_asked.steady == 9);
}

static void test_what_is_not_known_of_a_function_is_no_steady_step(void **state) {
    door_run(*state, "", count_among_many);
}

static void ask_for_many(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    enum { MANY = 3000 };
    run(&bare, ask(&bare, "step", "step", 100, false), 10);
    for (int i = 0; i < MANY; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        run(&bare, ask(&bare, text, text, 1, false), 1);
    }
    keel_engine_steps_t steps = steps_of(&bare);
    CHECK(steps.programs == MANY + 1 && steps.ended == 10 && steps.settled == 11);
    CHECK(steps.fresh == MANY);
}

static void test_a_contract_sees_a_count_that_grows_in_one_step(void **state) {
    door_run(*state, "", ask_for_many);
}

// ---- asked by a gate ---------------------------------------------------------------------------

static keel_status_t only_in_the_first_step(void *context, const keel_engine_ask_t *asked,
                                            keel_verdict_t *verdict) {
    (void)verdict;
    keel_engine_steps_t steps;
    keel_engine_steps(context, &steps);
    (void)asked;
    if (!steps.ended || !steps.fresh) return NULL;
    return keel_status_make(KEEL_REFUSED, "a new program after step %d", (int)steps.ended);
}

static void refuse_late_programs(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_engine_set_gate(bare.engine,
                         &(keel_engine_gate_t){only_in_the_first_step, bare.engine, NULL});
    bare_client(&bare);
    PJRT_LoadedExecutable *loaded;
    bare_live(&bare, "one");
    bare_live(&bare, "two");
    keel_engine_step(bare.engine);
    bare_live(&bare, "one"); // no new one
    PJRT_Error *error = bare_try(&bare, "three", &loaded);
    keel_str_t message;
    CHECK(keel_pjrt_error_message(error, &message));
    CHECK(strcmp(message.data, "keel: a new program after step 1") == 0);
    CHECK(keel_pjrt_error_destroy(error));
}

static void test_a_gate_can_ask_for_the_step(void **state) {
    door_run(*state, "", refuse_late_programs);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(marked_steps_and_their_programs),
        TEST(the_function_that_does_most_work_ends_steps_that_nobody_marks),
        TEST(a_function_that_computes_gradients_leads),
        TEST(executions_of_a_warm_up_are_no_steps),
        TEST(a_training_step_that_ran_is_a_step),
        TEST(a_process_with_one_program_counts_its_steps_too),
        TEST(steps_without_a_new_program_are_counted_for_the_next_one),
        TEST(operations_beside_a_new_one_are_not_late),
        TEST(the_first_function_of_a_run_is_counted_from_its_start),
        TEST(a_function_that_leads_later_is_counted_from_the_last_new_program),
        TEST(what_is_not_known_of_a_function_is_no_steady_step),
        TEST(a_contract_sees_a_count_that_grows_in_one_step),
        TEST(a_gate_can_ask_for_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
