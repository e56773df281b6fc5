// Finding a plugin, calling it, and reading its backend. The plugin is that of tests/plugin, or a
// fake table.
#define _GNU_SOURCE
#include "store_help.h"

#include "pjrt/identity.h"
#include "pjrt/pjrt.h"

// ---- finding -----------------------------------------------------------------------------------

static int setup(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    setenv("PATH", "/nowhere", 1);
    unsetenv("VIRTUAL_ENV");
    unsetenv("PYTHONPATH");
    *state = place;
    return 0;
}

static int teardown(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

static void make_file(const place_t *place, const char *below, char out[512]) {
    snprintf(out, 512, "%s/%s", place->root, below);
    for (char *slash = out + strlen(place->root) + 1; (slash = strchr(slash, '/')); ++slash) {
        *slash = 0;
        mkdir(out, 0700);
        *slash = '/';
    }
    write_bytes(out, "file", 4);
    chmod(out, 0700);
}

static void assert_found(const char *name, const char *interpreter, const char *expected) {
    char *found;
    assert_ok(keel_plugin_find(name, interpreter, &found));
    assert_string_equal(found, expected);
    keel_free(found);
}

static void test_a_path_is_taken_as_it_is_and_made_absolute(void **state) {
    const place_t *place = *state;
    char path[512], link[512];
    make_file(place, "plugin.so", path);
    assert_found(path, NULL, path);
    snprintf(link, sizeof link, "%s/link.so", place->root);
    assert_int_equal(symlink(path, link), 0);
    assert_found(link, NULL, path);
    assert_found("/nowhere/plugin.so", NULL, "/nowhere/plugin.so");
}

static void test_a_name_is_found_beside_the_interpreter(void **state) {
    const place_t *place = *state;
    char python[512], plugin[512], other[512], link[512];
    make_file(place, "env/bin/python3.12", python);
    make_file(place, "env/lib/python3.12/site-packages/libtpu/libtpu.so", plugin);
    assert_found("tpu", python, plugin);
    make_file(place, "env/lib64/python3.12/site-packages/fastatomstruct_xla_cpu/libpjrt_cpu.so",
              other);
    assert_found("cpu", python, other);
    // The preferred one first, wherever both are.
    make_file(place, "env/lib/python3.12/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
              plugin);
    assert_found("cpu", python, plugin);
    // A virtual environment's interpreter is a link to one elsewhere.
    snprintf(link, sizeof link, "%s/venv", place->root);
    mkdir(link, 0700);
    snprintf(link, sizeof link, "%s/venv/bin", place->root);
    mkdir(link, 0700);
    snprintf(link, sizeof link, "%s/venv/bin/python", place->root);
    assert_int_equal(symlink(python, link), 0);
    assert_found("cpu", link, plugin);
    make_file(place,
              "venv/lib/python3.13/site-packages/lammps_jax_pjrt_cpu/"
              "pjrt_c_api_cpu_plugin.so",
              other);
    assert_found("cpu", link, other);
}

static void test_a_name_is_found_in_the_python_in_force(void **state) {
    const place_t *place = *state;
    char python[512], plugin[512], folder[512];
    make_file(place, "one/bin/python3", python);
    make_file(place, "one/lib/python3.11/site-packages/libtpu/libtpu.so", plugin);
    snprintf(folder, sizeof folder, "/nowhere::%s/one/bin", place->root);
    setenv("PATH", folder, 1);
    assert_found("tpu", NULL, plugin);
    assert_found("tpu", "python3", plugin);
    make_file(place, "two/lib/python3.13/site-packages/libtpu/libtpu.so", plugin);
    snprintf(folder, sizeof folder, "%s/two", place->root);
    setenv("VIRTUAL_ENV", folder, 1);
    assert_found("tpu", NULL, plugin);
    make_file(place, "three/libtpu/libtpu.so", plugin);
    snprintf(folder, sizeof folder, "/nowhere:%s/three", place->root);
    setenv("PYTHONPATH", folder, 1);
    assert_found("tpu", NULL, plugin);
}

static void assert_python(const char *interpreter, const char *expected) {
    char *found;
    assert_ok(keel_python_find(interpreter, &found));
    if (!expected) assert_null(found);
    if (expected) assert_string_equal(found, expected);
    keel_free(found);
}

// In the order in which a plugin is looked for beside it.
static void test_the_python_in_force_is_the_environments_or_on_the_path(void **state) {
    const place_t *place = *state;
    char python[512], python3[512], named[512], other[512], folders[2000];
    assert_python("/any/python", "/any/python");
    assert_python("python3.9", NULL);
    assert_python(NULL, NULL);
    make_file(place, "one/bin/python", python);
    make_file(place, "two/bin/python3.9", named);
    make_file(place, "three/bin/python3.9", other);
    make_file(place, "zero/bin/python3.9/a folder", other);
    make_file(place, "null/bin/python3.9", other);
    chmod(other, 0600);
    snprintf(folders, sizeof folders,
             ":%s/null/bin:%s/zero/bin::%s/one/bin:%s/two/bin:%s/three/bin", place->root,
             place->root, place->root, place->root, place->root);
    setenv("PATH", folders, 1);
    assert_python("python3.9", named);
    assert_python(NULL, python);
    make_file(place, "three/bin/python3", python3); // behind, but the name is asked for first
    assert_python(NULL, python3);
    snprintf(folders, sizeof folders, "%s/env", place->root);
    setenv("VIRTUAL_ENV", folders, 1);
    assert_python(NULL, python3); // there is none in it
    make_file(place, "env/bin/python3", python);
    assert_python(NULL, python);
    assert_python("python3.9", named);
    setenv("VIRTUAL_ENV", "", 1);
    assert_python(NULL, python3);
}

static void test_a_name_that_is_nowhere_says_where_it_was_looked_for(void **state) {
    const place_t *place = *state;
    char python[512], other[512], *found;
    make_file(place, "env/bin/python3.12", python);
    make_file(place, "env/lib/python3.12/site-packages/numpy/core.so", other);
    keel_status_t status = keel_plugin_find("cpu", python, &found);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    const char *first = strstr(keel_status_message(status), "env/lib/python3.12/site-packages");
    assert_non_null(first);
    assert_null(strstr(first + 1, "env/lib/python3.12/site-packages")); // once
    assert_non_null(strstr(keel_status_message(status), "xla-cpu-pjrt"));
    keel_status_ignore(status);
    assert_code(keel_plugin_find("gpu", python, &found), KEEL_INVALID);
}

// ---- calling -----------------------------------------------------------------------------------

static char long_message[70000];
static int destroyed;

static void say(PJRT_Error_Message_Args *args) {
    args->message = long_message;
    args->message_size = sizeof long_message;
}

static void destroy(PJRT_Error_Destroy_Args *args) {
    (void)args;
    ++destroyed;
}

static void test_an_error_becomes_a_status_once_however_long_it_is(void **state) {
    (void)state;
    static PJRT_Api api = {.struct_size = PJRT_Api_STRUCT_SIZE,
                           .PJRT_Error_Message = say,
                           .PJRT_Error_Destroy = destroy};
    memset(long_message, 'x', sizeof long_message);
    assert_null(keel_pjrt_status(&api, NULL, "PJRT_Something"));
    keel_status_t status = keel_pjrt_status(&api, (PJRT_Error *)&destroyed, "PJRT_Something");
    assert_int_equal(keel_status_code(status), KEEL_PLUGIN);
    assert_int_equal(strncmp(keel_status_message(status), "PJRT_Something: xxxx", 20), 0);
    assert_int_equal(destroyed, 1);
    keel_status_ignore(status);
}

// ---- the backend -------------------------------------------------------------------------------

#define VALUE(named, kind, member, value, size)                                                    \
    {                                                                                              \
        .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = (named), .name_size = strlen(named),   \
        .type = PJRT_NamedValue_##kind, .member = (value), .value_size = (size)                    \
    }

static const PJRT_Api *open_plugin(PJRT_Client **out_client) {
    keel_plugin_t plugin;
    assert_ok(keel_plugin_load(KEEL_TEST_PLUGIN, &plugin));
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    assert_null(plugin.api->PJRT_Client_Create(&args));
    *out_client = args.client;
    keel_free(plugin.path);
    return plugin.api;
}

static void close_plugin(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_Destroy_Args args = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                     .client = client};
    assert_null(api->PJRT_Client_Destroy(&args));
}

static void assert_options(const PJRT_NamedValue *options, size_t count, const char *expected) {
    PJRT_Client *client;
    const PJRT_Api *api = open_plugin(&client);
    keel_backend_t backend;
    assert_ok(keel_backend_read(api, client, options, count, &backend));
    assert_string_equal(keel_buffer_cstr(&backend.create_options), expected);
    keel_backend_deinitialize(&backend);
    close_plugin(api, client);
}

static void test_a_backend_is_read_whole(void **state) {
    (void)state;
    PJRT_Client *client;
    const PJRT_Api *api = open_plugin(&client);
    keel_backend_t backend;
    assert_ok(keel_backend_read(api, client, NULL, 0, &backend));
    assert_string_equal(backend.platform_name, "test");
    assert_string_equal(backend.platform_version, "one");
    assert_string_equal(keel_buffer_cstr(&backend.platform),
                        "name=\"test\"\nversion=\"one\"\napi=0.81\n"
                        "stablehlo_current_version=1,13,3\n");
    assert_true(backend.topology_known);
    assert_string_equal(keel_buffer_cstr(&backend.topology), "a topology");
    assert_string_equal(keel_buffer_cstr(&backend.device_kinds), "2 x test device\nprocesses=1\n");
    assert_int_equal(backend.process_count, 1);
    keel_backend_deinitialize(&backend);
    setenv("TEST_PLUGIN", "no_topology processes=5", 1);
    close_plugin(api, client);
    api = open_plugin(&client);
    assert_ok(keel_backend_read(api, client, NULL, 0, &backend));
    assert_false(backend.topology_known);
    assert_int_equal(backend.process_count, 5);
    keel_backend_deinitialize(&backend);
    close_plugin(api, client);
    unsetenv("TEST_PLUGIN");
}

static int topologies;

static void drop_topology(PJRT_SerializedTopology *serialized) {
    free(serialized);
    --topologies;
}

static PJRT_Error *own_topology(PJRT_TopologyDescription_Serialize_Args *args) {
    static const char text[] = "one of its own";
    char *copy = malloc(sizeof text);
    memcpy(copy, text, sizeof text);
    args->serialized_bytes = copy;
    args->serialized_bytes_size = sizeof text - 1;
    args->serialized_topology = (PJRT_SerializedTopology *)copy;
    args->serialized_topology_deleter = drop_topology;
    ++topologies;
    return NULL;
}

static void test_a_topology_that_the_plugin_made_is_given_back(void **state) {
    (void)state;
    PJRT_Client *client;
    PJRT_Api api = *open_plugin(&client);
    keel_backend_t backend;
    api.PJRT_TopologyDescription_Serialize = own_topology;
    assert_ok(keel_backend_read(&api, client, NULL, 0, &backend));
    assert_string_equal(keel_buffer_cstr(&backend.topology), "one of its own");
    assert_int_equal(topologies, 0);
    keel_backend_deinitialize(&backend);
    close_plugin(&api, client);
}

// Whether the processor is part of the key of a client of this plugin.
static bool keys_processor(const char *settings) {
    PJRT_Client *client;
    setenv("TEST_PLUGIN", settings, 1);
    const PJRT_Api *api = open_plugin(&client);
    keel_backend_t backend;
    keel_digest_t build = keel_digest(keel_bytes("x", 1));
    keel_key_t key;
    keel_key_initialize(&key);
    assert_ok(keel_backend_read(api, client, NULL, 0, &backend));
    assert_ok(keel_backend_key(&backend, "", &build, &key));
    bool keyed = strstr(key.values[KEEL_COMPONENT_CPU], "cpus=") != NULL;
    assert_int_equal(keyed, *key.values[KEEL_COMPONENT_CPU] != 0);
    keel_key_deinitialize(&key);
    keel_backend_deinitialize(&backend);
    close_plugin(api, client);
    unsetenv("TEST_PLUGIN");
    return keyed;
}

static void test_the_processor_counts_where_programs_run_on_it_or_nobody_knows(void **state) {
    (void)state;
    assert_true(keys_processor("platform=cpu"));
    assert_true(keys_processor("platform=cpu no_topology"));
    assert_true(keys_processor("platform=tpu no_topology"));
    assert_false(keys_processor("platform=tpu"));
    assert_false(keys_processor("platform=cpus"));
}

static void test_create_options_are_written_sorted_and_exactly(void **state) {
    (void)state;
    static const int64_t list[] = {3, -1};
    const PJRT_NamedValue options[] = {
        VALUE("threads", kInt64, int64_value, -7, 1),
        VALUE("asynchronous", kBool, bool_value, true, 1),
        VALUE("fraction", kFloat, float_value, 0.1f, 1),
        VALUE("devices", kInt64List, int64_array_value, list, 2),
        VALUE("name", kString, string_value, "a\"b", 3),
    };
    assert_options(options, 5,
                   "asynchronous=true\ndevices=3,-1\nfraction=0x1.99999ap-4\nname=\"a\\\"b\"\n"
                   "threads=-7\n");
    assert_options(NULL, 0, "");
    // Two texts that are not UTF-8 must not become one.
    const PJRT_NamedValue one[] = {VALUE("name", kString, string_value, "\xff", 1)};
    const PJRT_NamedValue two[] = {VALUE("name", kString, string_value, "\xfe", 1)};
    assert_options(one, 1, "name=bytes ff\n");
    assert_options(two, 1, "name=bytes fe\n");
    // Text is what has a sign of its own, from the space to the tilde.
    const PJRT_NamedValue text[] = {VALUE("name", kString, string_value, " ~", 2)};
    const PJRT_NamedValue control[] = {VALUE("name", kString, string_value, "a\x1f", 2)};
    const PJRT_NamedValue delete[] = {VALUE("name", kString, string_value, "\x7f", 1)};
    assert_options(text, 1, "name=\" ~\"\n");
    assert_options(control, 1, "name=bytes 611f\n");
    assert_options(delete, 1, "name=bytes 7f\n");
}

static void test_longer_named_values_of_a_later_header_are_read(void **state) {
    (void)state;
    struct {
        PJRT_NamedValue value;
        void *more;
    } options[2] = {{.value = VALUE("b", kInt64, int64_value, 2, 1)},
                    {.value = VALUE("a", kInt64, int64_value, 1, 1)}};
    options[0].value.struct_size = options[1].value.struct_size = sizeof options[0];
    assert_options(&options[0].value, 2, "a=1\nb=2\n");
}

static void test_an_option_of_an_unknown_kind_makes_the_backend_unknown(void **state) {
    (void)state;
    PJRT_NamedValue option = VALUE("future", kInt64, int64_value, 1, 1);
    option.type = (PJRT_NamedValue_Type)99;
    PJRT_Client *client;
    const PJRT_Api *api = open_plugin(&client);
    keel_backend_t backend;
    assert_code(keel_backend_read(api, client, &option, 1, &backend), KEEL_UNSUPPORTED);
    close_plugin(api, client);
}

// Clients of several processes tell each its number, or its devices; a program's key must be the
// same in all of them.
static void test_options_that_tell_processes_apart_are_left_out(void **state) {
    (void)state;
    static const int64_t list[] = {3};
    const PJRT_NamedValue options[] = {
        VALUE("num_nodes", kInt64, int64_value, 4, 1),
        VALUE("node_id", kInt64, int64_value, 3, 1),
        VALUE("visible_devices", kInt64List, int64_array_value, list, 1),
        VALUE("node_ids", kInt64, int64_value, 1, 1),
        VALUE("partition_index", kInt64, int64_value, 0, 1),
    };
    assert_options(options, 5, "node_ids=1\n");
    assert_options(options, 2, "");
}

static void test_the_processors_devices_are_one_number(void **state) {
    (void)state;
    PJRT_NamedValue option = keel_pjrt_cpu_devices(4);
    assert_string_equal(option.name, KEEL_CPU_DEVICES_OPTION);
    assert_int_equal(option.name_size, strlen(KEEL_CPU_DEVICES_OPTION));
    assert_int_equal(option.type, PJRT_NamedValue_kInt64);
    assert_int_equal(option.int64_value, 4);
    assert_int_equal(option.value_size, 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_path_is_taken_as_it_is_and_made_absolute),
        TEST(a_name_is_found_beside_the_interpreter),
        TEST(a_name_is_found_in_the_python_in_force),
        TEST(the_python_in_force_is_the_environments_or_on_the_path),
        TEST(a_name_that_is_nowhere_says_where_it_was_looked_for),
        TEST(an_error_becomes_a_status_once_however_long_it_is),
        TEST(a_backend_is_read_whole),
        TEST(a_topology_that_the_plugin_made_is_given_back),
        TEST(the_processor_counts_where_programs_run_on_it_or_nobody_knows),
        TEST(create_options_are_written_sorted_and_exactly),
        TEST(options_that_tell_processes_apart_are_left_out),
        TEST(longer_named_values_of_a_later_header_are_read),
        TEST(an_option_of_an_unknown_kind_makes_the_backend_unknown),
        cmocka_unit_test(test_the_processors_devices_are_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
