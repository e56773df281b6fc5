// Why a program was asked for: what a process records, and what is concluded from it.
#define _GNU_SOURCE
#include "door_help.h"

#include "analysis/analysis.h"
#include "journal/journal.h"

#define NESTED "mlir/nested_jit.mlir"
#define DONATE "mlir/donate.mlir"
#define SPMD "mlir/spmd_auto.mlir"
#define SPMD_OTHER "mlir/gspmd_spmd_auto.mlir" // another program of that name and line

// ---- what was written --------------------------------------------------------------------------

static keel_status_t analyze_run(void *context, const char *id) {
    const door_t *door = context;
    return keel_analysis_ensure(door->runs, id);
}

// A process, and the analysis of all runs there are.
static void run_and_analyze(const door_t *door, const char *environment,
                            void (*body)(const door_t *door)) {
    door_run(door, environment, body);
    assert_ok(keel_journal_runs(door->runs, analyze_run, (void *)(uintptr_t)door));
}

// The number that a command of the shell prints.
static unsigned number_of(const char *command) {
    char answer[32] = "";
    FILE *file = popen(command, "r");
    assert_non_null(file);
    assert_non_null(fgets(answer, sizeof answer, file));
    pclose(file);
    return (unsigned)strtoul(answer, NULL, 10);
}

// Explain events of all runs that hold all texts (NULL: any).
static unsigned count_explained(const door_t *door, const char *what, const char *text,
                                const char *other) {
    char command[1200];
    snprintf(command, sizeof command,
             "cat %s/*/explained.ndjson 2>/dev/null | grep -F '\"event\":\"explain\"' | grep -F "
             "'\"what\":\"%s' | grep -F '%s' | grep -cF '%s'",
             door->runs, what ? what : "", text ? text : "", other ? other : "");
    return number_of(command);
}

static unsigned count_failures(const door_t *door) {
    char command[1200];
    snprintf(command, sizeof command,
             "cat %s/*/explained.ndjson 2>/dev/null | grep -F '\"event\":\"fallback\"' | grep -cF "
             "'\"what\":\"explain\"'",
             door->runs);
    return number_of(command);
}

static void show_journals(const door_t *door) {
    char command[1400];
    snprintf(command, sizeof command,
             "cat %s/*/journal.ndjson %s/*/explained.ndjson | cut -c1-1200 | tail -n 6", door->runs,
             door->runs);
    if (system(command)) print_message("no journal\n");
}

#define assert_explained(door, count, what, text, other)                                           \
    do {                                                                                           \
        unsigned found_ = count_explained(door, what, text, other);                                \
        if (found_ != (count)) show_journals(door);                                                \
        assert_int_equal(found_, count);                                                           \
    } while (0)

// ---- in a child --------------------------------------------------------------------------------

static keel_bytes_t sample(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    CHECK(!keel_file_read(path, 1 << 24, &data, &size));
    return keel_bytes(data, size);
}

// Takes the code.
static PJRT_LoadedExecutable *compile_code(const PJRT_Api *api, PJRT_Client *client,
                                           keel_bytes_t code) {
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, door_compile_bytes(api, client, "mlir", code, &loaded));
    keel_free((void *)(uintptr_t)code.data);
    return loaded;
}

static PJRT_LoadedExecutable *compile_sample(const PJRT_Api *api, PJRT_Client *client,
                                             const char *name) {
    return compile_code(api, client, sample(name));
}

static void live_with(const char *const *names, size_t count) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (size_t i = 0; i < count; ++i)
        door_destroy(api, compile_sample(api, client, names[i]));
    door_close(api, client);
}

static void once(const door_t *door) {
    (void)door;
    live_with((const char *const[]){NESTED}, 1);
}

static void thirty_times(const door_t *door) {
    (void)door;
    const char *names[30];
    for (int i = 0; i < 30; ++i)
        names[i] = NESTED;
    live_with(names, 30);
}

static void one_and_the_other(const door_t *door) {
    (void)door;
    live_with((const char *const[]){SPMD, SPMD_OTHER}, 2);
}

static void the_other(const door_t *door) {
    (void)door;
    live_with((const char *const[]){SPMD_OTHER}, 1);
}

static void the_one(const door_t *door) {
    (void)door;
    live_with((const char *const[]){SPMD}, 1);
}

static void put_number(keel_bytes_t code, float old, float number) {
    uint8_t *at = memmem(code.data, code.size, &old, sizeof old);
    CHECK(at);
    memcpy(at, &number, sizeof number);
}

// A program of few operations under another name, of as many letters; 6 and 1 in it are others.
static keel_bytes_t variant(const char *name, float six, float one) {
    keel_bytes_t code = sample(DONATE);
    uint8_t *at = memmem(code.data, code.size, "jit_donate", 10);
    CHECK(at && strlen(name) == 10);
    memcpy(at, name, 10);
    put_number(code, 1, one);
    put_number(code, 6, six);
    return code;
}

static void live_with_variants(const char *name, int count) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < count; ++i)
        door_destroy(api, compile_code(api, client, variant(name, 100 + (float)i, 1)));
    door_close(api, client);
}

static void nine_of_a_traced_function(const door_t *door) {
    (void)door;
    live_with_variants("jit_donate", 9);
}

// No frame of the program is of a function of that name.
static void nine_of_an_operation(const door_t *door) {
    (void)door;
    live_with_variants("jit_divide", 9);
}

static void two_functions_of_one_program(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    door_destroy(api, compile_code(api, client, variant("jit_donate", 6, 1)));
    door_destroy(api, compile_code(api, client, variant("jit_second", 6, 1)));
    door_close(api, client);
}

// The third is like the first but for one number, and like the second but for two.
static void back_and_on(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    door_destroy(api, compile_code(api, client, variant("jit_donate", 6, 1)));
    door_destroy(api, compile_code(api, client, variant("jit_donate", 7, 2)));
    door_destroy(api, compile_code(api, client, variant("jit_donate", 8, 1)));
    door_close(api, client);
}

static void uncacheable_twice(const door_t *door) {
    (void)door;
    live_with(
        (const char *const[]){"mlir/custom_partitioning.mlir", "mlir/custom_partitioning.mlir"}, 2);
}

static void unread(const door_t *door) {
    (void)door;
    door_live("alpha");
    door_live("alpha");
}

static void compile_and_leave(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    compile_sample(api, door_client(api), NESTED);
}

static void nothing(const door_t *door) {
    (void)door;
    live_with(NULL, 0);
}

// Its journal is complete before the client is gone, though the process ends without a word.
static void close_and_vanish(const door_t *door) {
    once(door);
    _exit(0);
}

// ---- the cases ---------------------------------------------------------------------------------

static void test_the_first_of_its_kind_is_compared_with_nothing(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", "\"recompile\":false");
    assert_explained(door, 0, NULL, "\"against\"", NULL);
    assert_explained(door, 1, NULL, "\"stack_skipped\":\"there is no Python in this process\"",
                     "\"name\":\"jit_nested_jit\"");
    // The root has no place of its own: it is that of the call.
    assert_explained(door, 1, NULL, "\"roots\":[{ \"kind\":\"first\",\"file\":\"", NULL);
}

static void test_a_process_that_ends_right_after_a_compile_has_told_of_it(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "TEST_PLUGIN=load_ms=200", compile_and_leave);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", NULL);
    run_and_analyze(door, "TEST_PLUGIN=load_ms=200\nKEEL_MODE=refresh", close_and_vanish);
    assert_explained(door, 2, "compile\"", NULL, NULL);
}

static void test_a_plain_load_is_not_explained_but_known(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", the_one);
    run_and_analyze(door, "KEEL_RUN_ID=second", one_and_the_other);
    assert_explained(door, 2, NULL, NULL, NULL);
    // What the second run loaded is what it is compared with, though the first run had it too.
    assert_explained(door, 1, "compile\"", "\"recompile\":true", "\"run\":\"second\"");
    assert_explained(door, 1, "compile\"", "\"recompile\":true", "\"is_ours\":true");
}

static void test_a_load_that_was_a_recompile_is_explained_by_what_this_run_had(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", one_and_the_other);
    run_and_analyze(door, "KEEL_RUN_ID=second", one_and_the_other);
    assert_explained(door, 1, "load\"", "\"recompile\":true", "\"run\":\"second\"");
    assert_explained(door, 0, "load\"", "\"kind\":\"retrace\"", NULL);
    assert_explained(door, 0, "load\"", "\"kind\":\"cache\"", NULL);
}

static void test_a_program_asked_for_again_is_a_retrace_and_told_only_so_often(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", thirty_times);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", NULL);
    assert_explained(door, 16, "retrace\"", "\"kind\":\"retrace\"", "\"is_ours\":true");
    assert_explained(door, 16, "retrace\"", "\"stack_skipped\"", NULL);
    assert_explained(door, 17, NULL, NULL, NULL);
    assert_int_equal(count_own_loads(door), 29);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"times\":13,"), 1);
}

static void test_a_program_is_compared_with_what_differs_least(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", back_and_on);
    assert_explained(door, 2, "compile\"", "\"recompile\":true", NULL);
    assert_explained(door, 1, "compile\"", "\"recompile\":true", "\"folded_total\":1,");
    assert_explained(door, 1, "compile\"", "\"old\":\"6\",\"new\":\"8\"", "\"root_total\":1");
}

static void test_another_function_that_is_the_same_program_is_no_retrace(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", two_functions_of_one_program);
    assert_explained(door, 1, NULL, NULL, NULL);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"recompile\":false"), 1);
}

static void test_a_single_operation_is_marked_and_no_recompile(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", nine_of_a_traced_function);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", "\"recompile\":true"), 8);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", "\"eager\":true"), 0);
    run_and_analyze(door, "KEEL_MODE=refresh", nine_of_an_operation);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", "\"recompile\":true"), 8);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", "\"eager\":true"), 9);
}

static void test_without_a_memory_tier_it_is_a_retrace_too(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "KEEL_MEMORY_LIMIT=0", thirty_times);
    assert_explained(door, 16, "retrace\"", "\"kind\":\"retrace\"", NULL);
}

static void test_an_unchanged_program_that_is_compiled_says_what_became_of_its_entry(void **state) {
    const door_t *door = *state;
    char command[700];
    run_and_analyze(door, "KEEL_RUN_ID=first", once);
    snprintf(command, sizeof command, "rm -r %s/entries", door->place.cache);
    assert_int_equal(system(command), 0);
    run_and_analyze(door, "", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"cache\",\"subject\":\"absent\"",
                     "\"run\":\"first\"");
    snprintf(command, sizeof command, "for f in %s/entries/*/*.keel; do printf X >>$f; done",
             door->place.cache);
    assert_int_equal(system(command), 0);
    run_and_analyze(door, "", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"cache\",\"subject\":\"damaged\"", NULL);
    run_and_analyze(door, "KEEL_MODE=refresh", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"cache\",\"subject\":\"refresh\"", NULL);
    assert_int_equal(chmod(door->place.cache, 0777), 0);
    run_and_analyze(door, "", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"cache\",\"subject\":\"unused\"",
                     "no cache folder is used");
}

static void test_what_must_not_be_cached_says_so(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", uncacheable_twice);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", NULL);
    assert_explained(door, 1, "retrace\"", "\"miss\":\"uncacheable\"", "CustomSPMDPartitioning");
}

static void test_what_is_compiled_again_is_a_retrace_and_told_only_so_often(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "KEEL_MODE=readonly", thirty_times);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", NULL);
    assert_explained(door, 16, "retrace\"", "\"kind\":\"retrace\"", "\"miss\":\"absent\"");
}

static void test_a_recompile_of_what_an_earlier_run_had_tells_both(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", one_and_the_other);
    run_and_analyze(door, "KEEL_MODE=refresh\nKEEL_RUN_ID=second", one_and_the_other);
    assert_explained(door, 1, "compile\"", "\"recompile\":true,", "\"kind\":\"cache\"");
    assert_explained(door, 0, "compile\"", "\"recompile\":true,",
                     "\"roots\":[{ \"kind\":\"cache\"");
}

static void test_another_flag_is_found_without_the_old_program(void **state) {
    const door_t *door = *state;
    char command[700];
    run_and_analyze(door, "KEEL_RUN_ID=first", once);
    snprintf(command, sizeof command, "rm %s/programs/*", door->runs);
    assert_int_equal(system(command), 0);
    run_and_analyze(door, "XLA_FLAGS=--xla_cpu_max_isa=AVX2", once);
    assert_explained(door, 1, "compile\"", "\"kind\":\"flag\"", "\"run\":\"first\"");
    assert_explained(door, 1, "compile\"", "xla_cpu_max_isa", "AVX2");
}

static void test_what_cannot_be_explained_is_a_line_in_the_journal(void **state) {
    const door_t *door = *state;
    char command[700];
    run_and_analyze(door, "", the_one);
    snprintf(command, sizeof command, "rm %s/programs/*", door->runs);
    assert_int_equal(system(command), 0);
    run_and_analyze(door, "", the_other);
    assert_int_equal(count_failures(door), 1);
    assert_explained(door, 1, NULL, NULL, NULL);
    assert_int_equal(count_entries(door), 2);
    assert_int_equal(count_lines(door->errors, ""), 0);
    // It is known all the same.
    run_and_analyze(door, "KEEL_MODE=refresh", the_other);
    assert_explained(door, 1, "compile\"", "\"kind\":\"cache\"", NULL);
}

// A run that was removed, and its programs with it, is as if it had never been.
static void test_a_removed_run_is_nothing_to_compare_with(void **state) {
    const door_t *door = *state;
    char command[700];
    run_and_analyze(door, "KEEL_RUN_ID=first", the_one);
    snprintf(command, sizeof command, "rm -r %s/programs %s/first", door->runs, door->runs);
    assert_int_equal(system(command), 0);
    run_and_analyze(door, "", the_other);
    assert_int_equal(count_failures(door), 0);
    assert_explained(door, 1, "compile\"", "\"kind\":\"first\"", NULL);
}

static void test_a_program_that_is_not_read_is_not_explained(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "", unread);
    assert_explained(door, 0, NULL, NULL, NULL);
    assert_int_equal(count_failures(door), 0);
}

static void test_the_stack_has_an_off_switch(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "KEEL_STACK=off", once);
    assert_explained(door, 1, "compile\"", "\"stack_skipped\":\"the setting stack is off\"", NULL);
}

static void test_without_a_journal_nothing_is_explained_or_kept(void **state) {
    const door_t *door = *state;
    run_and_analyze(door, "KEEL_RUN_DIR=/dev/null", one_and_the_other);
    assert_int_equal(count_entries(door), 2);
    assert_int_equal(count_lines(door->errors, ""), 1);
}

static void test_a_history_that_cannot_be_written_costs_no_more_than_itself(void **state) {
    const door_t *door = *state;
    char path[600];
    assert_int_equal(mkdir(door->runs, 0700), 0);
    snprintf(path, sizeof path, "%s/history", door->runs);
    write_bytes(path, "no folder", 9);
    run_and_analyze(door, "", one_and_the_other);
    assert_explained(door, 1, "compile\"", "\"recompile\":true", "\"is_ours\":true");
    assert_int_equal(count_entries(door), 2);
}

static void test_a_run_that_asked_for_nothing_is_left_alone(void **state) {
    const door_t *door = *state;
    char command[700];
    run_and_analyze(door, "", nothing);
    run_and_analyze(door, "", once);
    snprintf(command, sizeof command, "ls %s/*/journal.ndjson %s/*/explained.ndjson | wc -l",
             door->runs, door->runs);
    assert_int_equal(number_of(command), 3);
}

#ifdef KEEL_FAULTS
enum { NOT_REACHED = 3 };
static uint64_t failing;

static void recompile_without_memory(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    door_destroy(api, compile_sample(api, client, SPMD));
    PJRT_Client *second = door_client(api);
    door_close(api, client); // waits until the first is explained
    keel_bytes_t other = sample(SPMD_OTHER);
    keel_fault_arm(KEEL_FAULT_ALLOC, failing);
    door_destroy(api, compile_code(api, second, other));
    door_close(api, second);
    if (keel_fault_count(KEEL_FAULT_ALLOC) < failing) _exit(NOT_REACHED);
}

static void test_each_allocation_that_fails_on_the_way_costs_an_explanation_at_most(void **state) {
    const door_t *door = *state;
    int status = 0;
    unsigned runs = 0;
    for (failing = 1; status != NOT_REACHED; failing += 1 + failing / 60, ++runs) {
        assert_true(failing < 100000);
        status = door_wait(door_start(door, "KEEL_MODE=refresh", recompile_without_memory));
        if (status && status != NOT_REACHED) {
            print_message("allocation %d\n", (int)failing);
            door_show(door->errors);
            assert_int_equal(status, 0);
        }
    }
    assert_true(runs > 50);
    assert_int_equal(count_lines(door->calls, "compile "), 2 * runs);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_of_its_kind_is_compared_with_nothing),
        TEST(a_process_that_ends_right_after_a_compile_has_told_of_it),
        TEST(a_plain_load_is_not_explained_but_known),
        TEST(a_load_that_was_a_recompile_is_explained_by_what_this_run_had),
        TEST(a_program_asked_for_again_is_a_retrace_and_told_only_so_often),
        TEST(a_program_is_compared_with_what_differs_least),
        TEST(another_function_that_is_the_same_program_is_no_retrace),
        TEST(a_single_operation_is_marked_and_no_recompile),
        TEST(without_a_memory_tier_it_is_a_retrace_too),
        TEST(an_unchanged_program_that_is_compiled_says_what_became_of_its_entry),
        TEST(what_must_not_be_cached_says_so),
        TEST(what_is_compiled_again_is_a_retrace_and_told_only_so_often),
        TEST(a_recompile_of_what_an_earlier_run_had_tells_both),
        TEST(another_flag_is_found_without_the_old_program),
        TEST(what_cannot_be_explained_is_a_line_in_the_journal),
        TEST(a_removed_run_is_nothing_to_compare_with),
        TEST(a_program_that_is_not_read_is_not_explained),
        TEST(the_stack_has_an_off_switch),
        TEST(without_a_journal_nothing_is_explained_or_kept),
        TEST(a_history_that_cannot_be_written_costs_no_more_than_itself),
        TEST(a_run_that_asked_for_nothing_is_left_alone),
#ifdef KEEL_FAULTS
        TEST(each_allocation_that_fails_on_the_way_costs_an_explanation_at_most),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
