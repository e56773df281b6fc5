// The processes of a rehearsal on several hosts: how many, their environment, the folder where they
// meet.
#define _GNU_SOURCE
#include "place.h"

#include "cli/cli.h"

static place_t place;

static int begin(void **state) {
    (void)state;
    place_make(&place);
    setenv("TMPDIR", place.root, 1);
    return 0;
}

static int end(void **state) {
    (void)state;
    place_remove(&place);
    return 0;
}

static void assert_set(const char *name, const char *wanted) {
    const char *value = getenv(name);
    if (!value || strcmp(value, wanted) != 0)
        fail_msg("%s is %s, not %s", name, value ? value : "not set", wanted);
}

static uint32_t count_of(const char *on, const char *processes) {
    uint32_t count = 0;
    cli_rehearsal_t rehearsal = {.on = on, .processes = processes};
    assert_ok(keel_target_read(on, &rehearsal.target));
    assert_ok(cli_count_processes(&rehearsal, &count));
    keel_target_deinitialize(&rehearsal.target);
    return count;
}

static void a_target_has_a_process_for_each_host(void **state) {
    (void)state;
    assert_int_equal(count_of("cpu:4", NULL), 1);
    assert_int_equal(count_of("cpu:4/4", NULL), 4);
    assert_int_equal(count_of("h200:16", NULL), 2);
    assert_int_equal(count_of("h200:16", "1"), 1);
    assert_int_equal(count_of("h200:2048", NULL), 256);
}

static void too_many_processes_are_refused_with_what_to_do(void **state) {
    (void)state;
    uint32_t count;
    cli_rehearsal_t rehearsal = {.on = "h200:2056"};
    assert_ok(keel_target_read(rehearsal.on, &rehearsal.target));
    keel_status_t status = cli_count_processes(&rehearsal, &count);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    assert_string_equal(keel_status_message(status),
                        "h200:2056 has 257 processes, and at most 256 are started; give "
                        "--processes 1, or a smaller target");
    keel_status_ignore(status);
    keel_target_deinitialize(&rehearsal.target);
}

static void each_process_has_the_environment_of_a_cluster(void **state) {
    (void)state;
    keel_target_t target;
    cli_hosts_t hosts;
    char text[64];
    assert_ok(keel_target_read("cpu:4/2", &target));
    assert_ok(cli_hosts_begin(&target, "20260101-000000-00000001", &hosts));
    assert_true(hosts.ports[0] && hosts.ports[1] && hosts.ports[0] != hosts.ports[1]);
    unsetenv("TPU_WORKER_ID");
    for (uint32_t number = 0; number < 2; ++number) {
        assert_ok(cli_set_process(&hosts, number));
        snprintf(text, sizeof text, "%u", number);
        assert_set("KEEL_REHEARSE_PROCESS", text);
        assert_set("RANK", text);
        assert_set("KEEL_REHEARSE_PROCESSES", "2");
        assert_set("WORLD_SIZE", "2");
        assert_set("LOCAL_RANK", "0");
        assert_set("LOCAL_WORLD_SIZE", "1");
        assert_set("KEEL_REHEARSE_MEETING", hosts.folder);
        assert_set("MASTER_ADDR", "localhost");
        snprintf(text, sizeof text, "localhost:%u", hosts.ports[0]);
        assert_set("JAX_COORDINATOR_ADDRESS", text);
        snprintf(text, sizeof text, "%u", hosts.ports[1]);
        assert_set("MASTER_PORT", text);
        assert_null(getenv("TPU_WORKER_ID"));
    }
    cli_hosts_end(&hosts);
    keel_target_deinitialize(&target);
}

static void hosts_of_a_tpu_have_libtpus_names_too(void **state) {
    (void)state;
    keel_target_t target;
    cli_hosts_t hosts;
    assert_ok(keel_target_read("v6e:4x4", &target));
    assert_int_equal(target.process_count, 4);
    assert_ok(cli_hosts_begin(&target, "20260101-000000-00000002", &hosts));
    assert_ok(cli_set_process(&hosts, 3));
    assert_set("TPU_WORKER_ID", "3");
    assert_set("TPU_WORKER_HOSTNAMES", "localhost,localhost,localhost,localhost");
    cli_hosts_end(&hosts);
    keel_target_deinitialize(&target);
}

static void the_folder_is_the_users_own_and_goes_with_what_is_in_it(void **state) {
    (void)state;
    keel_target_t target;
    cli_hosts_t hosts;
    char file[600];
    struct stat facts;
    assert_ok(keel_target_read("cpu:2/2", &target));
    assert_ok(cli_hosts_begin(&target, "20260101-000000-00000003", &hosts));
    assert_int_equal(strncmp(hosts.folder, place.root, strlen(place.root)), 0);
    assert_int_equal(stat(hosts.folder, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    snprintf(file, sizeof file, "%s/%s", hosts.folder, "0011223344556677-1-0");
    assert_ok(keel_file_create(file, keel_bytes("x", 1)));
    cli_hosts_end(&hosts);
    assert_null(hosts.folder);
    cli_hosts_end(&hosts);
    snprintf(file, sizeof file, "%s/keel-20260101-000000-00000003", place.root);
    assert_int_equal(access(file, F_OK), -1);
    keel_target_deinitialize(&target);
}

static void a_folder_that_cannot_be_made_names_what_to_set(void **state) {
    (void)state;
    keel_target_t target;
    cli_hosts_t hosts;
    assert_ok(keel_target_read("cpu:2/2", &target));
    setenv("TMPDIR", "/proc/no", 1);
    keel_status_t status = cli_hosts_begin(&target, "20260101-000000-00000004", &hosts);
    assert_non_null(status);
    assert_non_null(
        strstr(keel_status_message(status), "set TMPDIR to a folder that can be written"));
    assert_non_null(strstr(keel_status_message(status), "/proc/no"));
    keel_status_ignore(status);
    cli_hosts_end(&hosts);
    setenv("TMPDIR", place.root, 1);
    keel_target_deinitialize(&target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_has_a_process_for_each_host),
        cmocka_unit_test(too_many_processes_are_refused_with_what_to_do),
        cmocka_unit_test(each_process_has_the_environment_of_a_cluster),
        cmocka_unit_test(hosts_of_a_tpu_have_libtpus_names_too),
        cmocka_unit_test(the_folder_is_the_users_own_and_goes_with_what_is_in_it),
        cmocka_unit_test(a_folder_that_cannot_be_made_names_what_to_set),
    };
    return cmocka_run_group_tests_name("hosts", tests, begin, end);
}
