// How long a process waits for others that do not ask, what it says meanwhile, and why it stops
// comparing: by a clock that runs as the test wants.
#define _GNU_SOURCE
#include "ranks_help.h"

#include <stdarg.h>

enum { SAID_MOST = 8 };

// Of the thread that waits: with each look at it, its clock is a step further.
static _Thread_local uint64_t now, step;

static struct {
    char text[512];
    double after; // seconds
} said[SAID_MOST];
static size_t said_count;

// What it left for processes that ask for nothing.
static char left[512], left_at[KEEL_MEET_KEY];
static double left_after; // seconds
static size_t left_count;

uint64_t __real_keel_clock_monotonic(void);
uint64_t __wrap_keel_clock_monotonic(void);
void __wrap_keel_log_line(const char *format, ...);
keel_status_t __real_ranks_put_text(const ranks_t *ranks, const char *key, const char *text);
keel_status_t __wrap_ranks_put_text(const ranks_t *ranks, const char *key, const char *text);

uint64_t __wrap_keel_clock_monotonic(void) {
    return step ? now += step : __real_keel_clock_monotonic();
}

void __wrap_keel_log_line(const char *format, ...) {
    va_list arguments;
    assert_true(said_count < SAID_MOST);
    va_start(arguments, format);
    vsnprintf(said[said_count].text, sizeof said->text, format, arguments);
    va_end(arguments);
    said[said_count++].after = (double)now / 1e9;
}

keel_status_t __wrap_ranks_put_text(const ranks_t *ranks, const char *key, const char *text) {
    if (step && strncmp(text, "waits ", 6) == 0) {
        ++left_count;
        left_after = (double)now / 1e9;
        snprintf(left, sizeof left, "%s", text);
        snprintf(left_at, sizeof left_at, "%s", key);
    }
    return __real_ranks_put_text(ranks, key, text);
}

// ---- two processes -----------------------------------------------------------------------------

typedef struct asker_t {
    ranks_stage_t *stage;
    uint32_t process;
    char program;
    double step; // in seconds; 0: by the real clock
} asker_t;

static void *ask(void *context) {
    static const uint32_t members[] = {0, 1};
    const asker_t *asker = context;
    ranks_ask_t one = ask_of(asker->program, asker->process, members, 2);
    now = 0;
    step = (uint64_t)(asker->step * 1e9);
    keel_status_t status = ranks_check(asker->stage->ranks[asker->process], &one);
    step = 0;
    assert_ok(status);
    return NULL;
}

// A process asks from one thread only.
static void ask_here(ranks_stage_t *stage, uint32_t process, char program, double seconds) {
    ask(&(asker_t){stage, process, program, seconds});
}

static ranks_stage_t *begin(const char *agree) {
    said_count = left_count = 0;
    return stage_make(agree);
}

static void assert_said(size_t which, const char *text, double from, double to) {
    if (which >= said_count) fail_msg("not said: %s", text);
    assert_string_equal(said[which].text, text);
    if (said[which].after < from || said[which].after >= to)
        fail_msg("%s: after %g s", text, said[which].after);
}

#define OFF "the programs of the processes are not compared: "

// ---- the cases ---------------------------------------------------------------------------------

static void whom_it_waits_for_is_said_once_after_ten_seconds(void **state) {
    (void)state;
    char text[700];
    ranks_stage_t *stage = begin("folder");
    ask_here(stage, 0, 'a', 0.2);
    assert_int_equal(said_count, 2);
    assert_said(0, "process 0 waits for process 1, which has not asked for jit_step yet", 10, 11);
    snprintf(text, sizeof text,
             OFF "process 1 has not come to %s/ranks within 30 seconds: it has ended or meets "
                 "elsewhere",
             stage->place.root);
    assert_said(1, text, 30, 31);
    stage_remove(stage);
}

static void one_that_is_not_the_first_waits_for_all(void **state) {
    (void)state;
    ranks_stage_t *stage = begin("folder");
    ask_here(stage, 1, 'a', 0.2);
    assert_int_equal(said_count, 2);
    assert_said(0, "process 1 waits for the others, which have not all asked for jit_step yet", 10,
                11);
    stage_remove(stage);
}

static void that_it_waits_is_left_once_after_a_second(void **state) {
    (void)state;
    static const char *const letters[] = {"waits 0 0", "waits 1 0"};
    for (uint32_t process = 0; process < 2; ++process) {
        ranks_stage_t *stage = begin("folder");
        ask_here(stage, process, 'a', 0.2);
        assert_int_equal(left_count, 1);
        assert_string_equal(left, letters[process]);
        assert_non_null(strstr(left_at, "-1-waits"));
        assert_true(left_after >= 1 && left_after < 2);
        stage_remove(stage);
    }
}

// Both met, and the other one goes on.
static void meet_first(ranks_stage_t *stage) {
    pthread_t thread;
    asker_t other = {stage, 1, 'a', 0};
    pthread_create(&thread, NULL, ask, &other);
    ask_here(stage, 0, 'a', 0);
    pthread_join(thread, NULL);
}

static void one_that_was_there_is_waited_for_ten_minutes(void **state) {
    (void)state;
    ranks_stage_t *stage = begin("folder");
    meet_first(stage);
    ask_here(stage, 0, 'b', 0.2);
    assert_int_equal(said_count, 2);
    assert_said(1, OFF "process 1 has not asked for jit_step within 10 minutes", 600, 601);
    stage_remove(stage);
}

// All processes of a client are known to come to its service. A wait there is over at once, since
// the clock of the waiting thread begins at zero.
static void in_the_clients_service_all_are_waited_for_ten_minutes(void **state) {
    (void)state;
    ranks_stage_t *stage = begin("client");
    ask_here(stage, 0, 'a', 0.2);
    assert_int_equal(said_count, 2);
    assert_said(1, OFF "process 1 has not asked for jit_step within 10 minutes", 600, 602);
    stage_remove(stage);
}

static void one_that_has_ended_is_not_waited_for(void **state) {
    (void)state;
    ranks_stage_t *stage = begin("folder");
    pid_t child = fork();
    if (!child) {
        const ranks_executions_t executions = {count_executions, &stage->executions[1]};
        ranks_destroy(stage->ranks[1]);
        if (ranks_create(&stage->settings, stage->place.root, &executions, &stage->ranks[1]))
            _exit(1);
        ask_here(stage, 1, 'a', 0);
        _exit(0);
    }
    ask_here(stage, 0, 'a', 0);
    waitpid(child, NULL, 0);
    assert_int_equal(said_count, 0);
    ask_here(stage, 0, 'b', 0.2);
    assert_int_equal(said_count, 1);
    assert_said(0, OFF "process 1 has ended", 0, 2);
    stage_remove(stage);
}

// Of the two, `first` waits in vain; then the other one compares no more either, and says why.
static void check_both_stop(uint32_t first) {
    ranks_stage_t *stage = begin("folder");
    uint32_t second = 1 - first;
    ask_here(stage, first, 'a', 0.2);
    assert_int_equal(said_count, 2);
    ask_here(stage, second, 'a', 0.2);
    ask_here(stage, second, 'b', 0.2);
    assert_int_equal(said_count, 3);
    assert_said(2, said[1].text, 0, 5);
    ask_here(stage, second, 'c', 0.2);
    ask_here(stage, first, 'd', 0.2);
    assert_int_equal(said_count, 3);
    stage_remove(stage);
}

static void one_that_stops_to_compare_stops_the_others(void **state) {
    (void)state;
    check_both_stop(0);
    check_both_stop(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whom_it_waits_for_is_said_once_after_ten_seconds),
        cmocka_unit_test(one_that_is_not_the_first_waits_for_all),
        cmocka_unit_test(that_it_waits_is_left_once_after_a_second),
        cmocka_unit_test(one_that_was_there_is_waited_for_ten_minutes),
        cmocka_unit_test(in_the_clients_service_all_are_waited_for_ten_minutes),
        cmocka_unit_test(one_that_has_ended_is_not_waited_for),
        cmocka_unit_test(one_that_stops_to_compare_stops_the_others),
    };
    return cmocka_run_group_tests_name("waiting for others", tests, NULL, NULL);
}
