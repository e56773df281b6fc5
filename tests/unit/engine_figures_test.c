// What processes that use the test plugin record about memory, and their files of figures.
#define _GNU_SOURCE
#include <unistd.h>

#include <jansson.h>

#include "analysis/analysis.h"
#include "door_help.h"
#include "run/run.h"

static void live_alpha(const door_t *door) {
    (void)door;
    door_live("alpha");
}

// ---- what programs need ------------------------------------------------------------------------

static void what_a_program_needs_is_told_when_it_is_compiled_and_when_it_is_loaded(void **state) {
    const door_t *door = *state;
    static const char needs[] = "\"arguments\":5,\"outputs\":8,\"aliased\":4,\"temporaries\":1000,"
                                "\"code\":100,\"peak\":900,\"total\":1109}";
    door_run(door, "TEST_PLUGIN=program_memory", live_alpha);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", needs), 1);
    assert_int_equal(count_lines(door->calls, "memory alpha"), 1);
    // The entry tells: the plugin is not asked, which takes it long for large programs.
    door_run(door, "TEST_PLUGIN=program_memory", live_alpha);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"disk\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", needs), 2);
    assert_int_equal(count_lines(door->calls, "memory alpha"), 1);
}

static void live_alpha_twice(const door_t *door) {
    live_alpha(door);
    live_alpha(door);
}

static void it_is_told_once_in_a_process(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=program_memory", live_alpha_twice);
    door_run(door, "TEST_PLUGIN=program_memory", live_alpha_twice);
    assert_int_equal(count_own_loads(door), 3);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", ""), 2);
}

static void what_is_not_stored_is_asked_about_as_well(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=program_memory\nKEEL_MODE=readonly", live_alpha);
    door_run(door, "TEST_PLUGIN=program_memory no_serialize", live_alpha);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", "\"total\":1109"), 2);
}

static void an_entry_without_it_loads_and_says_nothing(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run(door, "TEST_PLUGIN=program_memory", live_alpha);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", ""), 0);
}

static void live_alpha_and_beta(const door_t *door) {
    live_alpha(door);
    door_live("beta");
}

static void a_plugin_that_does_not_tell_is_written_down_once(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha_and_beta);
    assert_int_equal(count_events(door, "\"event\":\"memory_unknown\"", ""), 2);
    assert_int_equal(count_events(door, "\"what\":\"programs\"", "no compiled memory"), 1);
    assert_int_equal(count_events(door, "\"what\":\"devices\"", "no memory statistics"), 1);
    assert_int_equal(count_lines(door->errors, "memory"), 0);
}

static void a_plugin_without_the_functions_is_no_matter(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=table=older", live_alpha);
    assert_int_equal(count_events(door, "\"what\":\"programs\"", "no such function"), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 1);
}

static void an_earlier_keels_entry_is_read_without_it(void **state) {
    (void)state;
    keel_buffer_t old;
    keel_payload_t payload;
    keel_buffer_initialize(&old, 0);
    keel_buffer_text(&old, "KEELPAY1");
    keel_buffer_u64(&old, 3);
    keel_buffer_u64(&old, 2);
    keel_buffer_u64(&old, 1);
    keel_buffer_text(&old, "exehlp");
    assert_null(keel_payload_unpack(keel_buffer_bytes(&old), &payload));
    assert_memory_equal(payload.executable.data, "exe", 3);
    assert_memory_equal(payload.program.data, "p", 1);
    assert_false(payload.has_memory);
    keel_buffer_deinitialize(&old);
}

static void a_payload_that_is_cut_anywhere_is_refused(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    keel_payload_t payload = {.executable = keel_bytes("exe", 3),
                              .format = KEEL_STR("hl"),
                              .program = keel_bytes("p", 1),
                              .has_memory = true,
                              .memory = {.arguments = 1, .peak = UINT64_MAX}},
                   read;
    assert_null(keel_payload_pack(&payload, &data, &size));
    assert_null(keel_payload_unpack(keel_bytes(data, size), &read));
    assert_true(read.has_memory);
    assert_memory_equal(&read.memory, &payload.memory, sizeof read.memory);
    for (size_t cut = 0; cut < size; ++cut) {
        keel_status_t status = keel_payload_unpack(keel_bytes(data, cut), &read);
        assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
        keel_status_ignore(status);
    }
    keel_free(data);
}

// ---- what devices have -------------------------------------------------------------------------

static void devices_are_told_by_their_physical_names(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=memory memory_grows", live_alpha);
    const char *event = "\"event\":\"device_memory\"";
    assert_int_equal(count_events(door, event,
                                  "\"device\":\"test:0\",\"kind\":\"test device\","
                                  "\"in_use\":1000,\"peak\":1000,\"limit\":"),
                     1);
    // Compiled, and loaded back as a proof: two more thousands, seen before the client goes.
    assert_int_equal(
        count_events(door, event, "\"test:0\",\"kind\":\"test device\",\"in_use\":3000"), 1);
    assert_int_equal(
        count_events(door, event, "\"test:1\",\"kind\":\"test device\",\"in_use\":3001"), 1);
    assert_int_equal(count_events(door, event, ""), 4);
}

static void what_does_not_move_is_written_once(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=memory platform=tpu", live_alpha);
    assert_int_equal(count_events(door, "\"event\":\"device_memory\"", "\"device\":\"TPU:1\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"device_memory\"", ""), 2);
}

// ---- what does not fit -------------------------------------------------------------------------

static void compile_in_vain(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    PJRT_Error *error =
        door_compile_bytes(api, client, "text", keel_str_bytes(keel_str("alpha")), &loaded);
    CHECK(error);
    keel_status_ignore(keel_pjrt_status(api, error, "compile"));
    door_close(api, client);
}

static void a_compile_that_does_not_fit_has_its_code_in_the_journal(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=out_of_memory", compile_in_vain);
    assert_int_equal(
        count_events(door, "\"event\":\"compile_error\"",
                     "\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"test plugin: E1000: "
                     "CompileTimeHbmOom"),
        1);
    assert_int_equal(count_events(door, "\"event\":\"compile_error\"",
                                  "required (256.00G) exceeds available HBM (31.25G)."),
                     1);
}

// ---- the files of figures ----------------------------------------------------------------------

// The only run's folder, and in it the only file whose name ends so; the caller frees *out.
static unsigned find_files(const door_t *door, const char *end, char **out_run, char **out) {
    DIR *runs = opendir(door->runs);
    unsigned count = 0;
    *out = *out_run = NULL;
    for (struct dirent *run; (run = readdir(runs));) {
        char path[700];
        if (!keel_journal_is_id(run->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", door->runs, run->d_name);
        DIR *folder = opendir(path);
        for (struct dirent *file; folder && (file = readdir(folder));) {
            size_t length = strlen(file->d_name), tail = strlen(end);
            if (length < tail || strcmp(file->d_name + length - tail, end) != 0) continue;
            if (count++) continue;
            assert_int_not_equal(asprintf(out, "%s/%s", path, file->d_name), -1);
            *out_run = strdup(run->d_name);
        }
        if (folder) closedir(folder);
    }
    closedir(runs);
    return count;
}

static char *content(const char *path) {
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(path, 1 << 24, &data, &size));
    char *text = strndup((const char *)data, size);
    keel_free(data);
    return text;
}

// Runs a process of run r1, which is followed as `keel run` does.
static void run_followed(const door_t *door, const char *settings, void (*body)(const door_t *door),
                         int code) {
    keel_analysis_follower_t follower;
    keel_analysis_follow(door->runs, "r1", NULL, NULL, &follower);
    assert_true(follower.child > 0);
    door_run_expecting(door, settings, body, code);
    keel_analysis_follow_end(&follower);
}

static void the_files_of_a_run_say_what_its_journal_says(void **state) {
    const door_t *door = *state;
    char *run, *path, *again;
    run_followed(door, "TEST_PLUGIN=program_memory memory memory_grows\nKEEL_RUN_ID=r1",
                 live_alpha_and_beta, 0);
    assert_int_equal(find_files(door, ".json", &run, &path), 1);
    json_t *live = json_load_file(path, 0, NULL);
    assert_non_null(live);
    keel_run_t read;
    keel_buffer_t out;
    assert_null(keel_run_read(door->runs, "r1", KEEL_RUN_MEMORY | KEEL_RUN_METRICS, &read));
    keel_buffer_initialize(&out, 0);
    keel_metrics_json(&read.metrics, "r1", &out);
    json_t *later = json_loads(keel_buffer_cstr(&out), 0, NULL);
    for (int i = 0; i < 2; ++i) {
        const char *names[] = {"metrics", "torch_xla"};
        json_t *a = json_object_get(live, names[i]), *b = json_object_get(later, names[i]);
        assert_non_null(a);
        char *x = json_dumps(a, JSON_REAL_PRECISION(17)),
             *y = json_dumps(b, JSON_REAL_PRECISION(17));
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
    assert_int_equal(read.metrics.totals[KEEL_METRIC_COMPILES].value, 2);
    json_decref(live);
    json_decref(later);
    free(run);
    free(path);
    // With the process's own label the same text.
    assert_int_equal(find_files(door, ".prom", &run, &path), 1);
    assert_int_equal(sscanf(strrchr(path, '/'), "/metrics.%ld.prom", &read.metrics.pid), 1);
    keel_buffer_t prometheus;
    keel_buffer_initialize(&prometheus, 0);
    keel_metrics_prometheus(&read.metrics, "r1", &prometheus);
    again = content(path);
    assert_string_equal(again, keel_buffer_cstr(&prometheus));
    free(again);
    free(run);
    free(path);
    keel_buffer_deinitialize(&prometheus);
    keel_buffer_deinitialize(&out);
    keel_run_deinitialize(&read);
}

// Until the file is there: it is written two seconds after the last thing that happened.
static void live_until_it_is_written(const door_t *door) {
    char *run, *path;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    door_execute(api, loaded);
    for (bool is_told = false; !is_told;) {
        usleep(20000);
        if (!find_files(door, ".prom", &run, &path)) continue;
        char *text = content(path);
        is_told = strstr(text, "\nkeel_executions_total{");
        free(text);
    }
    kill(getpid(), SIGKILL);
}

static void a_killed_process_leaves_its_last_figures(void **state) {
    const door_t *door = *state;
    char *run, *path;
    run_followed(door, "KEEL_RUN_ID=r1", live_until_it_is_written, 128 + SIGKILL);
    assert_int_equal(find_files(door, ".prom", &run, &path), 1);
    char *text = content(path);
    assert_non_null(strstr(text, "\nkeel_compiles_total{"));
    assert_non_null(strstr(text, "\nkeel_executions_total{"));
    free(text);
    free(run);
    free(path);
}

static void live_above_a_folder(const door_t *door) {
    char path[700];
    snprintf(path, sizeof path, "%s/r1/metrics.%d.json", door->runs, (int)getpid());
    keel_status_t status = keel_directory_make(path);
    CHECK(!status);
    live_alpha(door);
}

static void figures_that_cannot_be_written_cost_nothing_else(void **state) {
    const door_t *door = *state;
    run_followed(door, "KEEL_RUN_ID=r1", live_above_a_folder, 0);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
        CASE(what_a_program_needs_is_told_when_it_is_compiled_and_when_it_is_loaded),
        CASE(it_is_told_once_in_a_process),
        CASE(what_is_not_stored_is_asked_about_as_well),
        CASE(an_entry_without_it_loads_and_says_nothing),
        cmocka_unit_test(an_earlier_keels_entry_is_read_without_it),
        cmocka_unit_test(a_payload_that_is_cut_anywhere_is_refused),
        CASE(a_plugin_that_does_not_tell_is_written_down_once),
        CASE(a_plugin_without_the_functions_is_no_matter),
        CASE(devices_are_told_by_their_physical_names),
        CASE(what_does_not_move_is_written_once),
        CASE(a_compile_that_does_not_fit_has_its_code_in_the_journal),
        CASE(the_files_of_a_run_say_what_its_journal_says),
        CASE(a_killed_process_leaves_its_last_figures),
        CASE(figures_that_cannot_be_written_cost_nothing_else),
#undef CASE
    };
    return cmocka_run_group_tests_name("engine_figures", tests, NULL, NULL);
}
