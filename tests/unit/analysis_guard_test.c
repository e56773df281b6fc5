// A program whose explanation crashes or never ends costs one line and nothing else.
#define _GNU_SOURCE
#include "door_help.h"

#include <sys/mman.h>

#include "analysis/analysis.h"
#include "analysis/guard.h"
#include "explain/explain.h"
#include "text/text.h"

// ---- what goes wrong ---------------------------------------------------------------------------

typedef enum wrong { NOTHING, CRASH, HANG, CRASH_ALWAYS } wrong_t;

// Shared with the children that explain.
static struct {
    _Atomic int calls;
    int at; // the call that goes wrong
    wrong_t wrong;
} * plot;

keel_status_t __real_keel_explain(const keel_side_t *old_side, const keel_side_t *new_side,
                                  keel_explanation_t *out);
keel_status_t __wrap_keel_explain(const keel_side_t *old_side, const keel_side_t *new_side,
                                  keel_explanation_t *out);

keel_status_t __wrap_keel_explain(const keel_side_t *old_side, const keel_side_t *new_side,
                                  keel_explanation_t *out) {
    bool is_due = ++plot->calls == plot->at;
    if ((is_due && plot->wrong == CRASH) || plot->wrong == CRASH_ALWAYS) kill(getpid(), SIGSEGV);
    while (is_due && plot->wrong == HANG)
        ++*(volatile int *)&(int){0};
    return __real_keel_explain(old_side, new_side, out);
}

static void go_wrong(wrong_t wrong, int at) {
    plot->calls = 0;
    plot->at = at;
    plot->wrong = wrong;
}

// ---- a run -------------------------------------------------------------------------------------

static void put_number(keel_bytes_t code, float old, float number) {
    uint8_t *at = memmem(code.data, code.size, &old, sizeof old);
    CHECK(at);
    memcpy(at, &number, sizeof number);
}

// Five programs of one function: four recompiles.
static void compile_variants(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < 5; ++i) {
        uint8_t *data;
        size_t size;
        CHECK(!keel_file_read(KEEL_TEST_SAMPLES "/mlir/donate.mlir", 1 << 24, &data, &size));
        put_number(keel_bytes(data, size), 6, 100 + (float)i);
        PJRT_LoadedExecutable *loaded;
        NO_ERROR(api, door_compile_bytes(api, client, "mlir", keel_bytes(data, size), &loaded));
        door_destroy(api, loaded);
        keel_free(data);
    }
    door_close(api, client);
}

static unsigned count_answers(const door_t *door, const char *event) {
    char command[700], answer[32] = "";
    snprintf(command, sizeof command, "cat %s/r1/explained.ndjson | grep -cF '\"event\":\"%s\"'",
             door->runs, event);
    FILE *file = popen(command, "r");
    assert_non_null(file);
    assert_non_null(fgets(answer, sizeof answer, file));
    pclose(file);
    return (unsigned)strtoul(answer, NULL, 10);
}

static unsigned files_beside(const door_t *door) {
    char command[700], answer[32] = "";
    snprintf(command, sizeof command, "ls -A %s/r1 | grep -cv '^journal.ndjson$'", door->runs);
    FILE *file = popen(command, "r");
    assert_non_null(file);
    assert_non_null(fgets(answer, sizeof answer, file));
    pclose(file);
    return (unsigned)strtoul(answer, NULL, 10);
}

// ---- the cases ---------------------------------------------------------------------------------

static void analyze(const door_t *door, unsigned explained, unsigned failed) {
    assert_ok(keel_analysis_ensure(door->runs, "r1"));
    assert_int_equal(count_answers(door, "explain"), explained);
    assert_int_equal(count_answers(door, "fallback"), failed);
    assert_int_equal(count_answers(door, "covered"), 1);
    assert_int_equal(files_beside(door), 1);
}

static void test_a_crash_costs_one_explanation(void **state) {
    const door_t *door = *state;
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    go_wrong(CRASH, 3);
    analyze(door, 4, 1);
}

static void test_a_crash_is_a_line_of_the_summary_and_of_why(void **state) {
    const door_t *door = *state;
    keel_why_t stats;
    keel_why_t why;
    keel_buffer_t text;
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    go_wrong(CRASH, 3);
    assert_ok(keel_analysis_ensure(door->runs, "r1"));
    assert_ok(keel_why_read(door->runs, "r1", 0, &stats));
    assert_ok(keel_why_read(door->runs, "r1", KEEL_RUN_DETAILS, &why));
    keel_buffer_initialize(&text, 0);
    keel_text_summary(&stats, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), "keel: 1 program could not be explained, "));
    keel_buffer_deinitialize(&text);
    keel_text_why(&why, &(keel_text_style_t){.width = 0}, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), "1 program could not be explained, jit_"));
    assert_non_null(strstr(keel_buffer_cstr(&text), "it crashed the process that explains"));
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&why);
    keel_why_deinitialize(&stats);
}

static void test_a_program_without_end_costs_one_explanation(void **state) {
    const door_t *door = *state;
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    go_wrong(HANG, 2);
    guard_patience = 0.5;
    analyze(door, 4, 1);
    guard_patience = 60;
}

static void test_where_all_crash_what_needs_no_comparison_stands(void **state) {
    const door_t *door = *state;
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    go_wrong(CRASH_ALWAYS, 0);
    analyze(door, 1, 4);
}

static void test_a_follower_that_crashes_is_made_up_for(void **state) {
    const door_t *door = *state;
    keel_analysis_follower_t follower;
    go_wrong(CRASH, 2);
    keel_analysis_follow(door->runs, "r1", NULL, NULL, &follower);
    assert_true(follower.child > 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    keel_analysis_follow_end(&follower);
    analyze(door, 5, 0);
}

static void test_a_follower_leaves_nothing_to_do(void **state) {
    const door_t *door = *state;
    keel_analysis_follower_t follower;
    go_wrong(NOTHING, 0);
    keel_analysis_follow(door->runs, "r1", NULL, NULL, &follower);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    keel_analysis_follow_end(&follower);
    assert_int_equal(count_answers(door, "explain"), 5);
    int calls = plot->calls;
    assert_ok(keel_analysis_ensure(door->runs, "r1"));
    assert_int_equal(plot->calls, calls);
}

static void test_one_journal_gives_one_answer(void **state) {
    const door_t *door = *state;
    char command[1400];
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    assert_ok(keel_analysis_ensure(door->runs, "r1"));
    snprintf(command, sizeof command, "cp %s/r1/explained.ndjson %s/first", door->runs,
             door->place.root);
    assert_int_equal(system(command), 0);
    // Anew, as a newer Keel does.
    snprintf(command, sizeof command, "rm %s/r1/explained.ndjson", door->runs);
    assert_int_equal(system(command), 0);
    assert_ok(keel_analysis_ensure(door->runs, "r1"));
    snprintf(command, sizeof command, "cmp %s/r1/explained.ndjson %s/first", door->runs,
             door->place.root);
    assert_int_equal(system(command), 0);
}

static void test_a_journal_that_has_grown_is_continued(void **state) {
    const door_t *door = *state;
    go_wrong(NOTHING, 0);
    door_run(door, "KEEL_RUN_ID=r1", compile_variants);
    analyze(door, 5, 0);
    int calls = plot->calls;
    door_run(door, "KEEL_RUN_ID=r1\nKEEL_MODE=refresh", compile_variants);
    analyze(door, 10, 0);
    // What is answered already is not compared again: four comparisons and what the candidates
    // take, no more than the first time.
    assert_true(plot->calls - calls <= calls);
}

static void an_explaining_process_that_is_stopped_is_given_up(void **state) {
    (void)state;
    pid_t child;
    uint64_t usual = keel_limit(KEEL_LIMIT_CHILD_STOPPED);
    walk_watch_t *watch = guard_watch_create();
    assert_non_null(watch);
    keel_limit_set(KEEL_LIMIT_CHILD_STOPPED, 10);
    assert_ok(guard_fork(&child));
    if (!child) {
        raise(SIGSTOP);
        guard_leave(NULL, watch);
    }
    assert_int_equal(guard_wait(child, watch), GUARD_BROKEN);
    keel_limit_set(KEEL_LIMIT_CHILD_STOPPED, usual);
    guard_watch_destroy(watch);
}

// Reading a long journal takes time before the first ask.
static void patience_is_for_an_ask_and_not_for_what_is_before_the_first(void **state) {
    (void)state;
    pid_t child;
    walk_watch_t *watch = guard_watch_create();
    assert_non_null(watch);
    guard_patience = 0.05;
    assert_ok(guard_fork(&child));
    if (!child) {
        uint64_t until = keel_clock_thread() + 500000000u;
        while (keel_clock_thread() < until)
            continue;
        atomic_store(&watch->asked, 1);
        guard_leave(NULL, watch);
    }
    assert_int_equal(guard_wait(child, watch), GUARD_DONE);
    guard_patience = 60;
    guard_watch_destroy(watch);
}

int main(void) {
    plot = mmap(NULL, sizeof *plot, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plot == MAP_FAILED) return 1;
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_crash_costs_one_explanation),
        TEST(a_crash_is_a_line_of_the_summary_and_of_why),
        TEST(a_program_without_end_costs_one_explanation),
        cmocka_unit_test(an_explaining_process_that_is_stopped_is_given_up),
        cmocka_unit_test(patience_is_for_an_ask_and_not_for_what_is_before_the_first),
        TEST(where_all_crash_what_needs_no_comparison_stands),
        TEST(a_follower_that_crashes_is_made_up_for),
        TEST(a_follower_leaves_nothing_to_do),
        TEST(one_journal_gives_one_answer),
        TEST(a_journal_that_has_grown_is_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
