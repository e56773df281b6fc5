// Executables that the client loads by itself: bytes that Keel handed out are asks for their
// program, in any process; others are known by what the plugin makes of them.
#define _GNU_SOURCE
#include "engine_help.h"

static const char bytes_of_alpha[] = "test executable\nalpha";

static PJRT_Error *load_bytes(const PJRT_Api *api, PJRT_Client *client, keel_bytes_t bytes,
                              PJRT_LoadedExecutable **out) {
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = client,
        .serialized_executable = (const char *)bytes.data,
        .serialized_executable_size = bytes.size};
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&load);
    *out = error ? NULL : load.loaded_executable;
    return error;
}

// Loads what the test plugin serializes alpha to, and executes it twice.
static void load_alpha(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, load_bytes(api, client, keel_bytes(bytes_of_alpha, sizeof bytes_of_alpha - 1),
                             &loaded));
    CHECK(door_is(api, loaded, keel_str_bytes(keel_str("alpha"))));
    door_execute(api, loaded);
    door_execute(api, loaded);
    door_destroy(api, loaded);
    door_close(api, client);
}

static void serialize_alpha(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    CHECK(door_serializes_alive(api, client, loaded));
    door_destroy(api, loaded);
    door_close(api, client);
}

static void compile_alpha(const door_t *door) {
    (void)door;
    door_live("alpha");
}

// The key of the first event that holds both texts.
static void key_in(const door_t *door, const char *text, const char *other, char out[65]) {
    char command[1024];
    snprintf(command, sizeof command,
             "cat %s/*/journal.ndjson | grep -F '%s' | grep -F '%s' | head -1 | "
             "sed 's/.*\"key\":\"//; s/\".*//'",
             door->runs, text, other);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(out, 1, 64, pipe);
    out[size] = 0;
    pclose(pipe);
    assert_int_equal(size, 64);
}

static void assert_one_key(const door_t *door) {
    char compiled[65], loaded[65];
    key_in(door, "\"event\":\"compile\"", "", compiled);
    key_in(door, "\"event\":\"load\"", "\"tier\":\"client\"", loaded);
    assert_string_equal(compiled, loaded);
}

static unsigned count_records(const door_t *door) {
    return count_files(&door->place, "handed", ".program");
}

static void spoil_records(const door_t *door, const char *command) {
    char line[700];
    snprintf(line, sizeof line, "for f in %s/handed/*.program; do %s; done", door->place.cache,
             command);
    assert_int_equal(system(line), 0);
}

// ---- bytes that Keel handed out ----------------------------------------------------------------

static void test_a_process_that_loads_what_it_serialized_asks_for_that_program(void **state) {
    const door_t *door = *state;
    door_run(door, "", serialize_alpha);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"client\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"by\":\"the client\""), 1);
    assert_one_key(door);
    assert_int_equal(count_records(door), 1);
}

static void test_another_process_asks_for_it_too_and_its_executions_count(void **state) {
    const door_t *door = *state;
    door_run(door, "", serialize_alpha);
    door_run(door, "KEEL_PREFETCH=off", load_alpha);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"client\""), 2);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"elsewhere\""), 0);
    assert_one_key(door);
    assert_int_equal(count_events(door, "\"event\":\"end\"", "\"total\":2,"), 1);
    assert_int_equal(count_lines(door->calls, "leak"), 0);
}

static void test_what_was_loaded_ahead_is_what_it_gets(void **state) {
    const door_t *door = *state;
    door_run(door, "", serialize_alpha);
    unlink(door->calls);
    door_run(door, "", load_alpha);
    assert_int_equal(count_lines(door->calls, "load alpha"), 1);
    assert_int_equal(count_events(door, "\"event\":\"prefetch\"", "\"used\":1"), 1);
}

static void test_what_was_loaded_from_the_store_and_serialized_is_known_too(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_alpha);
    assert_int_equal(count_records(door), 0);
    door_run(door, "", serialize_alpha);
    assert_int_equal(count_records(door), 1);
    assert_one_key(door);
}

static void test_readonly_writes_no_record(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MODE=readonly", serialize_alpha);
    assert_int_equal(count_records(door), 0);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"client\""), 1);
}

static unsigned asked;

static keel_status_t refuse(void *context, const keel_engine_ask_t *ask, keel_verdict_t *verdict) {
    (void)verdict;
    CHECK(ask->key && !ask->is_eager);
    CHECK(!strcmp((const char *)context, ask->elsewhere ? "elsewhere" : "known"));
    return ++asked > 1 ? keel_status_make(KEEL_REFUSED, "not again") : NULL;
}

static PJRT_Error *load_in(const bare_t *bare, const char *bytes, PJRT_LoadedExecutable **out) {
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = bare->client,
        .serialized_executable = bytes,
        .serialized_executable_size = strlen(bytes)};
    PJRT_Error *error = keel_engine_load(bare->engine, &load);
    *out = error ? NULL : load.loaded_executable;
    return error;
}

static void is_refused_once_known(const door_t *door) {
    (void)door;
    static char known[] = "known";
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_engine_set_gate(bare.engine, &(keel_engine_gate_t){refuse, known, NULL});
    bare_client(&bare);
    PJRT_LoadedExecutable *loaded = bare_compile(&bare, "alpha"), *again;
    PJRT_LoadedExecutable_GetExecutable_Args taken = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = loaded};
    NO_ERROR(bare.plugin.api, bare.plugin.api->PJRT_LoadedExecutable_GetExecutable(&taken));
    CHECK(!keel_engine_executable_taken(bare.engine, loaded, taken.executable));
    keel_engine_serialized(bare.engine, taken.executable,
                           keel_bytes(bytes_of_alpha, sizeof bytes_of_alpha - 1));
    keel_engine_executable_closing(bare.engine, taken.executable);
    door_destroy_executable(bare.plugin.api, taken.executable);
    PJRT_Error *error = load_in(&bare, bytes_of_alpha, &again);
    CHECK(keel_pjrt_error_is_own(error) && keel_pjrt_error_destroy(error) && asked == 2);
    CHECK(keel_engine_loaded_closing(bare.engine, loaded));
    door_destroy(bare.plugin.api, loaded);
    bare_close(&bare);
}

static void test_the_gate_is_asked_before_the_plugin_loads_what_is_known(void **state) {
    const door_t *door = *state;
    door_run(door, "", is_refused_once_known);
    assert_int_equal(count_lines(door->calls, "load alpha"), 1); // its proof alone
    assert_int_equal(count_events(door, "\"event\":\"compile_error\"", "not again"), 1);
}

// ---- bytes from elsewhere ----------------------------------------------------------------------

static void is_refused_from_elsewhere(const door_t *door) {
    (void)door;
    static char elsewhere[] = "elsewhere";
    bare_t bare;
    PJRT_LoadedExecutable *loaded, *again;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_engine_set_gate(bare.engine, &(keel_engine_gate_t){refuse, elsewhere, NULL});
    bare_client(&bare);
    NO_ERROR(bare.plugin.api, load_in(&bare, bytes_of_alpha, &loaded));
    PJRT_Error *error = load_in(&bare, bytes_of_alpha, &again);
    CHECK(keel_pjrt_error_is_own(error) && keel_pjrt_error_destroy(error));
    CHECK(keel_engine_loaded_closing(bare.engine, loaded));
    door_destroy(bare.plugin.api, loaded);
    bare_close(&bare);
}

static void test_the_gate_refuses_what_comes_from_elsewhere(void **state) {
    const door_t *door = *state;
    door_run(door, "", is_refused_from_elsewhere);
    assert_int_equal(count_lines(door->calls, "unload "), 2); // both are destroyed
    assert_int_equal(count_lines(door->calls, "leak"), 0);
}

static void test_a_load_from_elsewhere_is_journalled_and_its_executions_count(void **state) {
    const door_t *door = *state;
    door_run(door, "", load_alpha);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"elsewhere\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"name\":\"alpha\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", "\"total\":2,"), 1);
    // The test plugin's optimized program is in no format that Keel reads.
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"format\":\"executable\""), 1);
    assert_int_equal(count_lines(door->errors, "alpha was loaded from elsewhere"), 1);
    assert_int_equal(count_lines(door->errors, "cannot be checked"), 1);
    assert_int_equal(count_files(&door->place, "entries", ".keel"), 0);
}

static void serialize_what_came_from_elsewhere(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, load_bytes(api, client, keel_bytes(bytes_of_alpha, sizeof bytes_of_alpha - 1),
                             &loaded));
    CHECK(!door_serializes_alive(api, client, loaded)); // as without Keel
    door_destroy(api, loaded);
    door_close(api, client);
}

static void test_what_came_from_elsewhere_is_not_handed_out_as_known(void **state) {
    const door_t *door = *state;
    door_run(door, "", serialize_what_came_from_elsewhere);
    assert_int_equal(count_records(door), 0);
}

static void test_a_damaged_record_makes_it_one_from_elsewhere_and_loses_nothing(void **state) {
    static const char *const damage[] = {
        ": > $f", "head -c 40 $f > $f.x; mv $f.x $f",
        "printf 'keel handed 1\\n' > $f; head -c 300 /dev/zero >> $f",
        "head -c 60 /dev/urandom >> $f"};
    const door_t *door = *state;
    door_run(door, "", serialize_alpha);
    for (unsigned i = 0; i < sizeof damage / sizeof *damage; ++i) {
        spoil_records(door, damage[i]);
        door_run(door, "KEEL_PREFETCH=off", load_alpha);
        assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"elsewhere\""), i + 1);
        assert_int_equal(count_events(door, "\"event\":\"store_error\"", "\"what\":\"handed\""),
                         i + 1);
    }
}

static void load_garbage(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    door_drop(api, load_bytes(api, client, keel_str_bytes(keel_str("no executable")), &loaded));
    door_drop(api, load_bytes(api, client, keel_bytes("", 0), &loaded));
    CHECK(!loaded);
    door_close(api, client);
}

static void test_what_the_plugin_cannot_load_is_its_own_error(void **state) {
    const door_t *door = *state;
    door_run(door, "", load_garbage);
    assert_int_equal(count_events(door, "\"event\":\"load\"", ""), 0);
    assert_int_equal(count_lines(door->errors, ""), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_loads_what_it_serialized_asks_for_that_program),
        TEST(another_process_asks_for_it_too_and_its_executions_count),
        TEST(what_was_loaded_ahead_is_what_it_gets),
        TEST(what_was_loaded_from_the_store_and_serialized_is_known_too),
        TEST(readonly_writes_no_record),
        TEST(the_gate_is_asked_before_the_plugin_loads_what_is_known),
        TEST(the_gate_refuses_what_comes_from_elsewhere),
        TEST(a_load_from_elsewhere_is_journalled_and_its_executions_count),
        TEST(what_came_from_elsewhere_is_not_handed_out_as_known),
        TEST(a_damaged_record_makes_it_one_from_elsewhere_and_loses_nothing),
        TEST(what_the_plugin_cannot_load_is_its_own_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
