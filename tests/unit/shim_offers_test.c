// Plugins that a client loads before it is known which one it uses: each has a table of its own,
// and that of the plugin which is named becomes Keel's.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "door_help.h"

static char first[400], second[400];

// Two copies, so two libraries with a state each. The record of calls is theirs together.
static int setup(void **state) {
    if (door_setup(state)) return -1;
    door_t *door = *state;
    uint8_t *bytes;
    size_t size;
    snprintf(first, sizeof first, "%s/first.so", door->place.root);
    snprintf(second, sizeof second, "%s/second.so", door->place.root);
    assert_null(keel_file_read(KEEL_TEST_PLUGIN, 1 << 26, &bytes, &size));
    assert_null(keel_file_replace(first, keel_bytes(bytes, size)));
    assert_null(keel_file_replace(second, keel_bytes(bytes, size)));
    keel_free(bytes);
    return 0;
}

static const PJRT_Api *own_table(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    return get();
}

static const PJRT_Api *offer(const char *path) {
    CHECK(keel_shim_offer(path));
    const PJRT_Api *api = keel_shim_api();
    CHECK(api->PJRT_Client_Create == own_table(path)->PJRT_Client_Create);
    return api;
}

static void use(const PJRT_Api *api) {
    PJRT_Client *client = door_client(api);
    door_destroy(api, door_compile(api, client, "a program"));
    door_close(api, client);
}

static void name_the_second(const door_t *door) {
    (void)door;
    const PJRT_Api *a = offer(first), *b = offer(second);
    CHECK(a != b);
    CHECK(keel_shim_wrap(second));
    CHECK(a->PJRT_Client_Compile == own_table(first)->PJRT_Client_Compile);
    CHECK(b->PJRT_Client_Compile != own_table(second)->PJRT_Client_Compile);
    CHECK(!keel_shim_wrap(first));
    CHECK(keel_shim_wrap(second));
    CHECK(keel_shim_api() == b);
    use(a);
    use(b);
}

static void test_the_named_ones_table_becomes_keels(void **state) {
    door_t *door = *state;
    door_run(door, "", name_the_second);
    assert_int_equal(count_events(door, "\"compile\"", ""), 1);
    assert_int_equal(count_events(door, "\"start\"", second), 1);
}

static void offer_again(const door_t *door) {
    (void)door;
    const PJRT_Api *a = offer(first);
    CHECK(offer(first) == a);
    CHECK(keel_shim_wrap(first));
    CHECK(keel_shim_offer(first)); // a second name for the same plugin
    CHECK(keel_shim_api() == a);
    use(a);
}

static void test_a_plugin_that_is_loaded_twice_has_one_table(void **state) {
    door_run(*state, "", offer_again);
    assert_int_equal(count_events(*state, "\"compile\"", ""), 1);
}

static void name_none(const door_t *door) {
    (void)door;
    use(offer(first));
    use(keel_shim_api()); // the settings' own plugin
    CHECK(!keel_shim_wrap(first));
}

static void test_without_a_name_it_is_the_plugins_own(void **state) {
    door_t *door = *state;
    door_run(door, "", name_none);
    assert_int_equal(count_events(door, "\"compile\"", ""), 1);
    assert_int_equal(count_events(door, "\"start\"", "keel_test_plugin.so"), 1);
}

static void offer_what_does_not_load(const door_t *door) {
    char path[400];
    snprintf(path, sizeof path, "%s/none.so", door->place.root);
    CHECK(!keel_shim_offer(path));
    CHECK(!keel_shim_offer(path));
    use(keel_shim_api()); // nothing is left of the offer
}

static void test_what_does_not_load_is_not_offered(void **state) {
    door_t *door = *state;
    door_run(door, "", offer_what_does_not_load);
    assert_int_equal(count_lines(door->errors, "none.so does not exist"), 1);
}

static void name_with_bad_settings(const door_t *door) {
    (void)door;
    const PJRT_Api *api = offer(first);
    CHECK(keel_shim_wrap(first));
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    char text[1024];
    CHECK(error);
    door_message(api, error, text);
    CHECK(strstr(text, "sometimes"));
    door_drop(api, error);
}

static void test_bad_settings_are_refused_through_its_table(void **state) {
    door_run(*state, "KEEL_MODE=sometimes", name_with_bad_settings);
}

static void name_with_mode_off(const door_t *door) {
    (void)door;
    const PJRT_Api *api = offer(first);
    CHECK(keel_shim_wrap(first));
    CHECK(api->PJRT_Client_Create != own_table(first)->PJRT_Client_Create);
    use(api);
}

static void test_mode_off_reaches_its_table(void **state) {
    door_run(*state, "KEEL_MODE=off", name_with_mode_off);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_named_ones_table_becomes_keels),
        TEST(a_plugin_that_is_loaded_twice_has_one_table),
        TEST(without_a_name_it_is_the_plugins_own),
        TEST(what_does_not_load_is_not_offered),
        TEST(bad_settings_are_refused_through_its_table),
        TEST(mode_off_reaches_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
