// The bridge between a client's argument structs and a plugin that wants different ones, on the
// plugin of tests/plugin, which can be told what to want. Clients of other versions are made by
// sending structs that end earlier, or later, than the header's.
#define _GNU_SOURCE
#include "door_help.h"

#include <dlfcn.h>
#include <pthread.h>

#include "pjrt/bridge.h"
#include "pjrt/bridge_table.h"

static const PJRT_Api *plugin;
static place_t place;
static char calls[300];

// ---- a plugin of some version, behind the bridge -----------------------------------------------

static int load_plugin(void **state) {
    (void)state;
    unsetenv("TEST_PLUGIN");
    place_make(&place);
    snprintf(calls, sizeof calls, "%s/calls", place.root);
    setenv("TEST_PLUGIN_CALLS", calls, 1);
    void *library = dlopen(KEEL_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    assert_non_null(get);
    plugin = get();
    return 0;
}

static int remove_place(void **state) {
    (void)state;
    place_remove(&place);
    return 0;
}

static int forget(void **state) {
    (void)state;
    unsetenv("TEST_PLUGIN");
    unlink(calls);
    return 0;
}

// The table that a client gets of a plugin that is `newer` minor versions ahead of the header.
static PJRT_Api *bridge(const char *words, int newer) {
    static PJRT_Api api; // the bridge keeps it
    api = *plugin;
    api.pjrt_api_version.minor_version += newer;
    setenv("TEST_PLUGIN", words, 1);
    PJRT_Api *table;
    assert_ok(keel_bridge_create(&api, &table));
    keel_bridge_settle_in(table);
    return table;
}

static PJRT_Client *client_of(const PJRT_Api *api) {
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    assert_null(api->PJRT_Client_Create(&args));
    return args.client;
}

static void close_client(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_Destroy_Args args = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                     .client = client};
    assert_null(api->PJRT_Client_Destroy(&args));
}

static void assert_error(const PJRT_Api *api, PJRT_Error *error, const char *text) {
    char said[1024];
    assert_non_null(error);
    door_message(api, error, said);
    assert_string_equal(said, text);
    door_drop(api, error);
}

// What torch_xla 2.9 sends.
enum { OLD_OPTIONS = offsetof(PJRT_ExecuteOptions, call_location) };

// What stands behind it is another's.
typedef struct old_options_t {
    _Alignas(PJRT_ExecuteOptions) unsigned char bytes[OLD_OPTIONS];
    unsigned char guard[64];
} old_options_t;

static old_options_t old_options(int launch_id) {
    PJRT_ExecuteOptions options = {.struct_size = OLD_OPTIONS, .launch_id = launch_id};
    old_options_t old;
    memcpy(old.bytes, &options, OLD_OPTIONS);
    memset(old.guard, 0x77, sizeof old.guard);
    return old;
}

static bool is_guarded(const unsigned char *guard, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (guard[i] != 0x77) return false;
    return true;
}

static PJRT_Error *execute(const PJRT_Api *api, void *options, uintptr_t *out_launch) {
    PJRT_Event *events[1] = {NULL};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .options = options,
                                               .device_complete_events = events};
    PJRT_Error *error = api->PJRT_LoadedExecutable_Execute(&args);
    *out_launch = (uintptr_t)events[0];
    assert_ptr_equal(args.options, options);
    return error;
}

static unsigned refusals(void) {
    return count_lines(calls, "refuse ");
}

// ---- the table against the header --------------------------------------------------------------

static char *header;

static int read_header(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(KEEL_PJRT_HEADER, 1 << 24, &data, &size));
    header = malloc(size + 1);
    memcpy(header, data, size);
    header[size] = 0;
    keel_free(data);
    for (char *at = header; (at = strstr(at, "//"));)
        while (*at && *at != '\n')
            *at++ = ' ';
    return 0;
}

static int free_header(void **state) {
    (void)state;
    free(header);
    return 0;
}

static void test_every_function_of_the_header_is_in_the_table(void **state) {
    (void)state;
    static const char *const known[] = {"Error_Destroy", "Error_Message", "Error_GetCode",
#define NAME(name) #name,
                                        KEEL_BRIDGE_FUNCTIONS(NAME)
#undef NAME
    };
    size_t count = 0;
    const char *at = strstr(header, "typedef struct PJRT_Api {");
    assert_non_null(at);
    while ((at = strstr(at, "_PJRT_API_STRUCT_FIELD(PJRT_"))) {
        char name[128];
        at += strlen("_PJRT_API_STRUCT_FIELD(PJRT_");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ")"), at);
        assert_true(count < sizeof known / sizeof *known);
        assert_string_equal(name, known[count]);
        ++count;
    }
    assert_int_equal(count, sizeof known / sizeof *known);
}

// The text between the braces of a struct; "" where it has none.
static void body_of(const char *name, char out[8192]) {
    char opening[200];
    snprintf(opening, sizeof opening, "struct %s {", name);
    const char *at = strstr(header, opening), *end = at ? strstr(at, "\n}") : NULL;
    snprintf(out, 8192, "%.*s", end ? (int)(end - at) : 0, at ? at : "");
}

static bool is_nested(const char *function, const char *member, const char *name) {
    static const char *const rows[][3] = {
#define ROW(function, member, name, how, count) {#function, #member, #name},
        KEEL_BRIDGE_NESTED(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (strcmp(rows[i][0], function) == 0 && strcmp(rows[i][1], member) == 0 &&
            strcmp(rows[i][2], name) == 0)
            return true;
    return false;
}

// Members that point to structs with a size: in the table, or handed out by the plugin.
static unsigned check_members(const char *function) {
    char name[160], body[8192], inner[8192], type[128], member[128];
    snprintf(name, sizeof name, "PJRT_%s_Args", function);
    body_of(name, body);
    assert_true(*body);
    unsigned found = 0;
    for (const char *at = body; (at = strstr(at, "PJRT_")); ++at) {
        if (sscanf(at, "PJRT_%127[A-Za-z_0-9]%*[* ]%127[a-z_0-9];", type, member) != 2) continue;
        snprintf(name, sizeof name, "PJRT_%s", type);
        body_of(name, inner);
        size_t length = strlen(name);
        bool is_pointer = at[length] == '*';
        if (!is_pointer || !strstr(inner, "size_t struct_size;") || !strcmp(type, "Extension_Base"))
            continue;
        bool is_out = strcmp(member, "attributes") == 0 || strcmp(member, "properties") == 0;
        if (!is_out && !is_nested(function, member, type))
            fail_msg("%s.%s points to %s and is not in the table", function, member, type);
        found += !is_out;
    }
    return found;
}

static void test_every_struct_that_arguments_point_to_is_in_the_table(void **state) {
    (void)state;
    unsigned found = 0, rows = 0;
#define CHECK_MEMBERS(name) found += check_members(#name);
    KEEL_BRIDGE_FUNCTIONS(CHECK_MEMBERS)
#undef CHECK_MEMBERS
#define COUNT(function, member, name, how, count) ++rows;
    KEEL_BRIDGE_NESTED(COUNT)
#undef COUNT
    assert_int_equal(found, rows);
}

// ---- shorter structs ---------------------------------------------------------------------------

static void test_a_plugin_of_the_headers_version_is_never_asked_in_vain(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:112", 0);
    old_options_t old = old_options(7);
    uintptr_t launch;
    assert_null(execute(api, old.bytes, &launch));
    assert_int_equal(launch, 7);
    assert_int_equal(refusals(), 0);
    free(api);
}

static void test_a_newer_plugins_size_is_learned_from_its_refusal_once(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:144", 25);
    for (int i = 1; i < 4; ++i) {
        old_options_t old = old_options(i);
        uintptr_t launch;
        assert_null(execute(api, old.bytes, &launch));
        assert_int_equal(launch, i);
        assert_true(is_guarded(old.guard, sizeof old.guard));
        assert_int_equal(refusals(), 1);
    }
    free(api);
}

static void test_an_older_plugins_size_is_learned_too(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:88", -10);
    old_options_t old = old_options(3);
    uintptr_t launch;
    assert_null(execute(api, old.bytes, &launch));
    assert_int_equal(launch, 3);
    assert_int_equal(refusals(), 1);
    free(api);
}

static void test_sizes_of_arguments_and_of_what_they_point_to_are_learned_in_one_call(void **s) {
    (void)s;
    PJRT_Api *api =
        bridge("sizes=PJRT_ExecuteOptions:200,PJRT_LoadedExecutable_Execute_Args:120", 30);
    old_options_t old = old_options(9);
    uintptr_t launch;
    assert_null(execute(api, old.bytes, &launch));
    assert_int_equal(launch, 9);
    assert_int_equal(refusals(), 2);
    assert_null(execute(api, NULL, &launch));
    assert_int_equal(refusals(), 2);
    free(api);
}

// The older client's struct ends before the last member, which is another's memory.
static void test_results_are_copied_back_as_far_as_the_client_knows(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_Client_PlatformName_Args:64", 30);
    PJRT_Client *client = client_of(api);
    struct {
        PJRT_Client_PlatformName_Args args;
        unsigned char guard[64];
    } sent = {.args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE, .client = client}};
    memset(sent.guard, 0x77, sizeof sent.guard);
    assert_null(api->PJRT_Client_PlatformName(&sent.args));
    assert_int_equal(sent.args.struct_size, PJRT_Client_PlatformName_Args_STRUCT_SIZE);
    assert_string_equal(sent.args.platform_name, "test");
    assert_int_equal(sent.args.platform_name_size, 4);
    assert_true(is_guarded(sent.guard, sizeof sent.guard));

    PJRT_Client_PlatformName_Args older = {
        .struct_size = offsetof(PJRT_Client_PlatformName_Args, platform_name_size),
        .client = client,
        .platform_name_size = 4711};
    assert_null(api->PJRT_Client_PlatformName(&older));
    assert_string_equal(older.platform_name, "test");
    assert_int_equal(older.platform_name_size, 4711);
    close_client(api, client);
    free(api);
}

// What clients up to PJRT 0.70 send: the struct is as long as today's, and says that it is not.
enum { OLD_ATTRIBUTES = PJRT_STRUCT_SIZE(PJRT_Plugin_Attributes_Args, attributes) };

typedef struct old_attributes_t {
    PJRT_Plugin_Attributes_Args args;
    unsigned char guard[64];
} old_attributes_t;

static PJRT_Error *ask_attributes(const PJRT_Api *api, old_attributes_t *out) {
    memset(out, 0x77, sizeof *out);
    out->args.struct_size = OLD_ATTRIBUTES;
    out->args.extension_start = NULL;
    return api->PJRT_Plugin_Attributes(&out->args);
}

static void test_attributes_are_counted_for_a_client_whose_header_forgot_the_count(void **state) {
    (void)state;
    old_attributes_t old;
    assert_true((size_t)OLD_ATTRIBUTES < PJRT_Plugin_Attributes_Args_STRUCT_SIZE);
    PJRT_Api *api = bridge("sizes=PJRT_Plugin_Attributes_Args:64", 30);
    for (int i = 0; i < 2; ++i) {
        assert_null(ask_attributes(api, &old));
        assert_int_equal(old.args.struct_size, OLD_ATTRIBUTES);
        assert_int_equal(old.args.num_attributes, 1);
        assert_string_equal(old.args.attributes[0].name, "stablehlo_current_version");
        assert_true(is_guarded(old.guard, sizeof old.guard));
        assert_int_equal(refusals(), 1);
    }
    free(api);
}

static void test_results_in_a_struct_that_arguments_point_to_are_copied_back(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_Program:80", 30);
    PJRT_Client *client = client_of(api);
    PJRT_LoadedExecutable *loaded;
    // The program is constant memory in a compile: nothing may be written to it.
    assert_null(door_compile_bytes(api, client, "text", keel_bytes("a program", 9), &loaded));
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Executable_OptimizedProgram_Args args = {
        .struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
        .executable = executable,
        .program = &program};
    assert_null(api->PJRT_Executable_OptimizedProgram(&args));
    assert_ptr_equal(args.program, &program);
    assert_int_equal(program.struct_size, PJRT_Program_STRUCT_SIZE);
    assert_int_equal(program.code_size, 9);
    assert_string_equal(program.format, "text");
    door_destroy_executable(api, executable);
    door_destroy(api, loaded);
    close_client(api, client);
    free(api);
}

// ---- arrays ------------------------------------------------------------------------------------

#define OPTION(text)                                                                               \
    {                                                                                              \
        .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = (text), .name_size = strlen(text),     \
        .type = PJRT_NamedValue_kInt64, .int64_value = 1, .value_size = 1                          \
    }

static PJRT_Error *create_with_options(const PJRT_Api *api, PJRT_Client **out) {
    const PJRT_NamedValue options[] = {OPTION("alpha"), OPTION("beta"), OPTION("gamma")};
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                    .create_options = options,
                                    .num_options = 3};
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    assert_ptr_equal(args.create_options, options);
    *out = args.client;
    return error;
}

static void test_an_array_gets_the_plugins_stride(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_NamedValue:76", 30);
    PJRT_Client *client;
    assert_null(create_with_options(api, &client));
    assert_int_equal(count_lines(calls, "option alpha"), 1);
    assert_int_equal(count_lines(calls, "option beta"), 1);
    assert_int_equal(count_lines(calls, "option gamma"), 1);
    assert_int_equal(refusals(), 1);
    close_client(api, client);
    free(api);
}

static void test_two_lists_of_one_call_are_both_repacked(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ShapeSpec:48,PJRT_Buffer_MemoryLayout:120", 30);
    PJRT_ShapeSpec shapes[3];
    PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
                                       .type = PJRT_Buffer_MemoryLayout_Type_Strides};
    PJRT_Buffer_MemoryLayout *layouts[] = {&layout, NULL, &layout};
    for (size_t i = 0; i < 3; ++i)
        shapes[i] = (PJRT_ShapeSpec){.struct_size = PJRT_ShapeSpec_STRUCT_SIZE, .num_dims = i + 1};
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args args = {
        .struct_size = PJRT_Client_CreateBuffersForAsyncHostToDevice_Args_STRUCT_SIZE,
        .shape_specs = shapes,
        .num_shape_specs = 3,
        .device_layouts = layouts,
        .num_device_layouts = 3};
    assert_null(api->PJRT_Client_CreateBuffersForAsyncHostToDevice(&args));
    assert_int_equal(count_lines(calls, "buffers"), 1);
    assert_ptr_equal(args.shape_specs, shapes);
    assert_ptr_equal(args.device_layouts, layouts);
    assert_ptr_equal(layouts[0], &layout);
    free(api);
}

static void test_an_array_that_nobody_compiled_is_left_to_the_plugin(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_NamedValue:80", 30);
    PJRT_NamedValue options[] = {OPTION("alpha"), OPTION("beta")};
    options[1].struct_size = 48;
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                    .create_options = options,
                                    .num_options = 2};
    assert_error(plugin, api->PJRT_Client_Create(&args),
                 "Unexpected PJRT_NamedValue size: expected 80, got 56. Check installed software "
                 "versions.");
    free(api);
}

#ifdef KEEL_FAULTS
static void test_a_copy_that_there_was_no_memory_for_is_tried_again(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_NamedValue:80", 30);
    PJRT_Client *client;
    keel_fault_arm(KEEL_FAULT_ALLOC, 1);
    PJRT_Error *error = create_with_options(api, &client);
    assert_true(keel_fault_count(KEEL_FAULT_ALLOC) > 1);
    keel_fault_arm(KEEL_FAULT_ALLOC, 0);
    assert_null(error);
    close_client(api, client);
    free(api);
}

static void test_without_memory_there_is_no_bridge(void **state) {
    (void)state;
    PJRT_Api *none = NULL;
    keel_fault_arm(KEEL_FAULT_ALLOC, 1);
    assert_code(keel_bridge_create(plugin, &none), KEEL_NO_MEMORY);
    keel_fault_arm(KEEL_FAULT_ALLOC, 0);
    assert_null(none);
}
#endif

// ---- longer structs ----------------------------------------------------------------------------

typedef struct newer_options_t {
    PJRT_ExecuteOptions options;
    size_t more[4];
} newer_options_t;

static newer_options_t newer_options(int launch_id) {
    return (newer_options_t){{.struct_size = sizeof(newer_options_t), .launch_id = launch_id},
                             {1, 2, 3, 4}};
}

static void test_a_longer_struct_is_handed_on(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:112", 0);
    newer_options_t newer = newer_options(5);
    uintptr_t launch;
    assert_null(execute(api, &newer, &launch));
    assert_int_equal(launch, 5);
    assert_int_equal(refusals(), 0);
    assert_int_equal(newer.options.struct_size, sizeof newer);
    free(api);
}

static void test_a_longer_struct_is_cut_where_the_plugin_refuses_it(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:112 sizes_equal", 0);
    uintptr_t launch;
    for (int i = 1; i < 3; ++i) {
        newer_options_t newer = newer_options(i);
        assert_null(execute(api, &newer, &launch));
        assert_int_equal(launch, i);
        assert_int_equal(newer.more[3], 4);
        assert_int_equal(refusals(), 1);
    }
    old_options_t old = old_options(8);
    assert_null(execute(api, old.bytes, &launch));
    assert_int_equal(launch, 8);
    assert_int_equal(refusals(), 1);
    free(api);
}

// ---- what is none of the bridge's --------------------------------------------------------------

static void test_other_errors_are_the_clients_and_the_call_is_not_made_again(void **state) {
    (void)state;
    PJRT_Api *api = bridge("compile_fails", 30);
    PJRT_Client *client = client_of(api);
    PJRT_LoadedExecutable *loaded;
    PJRT_Error *error =
        door_compile_bytes(api, client, "text", keel_bytes("a program", 9), &loaded);
    assert_error(plugin, error, "test plugin: will not compile");
    assert_int_equal(count_lines(calls, "compile "), 1);
    close_client(api, client);
    free(api);
}

// Sizes that are nobody's are not filled up: what they lack would be read as zeros.
static void test_a_size_that_no_version_had_is_left_to_the_plugin(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 8, 16};
    PJRT_Api *api = bridge("sizes=PJRT_Client_PlatformName_Args:40", 0);
    for (size_t i = 0; i < 3; ++i) {
        PJRT_Client_PlatformName_Args args = {.struct_size = sizes[i]};
        char text[128];
        snprintf(text, sizeof text,
                 "Unexpected PJRT_Client_PlatformName_Args size: expected 40, got %zu. Check "
                 "installed software versions.",
                 sizes[i]);
        assert_error(plugin, api->PJRT_Client_PlatformName(&args), text);
    }
    assert_int_equal(refusals(), 3);
    assert_int_equal(count_lines(calls, "platform"), 0);
    free(api);
}

static void test_a_size_beyond_all_reason_is_left_to_the_plugin(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:9000", 30);
    old_options_t old = old_options(1);
    uintptr_t launch;
    char text[128];
    snprintf(text, sizeof text,
             "Unexpected PJRT_ExecuteOptions size: expected 9000, got %d. Check installed software "
             "versions.",
             PJRT_ExecuteOptions_STRUCT_SIZE);
    assert_error(plugin, execute(api, old.bytes, &launch), text);
    free(api);
}

// ---- what it costs -----------------------------------------------------------------------------

static void test_a_function_goes_back_to_the_plugins_own_once_sizes_agree(void **state) {
    (void)state;
    PJRT_Api *api = bridge("", 0);
    PJRT_Client *client = client_of(api);
    PJRT_Client_PlatformName_Args args = {.struct_size = 32, .client = client};
    assert_null(api->PJRT_Client_PlatformName(&args));
    assert_true(api->PJRT_Client_PlatformName != plugin->PJRT_Client_PlatformName);
    args.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE;
    assert_null(api->PJRT_Client_PlatformName(&args));
    assert_true(api->PJRT_Client_PlatformName == plugin->PJRT_Client_PlatformName);
    // Its options may be absent now and there later.
    uintptr_t launch;
    assert_null(execute(api, NULL, &launch));
    assert_true(api->PJRT_LoadedExecutable_Execute != plugin->PJRT_LoadedExecutable_Execute);
    close_client(api, client);
    free(api);
}

static void test_keels_own_calls_leave_the_clients_functions_as_they_are(void **state) {
    (void)state;
    PJRT_Api *own, *clients = malloc(sizeof *clients);
    free(bridge("", 0));
    assert_ok(keel_bridge_create(plugin, &own));
    *clients = *own;
    keel_bridge_settle_in(clients);
    PJRT_Client_PlatformName_Args args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE};
    assert_null(own->PJRT_Client_PlatformName(&args));
    assert_true(own->PJRT_Client_PlatformName != plugin->PJRT_Client_PlatformName);
    assert_true(clients->PJRT_Client_PlatformName != plugin->PJRT_Client_PlatformName);
    assert_null(clients->PJRT_Client_PlatformName(&args));
    assert_true(own->PJRT_Client_PlatformName != plugin->PJRT_Client_PlatformName);
    assert_true(clients->PJRT_Client_PlatformName == plugin->PJRT_Client_PlatformName);
    free(clients);
    free(own);
}

static void test_structs_that_agree_are_the_clients_own(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:120", 30);
    struct {
        PJRT_ExecuteOptions options;
        unsigned char more[8];
    } newer = {.options = {.struct_size = 120, .launch_id = 4}};
    uintptr_t launch;
    assert_null(execute(api, &newer, &launch));
    assert_int_equal(newer.more[7], 0x55); // the plugin was here
    free(api);
}

// ---- threads and children ----------------------------------------------------------------------

static PJRT_Api *shared;

// NULL, or what went wrong.
static const char *execute_once(int number) {
    old_options_t old = old_options(number);
    PJRT_Event *events[1] = {NULL};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .options = (PJRT_ExecuteOptions *)(void *)old.bytes,
                                               .device_complete_events = events};
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE};
    if (shared->PJRT_LoadedExecutable_Execute(&args)) return "an execution failed";
    if ((intptr_t)events[0] != number) return "it was another's launch";
    if (shared->PJRT_Client_PlatformName(&name)) return "a question failed";
    return name.platform_name_size == 4 ? NULL : "there was no answer";
}

static void *execute_often(void *number) {
    const char *trouble = NULL;
    for (int i = 0; i < 200 && !trouble; ++i)
        trouble = execute_once((int)(intptr_t)number);
    return (void *)(uintptr_t)trouble;
}

static void test_threads_that_learn_at_the_same_time_all_go_through(void **state) {
    (void)state;
    pthread_t threads[8];
    shared = bridge("sizes=PJRT_ExecuteOptions:144,PJRT_LoadedExecutable_Execute_Args:96", 30);
    for (intptr_t i = 0; i < 8; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, execute_often, (void *)(i + 1)), 0);
    for (int i = 0; i < 8; ++i) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        if (trouble) fail_msg("thread %d: %s", i, (const char *)trouble);
    }
    free(shared);
}

static void test_a_forked_child_is_bridged_too(void **state) {
    (void)state;
    PJRT_Api *api = bridge("sizes=PJRT_ExecuteOptions:144", 30);
    pid_t child = fork();
    if (!child) {
        uintptr_t launch;
        old_options_t old = old_options(6);
        _exit(execute(api, old.bytes, &launch) || launch != 6);
    }
    assert_int_equal(door_wait(child), 0);
    free(api);
}

// ---- through the door --------------------------------------------------------------------------

static void execute_as_an_older_client(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "a program");
    old_options_t old = old_options(3);
    PJRT_Event *events[1] = {NULL};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .options = (PJRT_ExecuteOptions *)(void *)old.bytes,
                                               .device_complete_events = events};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Execute(&args));
    CHECK((uintptr_t)events[0] == 3);
    door_destroy(api, loaded);
    door_close(api, client);
}

static void test_an_older_client_runs_through_the_door(void **state) {
    door_run(*state, "TEST_PLUGIN=sizes=PJRT_ExecuteOptions:144", execute_as_an_older_client);
}

static void test_an_older_client_runs_with_mode_off(void **state) {
    door_t *door = *state;
    door_run(door, "TEST_PLUGIN=sizes=PJRT_ExecuteOptions:144\nKEEL_MODE=off",
             execute_as_an_older_client);
    assert_false(exists(door->place.cache));
}

// Keel asks for attributes too, before the client or after.
static void ask_as_an_older_client(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    old_attributes_t old;
    NO_ERROR(api, ask_attributes(api, &old));
    CHECK(old.args.num_attributes == 1);
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "a program");
    NO_ERROR(api, ask_attributes(api, &old));
    CHECK(old.args.num_attributes == 1 && is_guarded(old.guard, sizeof old.guard));
    door_destroy(api, loaded);
    door_close(api, client);
}

static void test_an_older_client_gets_attributes_through_the_door(void **state) {
    door_run(*state, "TEST_PLUGIN=sizes=PJRT_Plugin_Attributes_Args:32", ask_as_an_older_client);
}

static void test_an_older_client_gets_attributes_with_mode_off(void **state) {
    door_run(*state, "TEST_PLUGIN=sizes=PJRT_Plugin_Attributes_Args:32\nKEEL_MODE=off",
             ask_as_an_older_client);
}

// Keel's own calls come from this header: they are a client's like any other.
static void test_keels_own_calls_go_over_the_bridge(void **state) {
    door_t *door = *state;
    door_run(door, "TEST_PLUGIN=sizes=PJRT_Program:88,PJRT_Client_PlatformName_Args:72",
             execute_as_an_older_client);
    assert_int_equal(count_entries(door), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(test_##name, forget)
#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
#define HEADER_TEST(name) cmocka_unit_test_setup_teardown(test_##name, read_header, free_header)
    const struct CMUnitTest tests[] = {
        HEADER_TEST(every_function_of_the_header_is_in_the_table),
        HEADER_TEST(every_struct_that_arguments_point_to_is_in_the_table),
        TEST(a_plugin_of_the_headers_version_is_never_asked_in_vain),
        TEST(a_newer_plugins_size_is_learned_from_its_refusal_once),
        TEST(an_older_plugins_size_is_learned_too),
        TEST(sizes_of_arguments_and_of_what_they_point_to_are_learned_in_one_call),
        TEST(results_are_copied_back_as_far_as_the_client_knows),
        TEST(attributes_are_counted_for_a_client_whose_header_forgot_the_count),
        TEST(results_in_a_struct_that_arguments_point_to_are_copied_back),
        TEST(an_array_gets_the_plugins_stride),
        TEST(two_lists_of_one_call_are_both_repacked),
        TEST(an_array_that_nobody_compiled_is_left_to_the_plugin),
#ifdef KEEL_FAULTS
        TEST(a_copy_that_there_was_no_memory_for_is_tried_again),
        TEST(without_memory_there_is_no_bridge),
#endif
        TEST(a_longer_struct_is_handed_on),
        TEST(a_longer_struct_is_cut_where_the_plugin_refuses_it),
        TEST(other_errors_are_the_clients_and_the_call_is_not_made_again),
        TEST(a_size_that_no_version_had_is_left_to_the_plugin),
        TEST(a_size_beyond_all_reason_is_left_to_the_plugin),
        TEST(a_function_goes_back_to_the_plugins_own_once_sizes_agree),
        TEST(keels_own_calls_leave_the_clients_functions_as_they_are),
        TEST(structs_that_agree_are_the_clients_own),
        TEST(threads_that_learn_at_the_same_time_all_go_through),
        TEST(a_forked_child_is_bridged_too),
        DOOR_TEST(an_older_client_runs_through_the_door),
        DOOR_TEST(an_older_client_runs_with_mode_off),
        DOOR_TEST(an_older_client_gets_attributes_through_the_door),
        DOOR_TEST(an_older_client_gets_attributes_with_mode_off),
        DOOR_TEST(keels_own_calls_go_over_the_bridge),
    };
    return cmocka_run_group_tests(tests, load_plugin, remove_place);
}
