// Four processes compare their programs, in each kind of meeting place.
#define _GNU_SOURCE
#include "ranks_help.h"

static redis_server_t server; // for all tests

typedef void test_t(ranks_stage_t *stage);

static void run_in(const char *agree, test_t *test) {
    ranks_stage_t *stage = stage_make(agree);
    test(stage);
    stage_remove(stage);
}

// In Redis each test is a job of its own.
static void run_all(test_t *test, const char *job) {
    char address[200];
    need_redis(&server);
    run_in("folder", test);
    run_in("client", test);
    snprintf(address, sizeof address, "redis://127.0.0.1:%u?job=%s", server.port, job);
    run_in(address, test);
}

static void assert_none(const rank_t *rank, size_t which) {
    if (*rank->messages[which]) fail_msg("process %u: %s", rank->process, rank->messages[which]);
}

// The message of the one program that stops them, the same for all.
static const char *one_message(const rank_t *ranks, size_t which) {
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_string_equal(ranks[i].messages[which], ranks[0].messages[which]);
    return ranks[0].messages[which];
}

#define FOREVER "; executed together, they would wait for each other forever"

// ---- agreeing ----------------------------------------------------------------------------------

static void the_same_programs_pass(ranks_stage_t *stage) {
    static const char programs[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){programs, programs, programs, programs}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; programs[j]; ++j)
            assert_none(&ranks[i], j);
}

static void a_hundred_steps_cost_one_comparison(ranks_stage_t *stage) {
    char programs[101];
    rank_t ranks[RANKS];
    memset(programs, 'a', 100);
    programs[100] = 0;
    stage_run(stage, (const char *const[RANKS]){programs, programs, programs, programs}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; programs[j]; ++j)
            assert_none(&ranks[i], j);
    if (stage->settings.agree == KEEL_AGREE_CLIENT)
        assert_int_equal(stage->service.count, RANKS + 1); // each one's, and the verdict
}

// One process compiles a program twice, such as to ask for its cost first.
static void what_was_agreed_on_may_be_asked_for_again(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"aaabac", "abc", "abc", "abbcc"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; ranks[i].programs[j]; ++j)
            assert_none(&ranks[i], j);
}

// ---- a difference ------------------------------------------------------------------------------

static void one_that_drifts_stops_all(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"abd", "abd", "abd", "acd"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_none(&ranks[i], 0);
    // The codes are not programs, so nothing more is known about them.
    assert_string_equal(one_message(ranks, 1),
                        "process 3 asks for a different jit_step than processes 0, "
                        "1 and 2" FOREVER);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_none(&ranks[i], 2); // they go on, still together
}

static void the_first_process_may_be_the_one_that_drifts(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"c", "b", "b", "b"}, ranks);
    assert_string_equal(one_message(ranks, 0),
                        "process 0 asks for a different jit_step than processes 1, "
                        "2 and 3" FOREVER);
}

static void of_two_halves_the_first_is_the_usual(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"a", "b", "a", "b"}, ranks);
    assert_string_equal(
        one_message(ranks, 0),
        "processes 1 and 3 ask for a different jit_step than processes 0 and 2" FOREVER);
}

static void other_compile_options_stop_all_too(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"1", "1", "2", "1"}, ranks);
    assert_string_equal(one_message(ranks, 0),
                        "process 2 asks for a different jit_step than processes 0, "
                        "1 and 3" FOREVER "\n  the compile options or flags differ");
}

// ---- groups ------------------------------------------------------------------------------------

typedef struct grouped_t {
    ranks_stage_t *stage;
    uint32_t process;
    char pair, all;
    char message[512];
} grouped_t;

// First a program with the neighbor, one alone, then one with all.
static void *run_grouped(void *context) {
    static const uint32_t members[] = {0, 1, 2, 3};
    grouped_t *rank = context;
    uint32_t first = rank->process / 2 * 2;
    const ranks_ask_t asks[] = {
        ask_of(rank->pair, rank->process, members + first, 2),
        ask_of((char)('p' + rank->process), rank->process, members + rank->process, 1),
        ask_of('z', (rank->process + 1) % 4, members + rank->process, 1),
        ask_of(rank->all, rank->process, members, 4)};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i) {
        keel_status_t status = ranks_check(rank->stage->ranks[rank->process], &asks[i]);
        if (status)
            snprintf(rank->message, sizeof rank->message, "%s", keel_status_message(status));
        keel_status_ignore(status);
    }
    return NULL;
}

static void run_groups(ranks_stage_t *stage, const char *pairs, const char *all, grouped_t *out) {
    pthread_t threads[RANKS];
    for (uint32_t i = 0; i < RANKS; ++i) {
        out[i] = (grouped_t){stage, i, pairs[i], all[i], ""};
        pthread_create(&threads[i], NULL, run_grouped, &out[i]);
    }
    for (uint32_t i = 0; i < RANKS; ++i)
        pthread_join(threads[i], NULL);
}

static void processes_that_do_not_execute_a_program_are_not_asked(ranks_stage_t *stage) {
    grouped_t ranks[RANKS];
    run_groups(stage, "aabb", "cccc", ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_string_equal(ranks[i].message, "");
}

static void a_difference_in_a_group_stops_only_that(ranks_stage_t *stage) {
    grouped_t ranks[RANKS];
    run_groups(stage, "aabd", "cccc", ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_string_equal(
            ranks[i].message,
            i < 2 ? "" : "process 3 asks for a different jit_step than process 2" FOREVER);
}

// ---- processes that ask for nothing ------------------------------------------------------------

#define GOES " goes on without a new program" FOREVER

static void one_that_asks_alone_stops_all(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"aAAA.c", "aAAA.c", "aAAA.c", "aAb!c"}, ranks);
    static const char message[] =
        "process 3 asks for a different jit_step than process 0, which" GOES;
    for (uint32_t i = 0; i < 3; ++i)
        assert_string_equal(ranks[i].messages[5], message);
    assert_string_equal(ranks[3].messages[2], message);
    assert_string_equal(ranks[3].messages[4], message); // for good
}

static void the_first_process_may_ask_alone(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"aAb!c", "aAA.c", "aAA.c", "aAA.c"}, ranks);
    static const char message[] =
        "process 0 asks for a different jit_step than processes 1, 2 and 3, "
        "which go on without a new program" FOREVER;
    for (uint32_t i = 1; i < RANKS; ++i)
        assert_string_equal(ranks[i].messages[4], message);
    assert_string_equal(ranks[0].messages[2], message);
}

static void slow_processes_are_waited_for(ranks_stage_t *stage) {
    rank_t ranks[RANKS];
    stage_run(stage, (const char *const[RANKS]){"aAA~b", "aAAb", "aA~Ab", "aAAb"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; ranks[i].programs[j]; ++j)
            assert_none(&ranks[i], j);
}

// ---- what ends a comparison --------------------------------------------------------------------

typedef struct ended_t {
    rank_t rank;
    const char *then; // by a second thread
} ended_t;

static void *run_then(void *context) {
    ended_t *ended = context;
    pthread_t thread;
    rank_run(&ended->rank);
    rank_t second = ended->rank;
    second.programs = ended->then;
    pthread_create(&thread, NULL, rank_run, &second);
    pthread_join(thread, NULL);
    assert_none(&second, 0);
    return NULL;
}

// The first process, or another: then nobody compares any more, and what differs passes.
static void check_second_thread(ranks_stage_t *stage, uint32_t which) {
    pthread_t threads[RANKS];
    ended_t ended[RANKS];
    for (uint32_t i = 0; i < RANKS; ++i) {
        ended[i] = (ended_t){.rank = {.stage = stage, .process = i, .programs = "ab"}, .then = "c"};
        if (i != which) ended[i].rank.programs = i == 3 ? "abdef" : "abcde";
        pthread_create(&threads[i], NULL, i == which ? run_then : rank_run,
                       i == which ? (void *)&ended[i] : (void *)&ended[i].rank);
    }
    for (uint32_t i = 0; i < RANKS; ++i)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; ended[i].rank.programs[j]; ++j)
            assert_none(&ended[i].rank, j);
}

static void a_second_thread_ends_it(ranks_stage_t *stage) {
    check_second_thread(stage, 1);
}

static void a_second_thread_of_the_first_process_ends_it(ranks_stage_t *stage) {
    check_second_thread(stage, 0);
}

#define EACH(test)                                                                                 \
    static void test_##test(void **state) {                                                        \
        (void)state;                                                                               \
        run_all(test, #test);                                                                      \
    }
EACH(the_same_programs_pass)
EACH(a_hundred_steps_cost_one_comparison)
EACH(what_was_agreed_on_may_be_asked_for_again)
EACH(one_that_drifts_stops_all)
EACH(the_first_process_may_be_the_one_that_drifts)
EACH(of_two_halves_the_first_is_the_usual)
EACH(other_compile_options_stop_all_too)
EACH(processes_that_do_not_execute_a_program_are_not_asked)
EACH(a_difference_in_a_group_stops_only_that)
EACH(one_that_asks_alone_stops_all)
EACH(the_first_process_may_ask_alone)
EACH(slow_processes_are_waited_for)
EACH(a_second_thread_ends_it)
EACH(a_second_thread_of_the_first_process_ends_it)

// ---- places that fail --------------------------------------------------------------------------

// From its n-th call on the service fails: each process goes on, or stops for what really differs.
static void test_a_service_that_fails_at_any_call_ends_it(void **state) {
    (void)state;
    static const char *const same[RANKS] = {"abc", "abc", "abc", "abc"};
    rank_t ranks[RANKS];
    for (size_t i = 1;; ++i) {
        ranks_stage_t *stage = stage_make("client");
        stage->service.fails_from = i;
        stage_run(stage, same, ranks);
        for (uint32_t j = 0; j < RANKS; ++j)
            for (size_t k = 0; k < 3; ++k)
                assert_none(&ranks[j], k);
        bool is_last = atomic_load(&stage->service.calls) < i;
        stage_remove(stage);
        if (is_last) break;
    }
}

static void test_a_folder_that_cannot_be_made_ends_it(void **state) {
    (void)state;
    rank_t ranks[RANKS];
    char path[400];
    ranks_stage_t *stage = stage_make("folder");
    snprintf(path, sizeof path, "%s/ranks", stage->place.root);
    write_bytes(path, "", 0);
    stage_run(stage, (const char *const[RANKS]){"a", "a", "a", "b"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_none(&ranks[i], 0);
    stage_remove(stage);
}

static void test_without_a_place_nothing_is_compared(void **state) {
    (void)state;
    rank_t ranks[RANKS];
    ranks_stage_t *stage = stage_make("client");
    for (uint32_t i = 0; i < RANKS; ++i)
        ranks_client_closing(stage->ranks[i], (PJRT_Client *)&stage->service);
    stage_run(stage, (const char *const[RANKS]){"a", "a", "a", "b"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_none(&ranks[i], 0);
    stage_remove(stage);
}

// A process of an earlier attempt of the job wrote other programs, and has ended.
static void test_what_an_earlier_attempt_left_does_not_count(void **state) {
    (void)state;
    rank_t ranks[RANKS];
    ranks_stage_t *stage = stage_make("folder");
    pid_t child = fork();
    if (!child) {
        for (uint32_t i = 0; i < RANKS; ++i) {
            ranks_destroy(stage->ranks[i]);
            const ranks_executions_t executions = {count_executions, &stage->executions[i]};
            if (ranks_create(&stage->settings, stage->place.root, &executions, &stage->ranks[i]))
                _exit(1);
        }
        stage_run(stage, (const char *const[RANKS]){"xy", "xy", "xy", "xy"}, ranks);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    char folder[400];
    snprintf(folder, sizeof folder, "%s/ranks", stage->place.root);
    assert_int_equal(count_below(folder, "-"), 2 * (RANKS + 1));
    stage_run(stage, (const char *const[RANKS]){"ab", "ab", "ab", "ac"}, ranks);
    for (uint32_t i = 0; i < RANKS; ++i)
        assert_none(&ranks[i], 0);
    assert_string_equal(one_message(ranks, 1),
                        "process 3 asks for a different jit_step than processes 0, "
                        "1 and 2" FOREVER);
    stage_remove(stage);
}

// ---- limits ------------------------------------------------------------------------------------

// With a limit of a second: nobody is stopped, and somebody left that reason for the others.
static void check_limit(keel_limit_t limit, const char *const programs[RANKS], const char *reason) {
    rank_t ranks[RANKS];
    char command[600];
    uint64_t usual = keel_limit(limit);
    ranks_stage_t *stage = stage_make("folder");
    keel_limit_set(limit, 1000);
    stage_run(stage, programs, ranks);
    keel_limit_set(limit, usual);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; programs[i][j]; ++j)
            assert_none(&ranks[i], j);
    snprintf(command, sizeof command, "grep -rqF '%s' %s/ranks", reason, stage->place.root);
    assert_int_equal(system(command), 0);
    stage_remove(stage);
}

static void test_a_process_that_never_comes_is_not_waited_for(void **state) {
    (void)state;
    check_limit(KEEL_LIMIT_AGREE_COME, (const char *const[RANKS]){"a", "a", "a", ""},
                "within 1 seconds: it has ended or meets elsewhere");
}

static void test_a_process_that_never_asks_again_is_not_waited_for(void **state) {
    (void)state;
    check_limit(KEEL_LIMIT_AGREE_WAIT, (const char *const[RANKS]){"ab", "ab", "ab", "a"},
                "has not asked for jit_step");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_programs_pass),
        cmocka_unit_test(test_a_hundred_steps_cost_one_comparison),
        cmocka_unit_test(test_what_was_agreed_on_may_be_asked_for_again),
        cmocka_unit_test(test_one_that_drifts_stops_all),
        cmocka_unit_test(test_the_first_process_may_be_the_one_that_drifts),
        cmocka_unit_test(test_of_two_halves_the_first_is_the_usual),
        cmocka_unit_test(test_other_compile_options_stop_all_too),
        cmocka_unit_test(test_processes_that_do_not_execute_a_program_are_not_asked),
        cmocka_unit_test(test_a_difference_in_a_group_stops_only_that),
        cmocka_unit_test(test_one_that_asks_alone_stops_all),
        cmocka_unit_test(test_the_first_process_may_ask_alone),
        cmocka_unit_test(test_slow_processes_are_waited_for),
        cmocka_unit_test(test_a_second_thread_ends_it),
        cmocka_unit_test(test_a_second_thread_of_the_first_process_ends_it),
        cmocka_unit_test(test_a_service_that_fails_at_any_call_ends_it),
        cmocka_unit_test(test_a_folder_that_cannot_be_made_ends_it),
        cmocka_unit_test(test_without_a_place_nothing_is_compared),
        cmocka_unit_test(test_what_an_earlier_attempt_left_does_not_count),
        cmocka_unit_test(test_a_process_that_never_comes_is_not_waited_for),
        cmocka_unit_test(test_a_process_that_never_asks_again_is_not_waited_for),
    };
    server_start(&server, NULL);
    int failed = cmocka_run_group_tests_name("enforce ranks", tests, NULL, NULL);
    server_stop(&server);
    return failed;
}
