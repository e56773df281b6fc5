// Programs with large constants: what is stored of them, and what becomes of one whose load takes
// longer than its compile.
#define _GNU_SOURCE
#include "door_help.h"

#include <glob.h>

#include "engine/payload.h"

enum { CONSTANT = 6 << 20 };

// The plugin makes its executable and its optimized program of the program's bytes, so all three
// have the constant.
static uint8_t *program(void) {
    static const char name[] = "large\n";
    uint8_t *bytes = malloc(CONSTANT);
    CHECK(bytes);
    uint64_t state = 1;
    for (size_t i = 0; i < CONSTANT; i += sizeof state) {
        uint64_t number = next_random(&state);
        memcpy(bytes + i, &number, sizeof number);
    }
    memcpy(bytes, name, sizeof name - 1);
    return bytes;
}

static void check_optimized(const PJRT_Api *api, PJRT_LoadedExecutable *loaded,
                            const uint8_t *expected) {
    keel_buffer_t out;
    keel_str_t format;
    keel_buffer_initialize(&out, 0);
    PJRT_Executable *executable = door_take(api, loaded);
    CHECK(!keel_pjrt_optimized_program(api, executable, &out, &format));
    CHECK(out.size == CONSTANT && memcmp(out.data, expected, CONSTANT) == 0);
    door_destroy_executable(api, executable);
    keel_buffer_deinitialize(&out);
}

static void check_serialized(const PJRT_Api *api, PJRT_LoadedExecutable *loaded,
                             const uint8_t *expected) {
    uint8_t *bytes;
    size_t size;
    PJRT_Executable *executable = door_take(api, loaded);
    CHECK(!keel_pjrt_serialize(api, executable, &bytes, &size));
    CHECK(size > CONSTANT && memcmp(bytes + size - CONSTANT, expected, CONSTANT) == 0);
    door_destroy_executable(api, executable);
    keel_free(bytes);
}

static void live_large(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    uint8_t *bytes = program();
    NO_ERROR(api, door_compile_bytes(api, client, "text", keel_bytes(bytes, CONSTANT), &loaded));
    check_optimized(api, loaded, bytes);
    check_serialized(api, loaded, bytes);
    door_destroy(api, loaded);
    door_close(api, client);
    free(bytes);
}

static void live_small(const door_t *door) {
    (void)door;
    door_live("small");
}

static uint64_t bytes_of_entries(const door_t *door) {
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(door->place.cache, &facts));
    return facts.bytes;
}

static void a_large_constant_lies_once_in_its_entry(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=compile_ms=400", live_large);
    assert_int_equal(count_entries(door), 1);
    assert_in_range(bytes_of_entries(door), CONSTANT, CONSTANT + CONSTANT / 10);
    door_run(door, "TEST_PLUGIN=compile_ms=400", live_large);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_lines(door->calls, "compile large"), 1);
}

// Once as a proof. After that it is compiled, and neither serialized nor proved again.
static void what_loads_slower_than_it_compiles_is_compiled(void **state) {
    const door_t *door = *state;
    static const char slow[] = "TEST_PLUGIN=load_ms=400";
    door_run(door, slow, live_large);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "more than its compile of"), 1);
    assert_true(bytes_of_entries(door) < CONSTANT / 100);
    unsigned serialized = count_lines(door->calls, "serialize large");
    door_run(door, slow, live_large);
    assert_int_equal(count_own_loads(door), 0);
    assert_int_equal(count_lines(door->calls, "compile large"), 2);
    assert_int_equal(count_lines(door->calls, "load large"), 1);
    // The client did that itself.
    assert_int_equal(count_lines(door->calls, "serialize large"), serialized + 1);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"slow\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "\"what\":\"slow\""), 1);
}

static void a_load_that_turns_out_slow_is_the_last(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=compile_ms=200", live_large);
    door_run(door, "TEST_PLUGIN=compile_ms=200 load_ms=900", live_large);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "more than its compile of"), 1);
    door_run(door, "TEST_PLUGIN=compile_ms=200", live_large);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_lines(door->calls, "compile large"), 2);
}

static void a_compile_that_became_slow_is_stored_again(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=load_ms=100", live_large);
    assert_true(bytes_of_entries(door) < CONSTANT / 100);
    door_run(door, "TEST_PLUGIN=compile_ms=900", live_large);
    assert_true(bytes_of_entries(door) > CONSTANT);
    door_run(door, "", live_large);
    assert_int_equal(count_own_loads(door), 1);
}

static void a_small_program_is_loaded_however_long_that_takes(void **state) {
    const door_t *door = *state;
    for (int i = 0; i < 2; ++i)
        door_run(door, "TEST_PLUGIN=load_ms=50", live_small);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "more than"), 0);
}

static void what_is_larger_than_memory_limit_is_said_once(void **state) {
    const door_t *door = *state;
    static const char settings[] = "TEST_PLUGIN=compile_ms=400\nKEEL_MEMORY_LIMIT=1M";
    for (int i = 0; i < 2; ++i)
        door_run(door, settings, live_large);
    assert_int_equal(count_own_loads(door), 1);
    assert_int_equal(count_lines(door->errors, "memory_limit"), 1);
}

// Someone restores the cache folder from a copy while this process has an entry of it.
static void live_large_cut_meanwhile(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    uint8_t *bytes = program();
    const keel_bytes_t code = keel_bytes(bytes, CONSTANT);
    NO_ERROR(api, door_compile_bytes(api, client, "text", code, &loaded));
    door_destroy(api, loaded);
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/entries/*/*.keel", door->place.cache);
    CHECK(!glob(pattern, 0, NULL, &found) && found.gl_pathc == 1);
    CHECK(!truncate(found.gl_pathv[0], 4096));
    globfree(&found);
    NO_ERROR(api, door_compile_bytes(api, client, "text", code, &loaded));
    check_optimized(api, loaded, bytes);
    door_destroy(api, loaded);
    door_close(api, client);
    free(bytes);
}

static void what_was_read_does_not_change_with_the_file(void **state) {
    const door_t *door = *state;
    static const char settings[] = "TEST_PLUGIN=compile_ms=400\nKEEL_PREFETCH=off";
    door_run(door, settings, live_large);
    door_run(door, settings, live_large_cut_meanwhile);
    assert_int_equal(count_own_loads(door), 2);
    assert_int_equal(count_lines(door->calls, "compile large"), 1);
}

// ---- payloads ----------------------------------------------------------------------------------

static void pack_large(keel_payload_t *payload, uint8_t **out, size_t *out_size) {
    *out = NULL;
    assert_ok(keel_bytes_dup(payload->executable, out));
    assert_true(keel_payload_is_large(payload));
    assert_ok(keel_payload_pack_large(payload, out, out_size));
}

static void a_large_payload_that_is_cut_anywhere_is_refused(void **state) {
    (void)state;
    uint8_t *bytes = program(), *other = program(), *data;
    size_t size;
    keel_payload_t payload = {.executable = keel_bytes(bytes, CONSTANT),
                              .format = KEEL_STR("hlo"),
                              .program = keel_bytes(other + 7, CONSTANT - 7),
                              .options = keel_bytes("options", 7),
                              .has_memory = true,
                              .memory = {.arguments = 1, .peak = UINT64_MAX}},
                   read;
    pack_large(&payload, &data, &size);
    assert_true(size < CONSTANT + CONSTANT / 100);
    assert_ok(keel_payload_unpack(keel_bytes(data, size), &read));
    assert_ptr_equal(read.executable.data, data);
    assert_true(keel_bytes_equal(read.options, payload.options));
    assert_true(keel_str_equal(read.format, payload.format));
    assert_memory_equal(&read.memory, &payload.memory, sizeof read.memory);
    assert_int_equal(keel_payload_program_size(&read), payload.program.size);
    uint8_t *expanded;
    assert_ok(keel_payload_expand(&read, &expanded));
    assert_true(keel_bytes_equal(read.program, payload.program));
    keel_free(expanded);
    for (size_t cut = 1; cut < 4096; ++cut)
        assert_code(keel_payload_unpack(keel_bytes(data, size - cut), &read), KEEL_CORRUPT);
    keel_free(data);
    free(other);
    free(bytes);
}

static void a_program_that_shares_nothing_is_kept_too(void **state) {
    (void)state;
    uint8_t *bytes = program(), *data;
    size_t size, half = CONSTANT / 2;
    keel_payload_t read, payload = {.executable = keel_bytes(bytes, half),
                                    .format = KEEL_STR("hlo"),
                                    .program = keel_bytes(bytes + half, half)};
    pack_large(&payload, &data, &size);
    assert_ok(keel_payload_unpack(keel_bytes(data, size), &read));
    uint8_t *expanded;
    assert_ok(keel_payload_expand(&read, &expanded));
    assert_true(keel_bytes_equal(read.program, payload.program));
    keel_free(expanded);
    keel_free(data);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
        CASE(a_large_constant_lies_once_in_its_entry),
        CASE(what_loads_slower_than_it_compiles_is_compiled),
        CASE(a_load_that_turns_out_slow_is_the_last),
        CASE(a_compile_that_became_slow_is_stored_again),
        CASE(a_small_program_is_loaded_however_long_that_takes),
        CASE(what_is_larger_than_memory_limit_is_said_once),
        CASE(what_was_read_does_not_change_with_the_file),
        cmocka_unit_test(a_large_payload_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(a_program_that_shares_nothing_is_kept_too),
#undef CASE
    };
    return cmocka_run_group_tests_name("engine_large", tests, NULL, NULL);
}
