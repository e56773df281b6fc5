// Small parts of an engine, each alone: what functions asked for, what comes up once, executions
// and steps, transfers.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "engine/counters.h"
#include "engine/functions.h"
#include "engine/once.h"
#include "engine/transfer_counter.h"
#include "place.h"

static keel_digest_t digest_of(const char *text) {
    return keel_digest(keel_str_bytes(keel_str(text)));
}

// ---- functions ---------------------------------------------------------------------------------

static void assert_known(functions_t *functions, const functions_ask_t *ask, uint64_t keys,
                         uint64_t asked, uint64_t by_thread) {
    functions_known_t known;
    assert_ok(functions_note(functions, ask, &known));
    assert_int_equal(known.keys, keys);
    assert_int_equal(known.asked, asked);
    assert_int_equal(known.asked_by_thread, by_thread);
}

static void a_function_is_its_name_and_its_origin(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(functions_create(&engine));
    functions_t *functions = engine.functions;
    const keel_digest_t a = digest_of("a"), b = digest_of("b");
    assert_known(functions, &(functions_ask_t){"f", "xy", &a, false}, 0, 0, 0);
    assert_known(functions, &(functions_ask_t){"f", "xy", &a, false}, 1, 1, 1);
    assert_known(functions, &(functions_ask_t){"f", "xy", &b, false}, 1, 0, 0);
    assert_known(functions, &(functions_ask_t){"f", "xy", &a, false}, 2, 2, 2);
    // None of these is the same one.
    assert_known(functions, &(functions_ask_t){"g", "xy", &a, false}, 0, 0, 0);
    assert_known(functions, &(functions_ask_t){"f", "y", &a, false}, 0, 0, 0);
    assert_known(functions, &(functions_ask_t){"fx", "y", &a, false}, 0, 0, 0);
    assert_known(functions, &(functions_ask_t){"", "fxy", &a, false}, 0, 0, 0);
    functions_destroy(functions);
}

static void *ask_as_replica(void *context) {
    static const keel_digest_t key;
    functions_known_t *known = calloc(2, sizeof *known);
    for (int i = 0; i < 2; ++i)
        keel_status_ignore(
            functions_note(context, &(functions_ask_t){"f", "o", &key, true}, &known[i]));
    return known;
}

// All replicas of a program ask for it: that one of them does so a second time is what counts.
static void a_replica_counts_what_its_own_thread_asked_for(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(functions_create(&engine));
    for (uint64_t i = 0; i < 3; ++i) {
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, ask_as_replica, engine.functions), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        functions_known_t *known = result;
        assert_int_equal(known[0].asked, 2 * i);
        assert_int_equal(known[1].asked, 2 * i + 1);
        assert_int_equal(known[0].asked_by_thread, 0);
        assert_int_equal(known[1].asked_by_thread, 1);
        assert_int_equal(known[1].keys, 1);
        free(known);
    }
    functions_destroy(engine.functions);
    functions_destroy(NULL);
}

// ---- once --------------------------------------------------------------------------------------

static bool is_first(keel_engine_t *engine, once_kind_t kind, const char *name, int number) {
    char text[64];
    snprintf(text, sizeof text, "%s%d", name, number);
    return once_first(engine->once, kind, keel_str_bytes(keel_str(text)));
}

static void what_comes_up_again_is_not_the_first_of_its_kind(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(once_create(&engine));
    for (int kind = 0; kind < ONCE_KINDS; ++kind) {
        assert_true(is_first(&engine, (once_kind_t)kind, "a", 0));
        assert_false(is_first(&engine, (once_kind_t)kind, "a", 0));
        assert_true(is_first(&engine, (once_kind_t)kind, "b", 0));
    }
    // Names of options and of sources have a limit, others none.
    unsigned options = 0, sources = 0, values = 0;
    for (int i = 1; i < 3000; ++i) {
        options += is_first(&engine, ONCE_OPTIONS, "a", i);
        sources += is_first(&engine, ONCE_SOURCE, "a", i);
        values += is_first(&engine, ONCE_VALUE, "a", i);
    }
    assert_int_equal(options, 1022);
    assert_int_equal(sources, 510);
    assert_int_equal(values, 2999);
    once_destroy(engine.once);
    once_destroy(NULL);
}

// ---- counters ----------------------------------------------------------------------------------

static void assert_collected(counters_t *counters, size_t count, uint64_t first, uint64_t total) {
    keel_journal_counts_t counts;
    assert_ok(counters_collect(counters, &counts));
    assert_int_equal(counts.size, count);
    if (count) assert_int_equal(counts.data[0].count, first);
    assert_int_equal(counters_total(counters), total);
    keel_free((void *)(uintptr_t)counts.data);
}

static void executions_are_collected_once(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(counters_create(&engine));
    counters_t *counters = engine.counters;
    const keel_digest_t a = digest_of("a"), b = digest_of("b");
    counter_t *first, *again, *second;
    assert_null(counters_find(counters, &a));
    assert_ok(counters_of(counters, &a, &first));
    assert_ok(counters_of(counters, &a, &again));
    assert_ok(counters_of(counters, &b, &second));
    assert_ptr_equal(first, again);
    assert_ptr_equal(counters_find(counters, &b), second);
    assert_memory_equal(counter_program(second)->bytes, b.bytes, sizeof b.bytes);
    assert_collected(counters, 0, 0, 0);
    assert_int_equal(counters_executed(counters, first), 0);
    assert_int_equal(counters_executed(counters, first), 1);
    assert_int_equal(counters_executed(counters, NULL), 0);
    assert_int_equal(counters_executed(counters, NULL), 1);
    assert_collected(counters, 1, 2, 4);
    assert_collected(counters, 0, 0, 4);
    assert_int_equal(counters_executed(counters, first), 2);
    assert_collected(counters, 1, 1, 5);
    counters_executed(counters, second);
    counters_executed(counters, first);
    assert_collected(counters, 2, 1, 7);
    assert_int_equal(counter_executions(first), 4);
    counters_destroy(counters);
    counters_destroy(NULL);
}

static uint64_t sum_of(keel_journal_counts_t counts) {
    uint64_t sum = 0;
    for (size_t i = 0; i < counts.size; ++i)
        sum += counts.data[i].count;
    keel_free((void *)(uintptr_t)counts.data);
    return sum;
}

static uint64_t collect_all(counters_t *counters) {
    keel_journal_counts_t counts;
    assert_ok(counters_collect(counters, &counts));
    return sum_of(counts);
}

// `programs` of all run once; as many are collected as `wanted`. Returns their executions.
static uint64_t execute_and_collect_few(counters_t *counters, counter_t **all, size_t programs,
                                        size_t wanted) {
    keel_journal_counts_t counts;
    bool is_all;
    for (size_t i = 0; i < programs; ++i)
        counters_executed(counters, all[i]);
    assert_ok(counters_collect_few(counters, &counts, &is_all));
    assert_int_equal(counts.size, wanted);
    assert_int_equal(is_all, wanted != 0);
    return sum_of(counts);
}

static void a_client_that_waits_collects_few_programs_for_each_of_its_calls(void **state) {
    (void)state;
    enum { PROGRAMS = 5000 };
    keel_engine_t engine = {0};
    assert_ok(counters_create(&engine));
    counters_t *counters = engine.counters;
    static counter_t *all[PROGRAMS];
    for (uint32_t i = 0; i < PROGRAMS; ++i) {
        keel_digest_t digest = digest_of("many");
        memcpy(digest.bytes, &i, sizeof i);
        assert_ok(counters_of(counters, &digest, &all[i]));
    }
    // An ordinary run: a few programs between two calls. Then thousands.
    uint64_t executions = 0;
    for (int call = 0; call < 100; ++call)
        executions += execute_and_collect_few(counters, all, 6, 6);
    executions += execute_and_collect_few(counters, all, 1000, 0);
    for (int call = 0; call < 234; ++call)
        executions += execute_and_collect_few(counters, all, 1, 0);
    executions += execute_and_collect_few(counters, all, 1, 1000);
    for (int call = 0; call < 1000; ++call)
        executions += execute_and_collect_few(counters, all, PROGRAMS, 0);
    executions += collect_all(counters);
    assert_int_equal(executions, counters_total(counters));
    counters_destroy(counters);
}

enum { EXECUTING = 4, EXECUTIONS = 100000, EXECUTED = 7 };
typedef struct executing_t {
    counters_t *counters;
    counter_t *programs[EXECUTED];
    _Atomic int left;
} executing_t;

static void *execute_in_turn(void *context) {
    executing_t *executing = context;
    for (int i = 0; i < EXECUTIONS; ++i)
        counters_executed(executing->counters, executing->programs[i % EXECUTED]);
    atomic_fetch_sub(&executing->left, 1);
    return NULL;
}

static void no_execution_is_lost_or_counted_twice_while_others_are_collected(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(counters_create(&engine));
    executing_t executing = {.counters = engine.counters, .left = EXECUTING};
    _Atomic uint64_t function = 0;
    for (uint8_t i = 0; i < EXECUTED; ++i) {
        keel_digest_t digest = digest_of("one");
        digest.bytes[0] = i;
        assert_ok(counters_of(engine.counters, &digest, &executing.programs[i]));
        counter_join(executing.programs[i], &function);
    }
    pthread_t threads[EXECUTING];
    uint64_t sum = 0;
    for (int i = 0; i < EXECUTING; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, execute_in_turn, &executing), 0);
    while (atomic_load(&executing.left))
        sum += collect_all(engine.counters);
    for (int i = 0; i < EXECUTING; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    sum += collect_all(engine.counters);
    assert_int_equal(sum, EXECUTING * EXECUTIONS);
    assert_int_equal(function, EXECUTING * EXECUTIONS);
    assert_int_equal(collect_all(engine.counters), 0);
    counters_destroy(engine.counters);
}

static void a_step_has_as_many_programs_as_it_executed_different_ones(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    assert_ok(counters_create(&engine));
    counters_t *counters = engine.counters;
    const keel_digest_t a = digest_of("a"), b = digest_of("b");
    counter_t *first, *second;
    assert_ok(counters_of(counters, &a, &first));
    assert_ok(counters_of(counters, &b, &second));
    for (int step = 0; step < 3; ++step) {
        for (int i = 0; i < 4; ++i)
            counters_executed(counters, first);
        if (step == 1) counters_executed(counters, second);
        counters_executed(counters, NULL);
        counters_steps_t steps = counters_steps(counters);
        assert_int_equal(steps.ended, step);
        assert_int_equal(steps.in_step, 1 + (step == 1));
        assert_int_equal(steps.in_last, step == 0 ? 0 : step == 1 ? 1 : 2);
        counters_step_ended(counters);
        assert_int_equal(counters_steps(counters).in_step, 0);
    }
    assert_int_equal(counters_collect_steps(counters), 3);
    assert_int_equal(counters_collect_steps(counters), 0);
    counters_step_ended(counters);
    assert_int_equal(counters_collect_steps(counters), 1);
    counters_destroy(counters);
}

// ---- transfers ---------------------------------------------------------------------------------

static void transfers_are_reported_since_the_last_report(void **state) {
    (void)state;
    transfer_counter_t counter = {0};
    transfer_count_t reported = {0};
    transfer_counter_add(&counter, 100);
    transfer_counter_add(&counter, 20);
    transfer_counter_took(&counter, 1500000000u);
    for (int round = 0; round < 3; ++round) {
        transfer_count_t now = transfer_counter_load(&counter);
        keel_journal_transfer_t fresh = transfer_count_since(&now, &reported);
        assert_int_equal(fresh.count, round == 0 ? 2 : round == 1 ? 0 : 1);
        assert_int_equal(fresh.bytes, round == 0 ? 120 : round == 1 ? 0 : 3);
        assert_true(fresh.seconds == (round == 0 ? 1.5 : round == 1 ? 0 : 0.25));
        if (round == 0) continue;
        transfer_counter_add(&counter, 3);
        transfer_counter_took(&counter, 250000000u);
    }
}

// ---- threads -----------------------------------------------------------------------------------

typedef struct mask_t {
    sigset_t blocked;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
} mask_t;

static void *note_mask(void *context) {
    mask_t *mask = context;
    pthread_mutex_lock(&mask->lock);
    pthread_sigmask(SIG_SETMASK, NULL, &mask->blocked);
    mask->is_done = true;
    pthread_cond_signal(&mask->done);
    pthread_mutex_unlock(&mask->lock);
    return NULL;
}

// The client's signals go to the client's threads; a crash is one wherever it happens.
static void a_thread_takes_no_signal_but_those_of_its_own_crash(void **state) {
    (void)state;
    static const int clients[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    static mask_t mask = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    sigset_t own;
    assert_true(engine_start_thread(note_mask, &mask));
    pthread_mutex_lock(&mask.lock);
    while (!mask.is_done)
        pthread_cond_wait(&mask.done, &mask.lock);
    pthread_mutex_unlock(&mask.lock);
    pthread_sigmask(SIG_SETMASK, NULL, &own);
    for (size_t i = 0; i < sizeof clients / sizeof *clients; ++i) {
        assert_true(sigismember(&mask.blocked, clients[i]));
        assert_false(sigismember(&own, clients[i])); // the caller's are as before
    }
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; ++i)
        assert_false(sigismember(&mask.blocked, crashes[i]));
}

// ---- places ------------------------------------------------------------------------------------

static void what_is_not_known_of_a_place_is_not_written(void **state) {
    (void)state;
    const keel_place_t whole = {"a.py", 1, "f", "b.py", 2, "c.py", 3, "", "d", "e.py", 4};
    keel_journal_site_t site = engine_site(&whole);
    assert_string_equal(site.file, "a.py");
    assert_string_equal(site.function, "f");
    assert_string_equal(site.call_file, "b.py");
    assert_string_equal(site.library_file, "c.py");
    assert_string_equal(site.application, "d");
    assert_string_equal(site.script_file, "e.py");
    assert_true(site.line == 1 && site.call_line == 2 && site.library_line == 3 &&
                site.script_line == 4);
    const keel_place_t none = {"", 0, "", "", 0, NULL, 0, NULL, "", NULL, 0};
    site = engine_site(&none);
    assert_true(!site.file && !site.function && !site.call_file && !site.library_file &&
                !site.application && !site.script_file);
}

// ---- replicas ----------------------------------------------------------------------------------

// Which device executes, and with which options, is known only if the client says so for one: any
// other call goes to the plugin as it is. There is no gang behind it.
static void only_an_execution_on_one_named_device_joins_others(void **state) {
    (void)state;
    char things[3];
    PJRT_ExecuteOptions options = {.struct_size = sizeof options};
    for (int missing = 0; missing < 3; ++missing) {
        PJRT_LoadedExecutable_Execute_Args args = {
            .executable = (PJRT_LoadedExecutable *)&things[0],
            .execute_device = missing == 0 ? NULL : (PJRT_Device *)&things[1],
            .num_devices = missing == 1 ? 2 : 1,
            .options = missing == 2 ? NULL : &options};
        const PJRT_LoadedExecutable_Execute_Args before = args;
        keel_gang_call_t call;
        assert_null(keel_gang_begin(NULL, &args, &call));
        assert_memory_equal(&args, &before, sizeof args);
        keel_gang_end(&args, &call);
        assert_memory_equal(&args, &before, sizeof args);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_its_name_and_its_origin),
        cmocka_unit_test(a_replica_counts_what_its_own_thread_asked_for),
        cmocka_unit_test(what_comes_up_again_is_not_the_first_of_its_kind),
        cmocka_unit_test(executions_are_collected_once),
        cmocka_unit_test(a_client_that_waits_collects_few_programs_for_each_of_its_calls),
        cmocka_unit_test(no_execution_is_lost_or_counted_twice_while_others_are_collected),
        cmocka_unit_test(a_step_has_as_many_programs_as_it_executed_different_ones),
        cmocka_unit_test(transfers_are_reported_since_the_last_report),
        cmocka_unit_test(a_thread_takes_no_signal_but_those_of_its_own_crash),
        cmocka_unit_test(what_is_not_known_of_a_place_is_not_written),
        cmocka_unit_test(only_an_execution_on_one_named_device_joins_others),
    };
    return cmocka_run_group_tests_name("engine_parts", tests, NULL, NULL);
}
