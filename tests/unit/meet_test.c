// What every meeting place does, whatever its kind; and how a job is named.
#define _GNU_SOURCE
#include "meet_help.h"

typedef struct stage_t {
    place_t place;
    client_service_t service;
    redis_server_t server;
    keel_meet_t *meets[2]; // two processes'
} stage_t;

enum { FOLDER, CLIENT, REDIS, KINDS };

static redis_server_t shared; // for all tests

static void open_kind(stage_t *stage, int kind, keel_meet_t **out) {
    char folder[400], name[KEEL_PROCESS_NAME];
    PJRT_Client_Create_Args args = service_args(&stage->service);
    keel_redis_address_t address = address_of(shared.port, strrchr(stage->place.root, '-') + 1);
    snprintf(folder, sizeof folder, "%s/not/yet", stage->place.root);
    keel_process_name(name);
    if (kind == FOLDER) assert_ok(keel_meet_in_folder(folder, out));
    if (kind == CLIENT) assert_ok(keel_meet_in_client(out));
    if (kind == CLIENT) assert_true(keel_meet_enter_client(*out, &args));
    if (kind == REDIS) assert_ok(keel_meet_in_redis(&address, name, out));
}

static void run_kind(int kind, void (*test)(stage_t *stage)) {
    stage_t *stage = calloc(1, sizeof *stage);
    if (kind == REDIS) need_redis(&shared);
    place_make(&stage->place);
    service_make(&stage->service);
    for (int i = 0; i < 2; ++i)
        open_kind(stage, kind, &stage->meets[i]);
    test(stage);
    for (int i = 0; i < 2; ++i)
        keel_meet_destroy(stage->meets[i]);
    service_remove(&stage->service);
    place_remove(&stage->place);
    free(stage);
}

static void run_all(void (*test)(stage_t *stage)) {
    for (int kind = 0; kind < KINDS; ++kind)
        run_kind(kind, test);
}

static void assert_value(keel_meet_t *meet, const char *key, keel_bytes_t wanted) {
    uint8_t *data;
    size_t size;
    assert_ok(keel_meet_get(meet, key, in_seconds(20), &data, &size));
    assert_int_equal(size, wanted.size);
    assert_memory_equal(data, wanted.data, size);
    keel_free(data);
}

// ---- each kind ---------------------------------------------------------------------------------

static void gets_what_was_put(stage_t *stage) {
    static const uint8_t bytes[] = {0, 1, '\r', '\n', 0, 255};
    keel_bytes_t value = keel_bytes(bytes, sizeof bytes);
    assert_ok(keel_meet_put(stage->meets[0], "a-1-0", value));
    assert_ok(keel_meet_put(stage->meets[1], "a-1-1", keel_bytes("x", 1)));
    for (int i = 0; i < 2; ++i) {
        assert_value(stage->meets[i], "a-1-0", value);
        assert_value(stage->meets[i], "a-1-1", keel_bytes("x", 1));
    }
}

static void values_of_the_largest_size_pass(stage_t *stage) {
    uint8_t *data = malloc(KEEL_MEET_VALUE + 1);
    for (size_t i = 0; i <= KEEL_MEET_VALUE; ++i)
        data[i] = (uint8_t)(i * 131 + (i >> 8));
    assert_ok(keel_meet_put(stage->meets[0], "large", keel_bytes(data, KEEL_MEET_VALUE)));
    assert_value(stage->meets[1], "large", keel_bytes(data, KEEL_MEET_VALUE));
    assert_code(keel_meet_put(stage->meets[0], "larger", keel_bytes(data, KEEL_MEET_VALUE + 1)),
                KEEL_INTERNAL);
    free(data);
}

static void what_nobody_puts_is_not_found(stage_t *stage) {
    uint8_t *data;
    size_t size;
    assert_code(keel_meet_get(stage->meets[0], "never", in_seconds(0.2), &data, &size),
                KEEL_NOT_FOUND);
    assert_code(keel_meet_get(stage->meets[0], "never", 0, &data, &size), KEEL_NOT_FOUND);
}

static void *put_later(void *context) {
    usleep(200000);
    keel_status_t status = keel_meet_put(context, "later", keel_bytes("soon", 4));
    return status;
}

static void a_get_waits_until_it_is_put(stage_t *stage) {
    pthread_t thread;
    void *status;
    pthread_create(&thread, NULL, put_later, stage->meets[0]);
    assert_value(stage->meets[1], "later", keel_bytes("soon", 4));
    pthread_join(thread, &status);
    assert_ok((keel_status_t)status);
}

static void a_process_that_runs_is_not_gone(stage_t *stage) {
    char name[KEEL_PROCESS_NAME];
    keel_process_name(name);
    assert_ok(keel_meet_put(stage->meets[0], "here", keel_bytes("x", 1)));
    assert_false(keel_meet_is_gone(stage->meets[1], name));
}

static void a_process_that_ended_is_gone(stage_t *stage) {
    char name[KEEL_PROCESS_NAME] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        keel_process_name(name);
        _exit(write(ends[1], name, sizeof name) != sizeof name);
    }
    assert_int_equal(read(ends[0], name, sizeof name), sizeof name);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    assert_true(keel_meet_is_gone(stage->meets[0], name));
}

#define EACH(test)                                                                                 \
    static void test_##test(void **state) {                                                        \
        (void)state;                                                                               \
        run_all(test);                                                                             \
    }
EACH(gets_what_was_put)
EACH(values_of_the_largest_size_pass)
EACH(what_nobody_puts_is_not_found)
EACH(a_get_waits_until_it_is_put)
EACH(a_process_that_runs_is_not_gone)
EACH(a_process_that_ended_is_gone)

static void test_a_folder_that_is_removed_is_an_error(void **state) {
    (void)state;
    place_t place;
    keel_meet_t *meet;
    uint8_t *data;
    size_t size;
    place_make(&place);
    assert_ok(keel_meet_in_folder(place.cache, &meet));
    assert_ok(keel_meet_put(meet, "a", keel_bytes("x", 1)));
    place_remove(&place);
    assert_code(keel_meet_get(meet, "b", in_seconds(0.1), &data, &size), KEEL_IO);
    keel_meet_destroy(meet);
}

// ---- the client's ------------------------------------------------------------------------------

static void test_a_client_without_a_service_has_none(void **state) {
    (void)state;
    client_service_t service;
    keel_meet_t *meet;
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    assert_ok(keel_meet_in_client(&meet));
    assert_false(keel_meet_enter_client(meet, &args));
    service_make(&service);
    args = service_args(&service);
    args.num_options = 0; // what is in the callbacks is what was on XLA's stack
    assert_false(keel_meet_enter_client(meet, &args));
    args = service_args(&service);
    args.struct_size = offsetof(PJRT_Client_Create_Args, kv_put_user_arg); // an older client's
    assert_false(keel_meet_enter_client(meet, &args));
    assert_code(keel_meet_put(meet, "a", keel_bytes("x", 1)), KEEL_PLUGIN);
    keel_meet_destroy(meet);
    service_remove(&service);
}

static void test_a_named_service_needs_no_option(void **state) {
    (void)state;
    client_service_t service;
    keel_meet_t *meet;
    service_make(&service);
    PJRT_Client_Create_Args args = service_args(&service);
    args.num_options = 0;
    assert_ok(keel_meet_in_client(&meet));
    setenv("KEEL_CLIENT_SERVICE", "1", 1);
    assert_true(keel_meet_enter_client(meet, &args));
    unsetenv("KEEL_CLIENT_SERVICE");
    keel_meet_destroy(meet);
    service_remove(&service);
}

static void test_a_clients_service_is_not_used_once_it_is_destroyed(void **state) {
    (void)state;
    client_service_t services[2];
    keel_meet_t *meet;
    uint8_t *data;
    size_t size;
    assert_ok(keel_meet_in_client(&meet));
    for (int i = 0; i < 2; ++i) {
        PJRT_Client_Create_Args args = service_args(&services[i]);
        service_make(&services[i]);
        assert_true(keel_meet_enter_client(meet, &args));
        assert_false(keel_meet_enter_client(meet, &args)); // it has one
        assert_ok(keel_meet_put(meet, "a", keel_bytes("x", 1)));
        assert_code(keel_meet_put(meet, "a", keel_bytes("x", 1)), KEEL_PLUGIN); // again
        keel_meet_leave_client(meet);
        service_remove(&services[i]);
        assert_code(keel_meet_get(meet, "a", in_seconds(1), &data, &size), KEEL_PLUGIN);
    }
    keel_meet_destroy(meet);
}

static void test_what_the_clients_service_says_is_passed_on(void **state) {
    (void)state;
    client_service_t service;
    keel_meet_t *meet;
    PJRT_Client_Create_Args args = service_args(&service);
    service_make(&service);
    service.fails_from = 1;
    assert_ok(keel_meet_in_client(&meet));
    assert_true(keel_meet_enter_client(meet, &args));
    keel_status_t status = keel_meet_put(meet, "a", keel_bytes("x", 1));
    assert_string_equal(keel_status_message(status),
                        "the client's key-value service: the test's wish");
    keel_status_ignore(status);
    keel_meet_destroy(meet);
    service_remove(&service);
}

// ---- jobs --------------------------------------------------------------------------------------

static const char *const variables[] = {
    "SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID",  "MASTER_ADDR", "MASTER_PORT",
    "KEEL_RUN_ID",  "HOSTNAME",      "TPU_WORKER_HOSTNAMES", NULL};

static char *job_of(const char *const *values) {
    char *job = NULL;
    for (size_t i = 0; variables[i]; ++i)
        unsetenv(variables[i]);
    for (size_t i = 0; values[i]; i += 2)
        setenv(values[i], values[i + 1], 1);
    keel_status_t status = keel_meet_job(&job);
    assert_true(!status || keel_status_code(status) == KEEL_NOT_FOUND);
    keel_status_ignore(status);
    return job;
}

// Of each pair of environments, whether they are one job.
static void test_jobs_are_known_by_their_launchers_variables(void **state) {
    (void)state;
    static const struct {
        const char *a[10], *b[10];
        bool is_one;
    } pairs[] = {
        {{"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0"},
         {"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0"},
         1},
        {{"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0"},
         {"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "1"},
         0},
        {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_ID", "8"}, 0},
        // torchrun, started by a step for each machine
        {{"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0", "MASTER_ADDR", "m", "MASTER_PORT", "1"},
         {"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "1", "MASTER_ADDR", "m", "MASTER_PORT", "1"},
         1},
        {{"MASTER_ADDR", "m", "MASTER_PORT", "1"}, {"MASTER_ADDR", "m", "MASTER_PORT", "2"}, 0},
        {{"MASTER_ADDR", "m", "MASTER_PORT", "1"}, {"MASTER_ADDR", "n", "MASTER_PORT", "1"}, 0},
        {{"TORCHELASTIC_RUN_ID", "none", "KEEL_RUN_ID", "r"}, {"KEEL_RUN_ID", "r"}, 1},
        {{"TORCHELASTIC_RUN_ID", "a"}, {"TORCHELASTIC_RUN_ID", "b"}, 0},
        // `keel run` on each machine names its own run
        {{"MASTER_ADDR", "m", "MASTER_PORT", "1", "KEEL_RUN_ID", "r"},
         {"MASTER_ADDR", "m", "MASTER_PORT", "1", "KEEL_RUN_ID", "s"},
         1},
        {{"TPU_WORKER_HOSTNAMES", "a,b", "KEEL_RUN_ID", "r"},
         {"TPU_WORKER_HOSTNAMES", "a,b", "KEEL_RUN_ID", "s"},
         1},
        {{"KEEL_RUN_ID", "r"}, {"KEEL_RUN_ID", "s"}, 0},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        char *a = job_of(pairs[i].a), *b = job_of(pairs[i].b);
        assert_true(a && b);
        if ((strcmp(a, b) == 0) != pairs[i].is_one) fail_msg("pair %zu: %s %s", i, a, b);
        keel_free(a);
        keel_free(b);
    }
    assert_null(job_of((const char *const[]){NULL}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gets_what_was_put),
        cmocka_unit_test(test_values_of_the_largest_size_pass),
        cmocka_unit_test(test_what_nobody_puts_is_not_found),
        cmocka_unit_test(test_a_get_waits_until_it_is_put),
        cmocka_unit_test(test_a_process_that_runs_is_not_gone),
        cmocka_unit_test(test_a_process_that_ended_is_gone),
        cmocka_unit_test(test_a_folder_that_is_removed_is_an_error),
        cmocka_unit_test(test_a_client_without_a_service_has_none),
        cmocka_unit_test(test_a_named_service_needs_no_option),
        cmocka_unit_test(test_a_clients_service_is_not_used_once_it_is_destroyed),
        cmocka_unit_test(test_what_the_clients_service_says_is_passed_on),
        cmocka_unit_test(test_jobs_are_known_by_their_launchers_variables),
    };
    server_start(&shared, NULL);
    int failed = cmocka_run_group_tests_name("meet", tests, NULL, NULL);
    server_stop(&shared);
    return failed;
}
