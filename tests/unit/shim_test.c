// The table that a client gets: which functions are Keel's and which the plugin's, and what they
// say if Keel cannot work.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "door_help.h"

// ---- the table ---------------------------------------------------------------------------------

static const PJRT_Api *plugin_table(void) {
    void *library = dlopen(KEEL_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    CHECK(get);
    return get();
}

// The functions that Keel puts its own in place of, as shim.h documents them.
static bool is_keels(size_t offset) {
    static const size_t keels[] = {
        offsetof(PJRT_Api, PJRT_Error_Destroy),
        offsetof(PJRT_Api, PJRT_Error_Message),
        offsetof(PJRT_Api, PJRT_Error_GetCode),
        1096, // PJRT_Error_ForEachPayload of later headers
        offsetof(PJRT_Api, PJRT_Client_Create),
        offsetof(PJRT_Api, PJRT_Client_Destroy),
        offsetof(PJRT_Api, PJRT_Client_Compile),
        offsetof(PJRT_Api, PJRT_Client_BufferFromHostBuffer),
        offsetof(PJRT_Api, PJRT_AsyncHostToDeviceTransferManager_TransferData),
        offsetof(PJRT_Api, PJRT_Buffer_ToHostBuffer),
        offsetof(PJRT_Api, PJRT_Buffer_CopyRawToHost),
        offsetof(PJRT_Api, PJRT_Buffer_IncreaseExternalReferenceCount),
        offsetof(PJRT_Api, PJRT_LoadedExecutable_Execute),
        offsetof(PJRT_Api, PJRT_LoadedExecutable_GetExecutable),
        offsetof(PJRT_Api, PJRT_LoadedExecutable_Destroy),
        offsetof(PJRT_Api, PJRT_LoadedExecutable_Delete),
        offsetof(PJRT_Api, PJRT_LoadedExecutable_IsDeleted),
        offsetof(PJRT_Api, PJRT_Buffer_Destroy),
        offsetof(PJRT_Api, PJRT_Executable_Serialize),
        offsetof(PJRT_Api, PJRT_Executable_OptimizedProgram),
        offsetof(PJRT_Api, PJRT_Executable_Destroy),
    };
    for (size_t i = 0; i < sizeof keels / sizeof *keels; ++i)
        if (keels[i] == offset) return true;
    return false;
}

// Calls a function that is neither Keel's nor has structs that its arguments point to.
static void ask_platform(const PJRT_Api *api) {
    PJRT_Client_PlatformName_Args args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE};
    NO_ERROR(api, api->PJRT_Client_PlatformName(&args));
    CHECK(args.platform_name_size == 4 && memcmp(args.platform_name, "test", 4) == 0);
}

// Of what the header knows the bridge takes all; it gives back what needs no look. What is newer is
// guarded.
static void compare_tables(const door_t *door) {
    (void)door;
    const PJRT_Api *plugin = plugin_table(), *api = keel_shim_api();
    CHECK(api != plugin);
    CHECK(api->struct_size == plugin->struct_size);
    CHECK(api->extension_start == plugin->extension_start);
    CHECK(api->extension_start->type == PJRT_Extension_Type_Layouts);
    CHECK(api->extension_start->next->type == PJRT_Extension_Type_Example);
    CHECK(memcmp(&api->pjrt_api_version, &plugin->pjrt_api_version, sizeof api->pjrt_api_version) ==
          0);
    for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < api->struct_size; at += 8) {
        bool same = memcmp((const char *)api + at, (const char *)plugin + at, 8) == 0;
        static const void *const none;
        bool is_there = memcmp((const char *)plugin + at, &none, sizeof none) != 0;
        if (same != is_there) continue;
        fprintf(stdout, "offset %zu\n", at);
        CHECK(false);
    }
    ask_platform(api);
    CHECK(api->PJRT_Client_PlatformName == plugin->PJRT_Client_PlatformName);
    door_live("a program");
    for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < api->struct_size; at += 8)
        CHECK(!is_keels(at) || memcmp((const char *)api + at, (const char *)plugin + at, 8) != 0);
}

static void test_table_is_keels_and_the_bridges_as_far_as_the_header_goes(void **state) {
    door_run(*state, "", compare_tables);
}

static void test_older_plugins_shorter_table_is_kept(void **state) {
    door_run(*state, "TEST_PLUGIN=table=older", compare_tables);
}

static void test_newer_plugins_longer_table_is_kept(void **state) {
    door_run(*state, "TEST_PLUGIN=table=newer", compare_tables);
}

static void call_the_unknown(const door_t *door) {
    (void)door;
    const test_plugin_table_t *table = (const test_plugin_table_t *)keel_shim_api();
    test_plugin_answer_t args = {.struct_size = sizeof args};
    CHECK(!table->answer(&args));
    CHECK(args.number == 42);
}

static void test_functions_of_a_later_header_can_be_called(void **state) {
    door_run(*state, "TEST_PLUGIN=table=newer", call_the_unknown);
}

static void is_only_bridged(const door_t *door) {
    (void)door;
    const PJRT_Api *plugin = plugin_table(), *api = keel_shim_api();
    CHECK(api->PJRT_Error_Message == plugin->PJRT_Error_Message);
    ask_platform(api);
    door_live("a program");
    CHECK(api->PJRT_Client_PlatformName == plugin->PJRT_Client_PlatformName);
    // But for what a plugin must be given, and what would hang without a word.
    CHECK(api->PJRT_Client_Create != plugin->PJRT_Client_Create);
    CHECK(api->PJRT_Client_Compile != plugin->PJRT_Client_Compile);
}

static void test_mode_off_bridges_and_writes_nothing(void **state) {
    door_t *door = *state;
    door_run(door, "KEEL_MODE=off", is_only_bridged);
    assert_false(exists(door->place.cache));
    assert_false(exists(door->runs));
}

static void *ask(void *out) {
    *(const PJRT_Api **)out = keel_shim_api();
    return NULL;
}

static void ask_on_eight_threads(const door_t *door) {
    (void)door;
    pthread_t threads[8];
    const PJRT_Api *tables[8];
    for (int i = 0; i < 8; ++i)
        CHECK(pthread_create(&threads[i], NULL, ask, &tables[i]) == 0);
    for (int i = 0; i < 8; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < 8; ++i)
        CHECK(tables[i] == tables[0]);
}

static void test_the_table_is_made_once_whoever_asks(void **state) {
    door_run(*state, "", ask_on_eight_threads);
}

// ---- errors ------------------------------------------------------------------------------------

static void tell_errors_apart(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    char text[1024];
    PJRT_Error *own = keel_pjrt_error(keel_status_make(KEEL_REFUSED, "a program is refused"));
    CHECK(keel_pjrt_error_is_own(own));
    door_message(api, own, text);
    CHECK(strcmp(text, "a program is refused") == 0);
    CHECK(door_code(api, own) == PJRT_Error_Code_FAILED_PRECONDITION);

    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    PJRT_Error *theirs = door_compile_bytes(api, client, "text", keel_bytes("program", 7), &loaded);
    CHECK(theirs && !keel_pjrt_error_is_own(theirs));
    door_message(api, theirs, text);
    CHECK(strcmp(text, "test plugin: will not compile") == 0);
    CHECK(door_code(api, theirs) == PJRT_Error_Code_INVALID_ARGUMENT);

    door_drop(api, own);
    CHECK(!keel_pjrt_error_is_own(own));
    door_drop(api, theirs);
    door_drop(api, NULL);
    door_close(api, client);
}

static void test_keels_errors_and_the_plugins_are_told_apart(void **state) {
    door_run(*state, "TEST_PLUGIN=compile_fails", tell_errors_apart);
}

static void visit_payload(const char *key, size_t key_size, const char *value, size_t value_size,
                          void *count) {
    CHECK(key_size == 4 && memcmp(key, "text", 4) == 0);
    CHECK(value_size > 12 && memcmp(value, "test plugin:", 12) == 0);
    ++*(int *)count;
}

static void visit_payloads(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    const test_plugin_table_t *table = (const test_plugin_table_t *)api;
    int visited = 0;
    test_plugin_payload_args_t args = {
        .struct_size = sizeof args, .visitor = visit_payload, .user_arg = &visited};
    PJRT_Error *own = keel_pjrt_error(keel_status_make(KEEL_REFUSED, "a program is refused"));
    args.error = own;
    CHECK(!table->for_each_payload(&args) && visited == 0);
    door_drop(api, own);
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    PJRT_Error *theirs = door_compile_bytes(api, client, "text", keel_bytes("program", 7), &loaded);
    args.error = theirs;
    CHECK(!table->for_each_payload(&args) && visited == 1);
    door_drop(api, theirs);
    door_close(api, client);
}

static void test_payloads_of_errors_are_the_plugins(void **state) {
    door_run(*state, "TEST_PLUGIN=table=newer compile_fails", visit_payloads);
}

static void report_every_code(const door_t *door) {
    (void)door;
    static const struct {
        keel_code_t code;
        PJRT_Error_Code expected;
    } rows[] = {
        {KEEL_INVALID, PJRT_Error_Code_INVALID_ARGUMENT},
        {KEEL_NOT_FOUND, PJRT_Error_Code_NOT_FOUND},
        {KEEL_UNSUPPORTED, PJRT_Error_Code_UNIMPLEMENTED},
        {KEEL_CORRUPT, PJRT_Error_Code_DATA_LOSS},
        {KEEL_NO_MEMORY, PJRT_Error_Code_RESOURCE_EXHAUSTED},
        {KEEL_IO, PJRT_Error_Code_UNAVAILABLE},
        {KEEL_REFUSED, PJRT_Error_Code_FAILED_PRECONDITION},
        {KEEL_PLUGIN, PJRT_Error_Code_INTERNAL},
        {KEEL_INTERNAL, PJRT_Error_Code_INTERNAL},
    };
    const PJRT_Api *api = keel_shim_api();
    PJRT_Error *errors[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        errors[i] = keel_pjrt_error(keel_status_make(rows[i].code, "number %zu", i));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[1024], expected[32];
        snprintf(expected, sizeof expected, "number %zu", i);
        door_message(api, errors[i], text);
        CHECK(strcmp(text, expected) == 0);
        CHECK(door_code(api, errors[i]) == rows[i].expected);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        door_drop(api, errors[i]);
}

static void test_every_status_has_its_pjrt_code(void **state) {
    door_run(*state, "", report_every_code);
}

#ifdef KEEL_FAULTS
static void run_out_of_memory(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    char text[1024];
    keel_status_t status = keel_status_make(KEEL_REFUSED, "a program is refused");
    keel_fault_arm(KEEL_FAULT_ALLOC, 1);
    PJRT_Error *error = keel_pjrt_error(status);
    keel_fault_arm(KEEL_FAULT_ALLOC, 0);
    CHECK(keel_pjrt_error_is_own(error));
    door_message(api, error, text);
    CHECK(strstr(text, "out of memory"));
    CHECK(door_code(api, error) == PJRT_Error_Code_RESOURCE_EXHAUSTED);
    door_drop(api, error);
}

static void test_an_error_without_memory_is_still_an_error(void **state) {
    door_run(*state, "", run_out_of_memory);
}
#endif

// ---- refusals ----------------------------------------------------------------------------------

static char expected_text[256];
static PJRT_Error_Code expected_code;

static void expect_refusal(const PJRT_Api *api, PJRT_Error *error) {
    char text[1024];
    CHECK(error);
    door_message(api, error, text);
    if (!strstr(text, expected_text) || strncmp(text, "keel: ", 6) != 0)
        fprintf(stdout, "said: %s\n", text);
    CHECK(strncmp(text, "keel: ", 6) == 0 && strstr(text, expected_text));
    CHECK(!strchr(text, '\n'));
    CHECK(door_code(api, error) == expected_code);
    door_drop(api, error);
}

static void be_refused(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    CHECK(api->struct_size == PJRT_Api_STRUCT_SIZE);
    CHECK(api->pjrt_api_version.major_version == PJRT_API_MAJOR);
    CHECK(keel_shim_api() == api);
    PJRT_Plugin_Attributes_Args attributes = {.struct_size =
                                                  PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
    CHECK(!api->PJRT_Plugin_Attributes(&attributes) && attributes.num_attributes == 0);
    PJRT_Plugin_Initialize_Args initialize = {.struct_size =
                                                  PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    expect_refusal(api, api->PJRT_Plugin_Initialize(&initialize));
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    expect_refusal(api, api->PJRT_Client_Create(&create));
    PJRT_TopologyDescription_Create_Args topology = {
        .struct_size = PJRT_TopologyDescription_Create_Args_STRUCT_SIZE};
    expect_refusal(api, api->PJRT_TopologyDescription_Create(&topology));
    PJRT_LoadedExecutable_GetDeviceAssignment_Args last = {.struct_size = 8};
    expect_refusal(api, api->PJRT_LoadedExecutable_GetDeviceAssignment(&last));
}

static void check_refused(door_t *door, const char *settings, const char *text,
                          PJRT_Error_Code code) {
    unlink(door->errors);
    snprintf(expected_text, sizeof expected_text, "%s", text);
    expected_code = code;
    door_run(door, settings, be_refused);
    if (count_lines(door->errors, "") != 1) door_show(door->errors);
    assert_int_equal(count_lines(door->errors, ""), 1);
    assert_int_equal(count_lines(door->errors, text), 1);
    assert_int_equal(count_lines(door->errors, "keel: "), 1);
}

static void test_what_is_no_plugin_is_refused_by_name(void **state) {
    door_t *door = *state;
    char settings[1024], path[512];
    check_refused(door, "KEEL_PLUGIN=/nowhere/plugin.so", "/nowhere/plugin.so does not exist",
                  PJRT_Error_Code_NOT_FOUND);
    check_refused(door, "KEEL_PLUGIN=/", "plugin / is not a file",
                  PJRT_Error_Code_INVALID_ARGUMENT);
    snprintf(path, sizeof path, "%s/text.so", door->place.root);
    write_bytes(path, "this is not a library", 18);
    snprintf(settings, sizeof settings, "KEEL_PLUGIN=%s", path);
    check_refused(door, settings, "text.so is not a shared library",
                  PJRT_Error_Code_INVALID_ARGUMENT);
    write_bytes(path, "", 0);
    check_refused(door, settings, "text.so is not a shared library",
                  PJRT_Error_Code_INVALID_ARGUMENT);
    write_bytes(path, "\177ELF but no more", 16);
    check_refused(door, settings, "text.so cannot be loaded", PJRT_Error_Code_INVALID_ARGUMENT);
    Dl_info cmocka;
    assert_true(dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &cmocka));
    snprintf(settings, sizeof settings, "KEEL_PLUGIN=%s", cmocka.dli_fname);
    check_refused(door, settings, "it has no GetPjrtApi", PJRT_Error_Code_INVALID_ARGUMENT);
    check_refused(door, "KEEL_PLUGIN=gpu", "plugin gpu is neither a name that Keel knows",
                  PJRT_Error_Code_INVALID_ARGUMENT);
}

// The door as a client opens it, told to wrap itself.
static void wrap_itself(const door_t *door) {
    (void)door;
    void *library = dlopen(KEEL_DOOR, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stdout, "%s\n", dlerror());
    CHECK(library);
    CHECK(!dlsym(library, "keel_shim_api"));
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    CHECK(get);
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = get()->PJRT_Client_Create(&create);
    char text[1024];
    CHECK(error);
    door_message(get(), error, text);
    CHECK(strstr(text, "is Keel itself"));
    door_drop(get(), error);
}

static void test_the_door_does_not_wrap_itself(void **state) {
    door_run(*state, "KEEL_PLUGIN=" KEEL_DOOR, wrap_itself);
}

static void test_plugins_that_keel_cannot_wrap_are_refused(void **state) {
    check_refused(*state, "TEST_PLUGIN=major=7", "speaks PJRT 7.", PJRT_Error_Code_UNIMPLEMENTED);
    check_refused(*state, "TEST_PLUGIN=table=short", "has no PJRT_Client_Compile",
                  PJRT_Error_Code_UNIMPLEMENTED);
    check_refused(*state, "TEST_PLUGIN=null_serialize", "has no PJRT_Executable_Serialize",
                  PJRT_Error_Code_UNIMPLEMENTED);
}

static void test_bad_settings_are_refused_with_the_setting_to_use(void **state) {
    door_t *door = *state;
    check_refused(door, "KEEL_CACHE_DIR=gs://bucket/cache", "KEEL_CACHE_DIR",
                  PJRT_Error_Code_INVALID_ARGUMENT);
    check_refused(door, "KEEL_MODE=sometimes", "sometimes", PJRT_Error_Code_INVALID_ARGUMENT);
    check_refused(door, "KEEL_CACHE_LIMIT=lots", "lots", PJRT_Error_Code_INVALID_ARGUMENT);
    char settings[1024], path[512];
    snprintf(path, sizeof path, "%s/config", door->place.root);
    write_bytes(path, "cache_dirr = /tmp\n", 18);
    snprintf(settings, sizeof settings, "KEEL_CONFIG=%s", path);
    check_refused(door, settings, "cache_dirr", PJRT_Error_Code_INVALID_ARGUMENT);
    check_refused(door, "KEEL_CONFIG=/nowhere/config", "/nowhere/config",
                  PJRT_Error_Code_INVALID_ARGUMENT);
}

static void test_quiet_keeps_the_refusal_to_the_client(void **state) {
    door_t *door = *state;
    snprintf(expected_text, sizeof expected_text, "sometimes");
    expected_code = PJRT_Error_Code_INVALID_ARGUMENT;
    door_run(door, "KEEL_MODE=sometimes\nKEEL_QUIET=1", be_refused);
    assert_int_equal(count_lines(door->errors, ""), 0);
}

static void fail_to_create(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    char text[1024];
    CHECK(error);
    door_message(api, error, text);
    CHECK(strcmp(text, "test plugin: no client today") == 0);
    door_drop(api, error);
}

static void test_the_plugins_own_refusal_is_handed_on(void **state) {
    door_run(*state, "TEST_PLUGIN=no_client", fail_to_create);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(table_is_keels_and_the_bridges_as_far_as_the_header_goes),
        TEST(older_plugins_shorter_table_is_kept),
        TEST(newer_plugins_longer_table_is_kept),
        TEST(functions_of_a_later_header_can_be_called),
        TEST(mode_off_bridges_and_writes_nothing),
        TEST(the_table_is_made_once_whoever_asks),
        TEST(keels_errors_and_the_plugins_are_told_apart),
        TEST(payloads_of_errors_are_the_plugins),
        TEST(every_status_has_its_pjrt_code),
#ifdef KEEL_FAULTS
        TEST(an_error_without_memory_is_still_an_error),
#endif
        TEST(what_is_no_plugin_is_refused_by_name),
        TEST(the_door_does_not_wrap_itself),
        TEST(plugins_that_keel_cannot_wrap_are_refused),
        TEST(bad_settings_are_refused_with_the_setting_to_use),
        TEST(quiet_keeps_the_refusal_to_the_client),
        TEST(the_plugins_own_refusal_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
