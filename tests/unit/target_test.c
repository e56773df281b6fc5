// Targets by name and from JSON: what they know, and what is refused.
#define _GNU_SOURCE
#include "place.h"

#include "target/target.h"

static keel_target_t target;
static keel_buffer_t text;

static int begin(void **state) {
    (void)state;
    target = (keel_target_t){0};
    keel_arena_initialize(&target.arena, 0);
    keel_buffer_initialize(&text, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_target_deinitialize(&target);
    keel_buffer_deinitialize(&text);
    return 0;
}

static void read_target(const char *name) {
    keel_target_deinitialize(&target);
    assert_ok(keel_target_read(name, &target));
}

static const char *text_of(const keel_target_values_t *values, const char *name) {
    for (size_t i = 0; i < values->count; ++i)
        if (keel_str_is((keel_str_t){values->list[i].name, values->list[i].name_size}, name) &&
            values->list[i].type == PJRT_NamedValue_kString)
            return values->list[i].string_value;
    return "";
}

static const char *variable(const char *name) {
    for (size_t i = 0; i < target.variable_count; ++i)
        if (strcmp(target.environment[i].name, name) == 0) return target.environment[i].value;
    return "";
}

static void assert_refused(keel_status_t status, keel_code_t code, const char *words) {
    if (keel_status_code(status) != code || !strstr(keel_status_message(status), words))
        fail_msg("%s: '%s' does not say '%s'", keel_code_word(keel_status_code(status)),
                 keel_status_message(status), words);
    assert_null(strchr(keel_status_message(status), '\n'));
    keel_status_ignore(status);
}

static void assert_no_target(const char *name, keel_code_t code, const char *words) {
    keel_target_deinitialize(&target);
    assert_refused(keel_target_read(name, &target), code, words);
}

// ---- names -------------------------------------------------------------------------------------

static void a_gpu_is_known_with_its_devices(void **state) {
    (void)state;
    read_target("h200:8");
    assert_string_equal(target.name, "h200:8");
    assert_int_equal(target.platform, KEEL_TARGET_CUDA);
    assert_string_equal(target.device_kind, "NVIDIA H200");
    assert_int_equal(target.device_count, 8);
    assert_int_equal(target.process_count, 1);
    assert_int_equal(target.memory, 151397597184);
    assert_string_equal(text_of(&target.topology_options, "topology"), "1x1x8");
    assert_non_null(strstr(text_of(&target.topology_options, "target_config"), "core_count: 132"));
    read_target("b200");
    assert_int_equal(target.device_count, 1);
    assert_non_null(strstr(text_of(&target.topology_options, "target_config"), "major: 10"));
}

// Words, joined.
static const char *assumed(void) {
    static char joined[100];
    const char *words[KEEL_TARGET_ASSUMED_MOST];
    size_t count = keel_target_assumed(&target, words);
    joined[0] = 0;
    for (size_t i = 0; i < count; ++i)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", i ? ", " : "",
                 words[i]);
    return joined;
}

static void what_only_the_machine_tells_is_assumed(void **state) {
    (void)state;
    read_target("h200:8");
    assert_string_equal(assumed(), "driver, memory limit, topology, autotuning");
    read_target("v6e:2x4");
    assert_string_equal(assumed(), "platform version, memory limit, topology");
    target.platform_version = "libtpu 1";
    assert_string_equal(assumed(), "");
    read_target("cpu:4");
    assert_string_equal(assumed(), "");
}

static void hosts_have_eight_gpus_unless_processes_are_given(void **state) {
    (void)state;
    read_target("h100:16");
    assert_string_equal(text_of(&target.topology_options, "topology"), "1x2x8");
    assert_int_equal(target.process_count, 2);
    read_target("h100:16/4");
    assert_string_equal(text_of(&target.topology_options, "topology"), "1x4x4");
    assert_int_equal(target.process_count, 4);
    assert_no_target("h100:12", KEEL_INVALID, "such as h100:12/2");
    assert_no_target("h100:9", KEEL_INVALID, "such as h100:9/3");
    assert_no_target("h100:17", KEEL_INVALID, "such as h100:17/17");
    assert_no_target("h100:12/5", KEEL_INVALID, "over 5 processes");
    read_target("h100:12/1");
}

static void a_slice_of_tpus_is_laid_out_in_chips(void **state) {
    (void)state;
    read_target("v6e:2x4");
    assert_int_equal(target.platform, KEEL_TARGET_TPU);
    assert_string_equal(target.device_kind, "TPU v6 lite");
    assert_string_equal(target.topology_name, "v6e:2x4");
    assert_int_equal(target.device_count, 8);
    assert_string_equal(variable("TPU_ACCELERATOR_TYPE"), "v6e-8");
    assert_string_equal(variable("TPU_SKIP_MDS_QUERY"), "1");
    read_target("v3:4x4");
    assert_int_equal(target.device_count, 32); // two of each chip
    assert_int_equal(target.process_count, 4);
    read_target("v4:2x2x2");
    assert_int_equal(target.device_count, 8);
    assert_string_equal(text_of(&target.topology_options, "chip_config_name"), "megacore");
}

static void one_host_of_eight_chips_is_the_usual_one(void **state) {
    (void)state;
    read_target("v6e:2x4");
    assert_int_equal(target.process_count, 1);
    const PJRT_NamedValue *bounds = &target.topology_options.list[0];
    assert_int_equal(target.topology_options.count, 1);
    assert_int_equal(bounds->type, PJRT_NamedValue_kInt64List);
    assert_int_equal(bounds->value_size, 3);
    assert_int_equal(bounds->int64_array_value[0], 2);
    assert_int_equal(bounds->int64_array_value[1], 4);
    assert_int_equal(bounds->int64_array_value[2], 1);
    read_target("v6e:2x4/2");
    assert_int_equal(target.process_count, 2);
    assert_int_equal(target.topology_options.count, 0);
    assert_string_equal(target.topology_name, "v6e:2x4");
    read_target("v5e:4x4");
    assert_int_equal(target.process_count, 4);
    assert_no_target("v6e:2x4/3", KEEL_INVALID, "give /2, /1, or /8");
}

static void assert_bounds(int64_t x, int64_t y, int64_t z) {
    const PJRT_NamedValue *bounds = &target.topology_options.list[0];
    assert_true(target.topology_options.count > 0);
    assert_int_equal(bounds->int64_array_value[0], x);
    assert_int_equal(bounds->int64_array_value[1], y);
    assert_int_equal(bounds->int64_array_value[2], z);
}

static void each_chip_may_have_a_process(void **state) {
    (void)state;
    read_target("v6e:2x4/8");
    assert_int_equal(target.process_count, 8);
    assert_bounds(1, 1, 1);
    read_target("v6e:2x2/1");
    assert_int_equal(target.process_count, 1);
    assert_int_equal(target.topology_options.count, 0);
}

// libtpu 0.0.48 refuses it otherwise.
static void a_slice_smaller_than_a_host_says_so(void **state) {
    (void)state;
    read_target("v6e:1x1");
    assert_int_equal(target.process_count, 1);
    assert_bounds(1, 1, 1);
    read_target("v5e:1x1/1");
    assert_bounds(1, 1, 1);
}

static void clients_may_read_how_many_chips_a_host_has(void **state) {
    (void)state;
    read_target("v6e:2x4");
    assert_string_equal(variable("TPU_HOST_BOUNDS"), "1,1,1");
    assert_string_equal(variable("TPU_CHIPS_PER_HOST_BOUNDS"), "2,4,1");
    read_target("v6e:4x4");
    assert_string_equal(variable("TPU_HOST_BOUNDS"), "2,2,1");
    assert_string_equal(variable("TPU_CHIPS_PER_HOST_BOUNDS"), "2,2,1");
    read_target("v4:2x2x4");
    assert_string_equal(variable("TPU_HOST_BOUNDS"), "1,1,4");
    assert_string_equal(variable("TPU_CHIPS_PER_HOST_BOUNDS"), "2,2,1");
}

static void read_part(const char *name, const char *processes, const char *chips) {
    keel_target_deinitialize(&target);
    setenv("TPU_PROCESS_BOUNDS", processes, 1);
    setenv("TPU_CHIPS_PER_PROCESS_BOUNDS", chips, 1);
    assert_ok(keel_target_read_here(name, &target));
    assert_string_equal(target.name, name);
}

static void assert_no_part(const char *name, const char *processes, keel_code_t code,
                           const char *words) {
    keel_target_deinitialize(&target);
    setenv("TPU_PROCESS_BOUNDS", processes, 1);
    assert_refused(keel_target_read_here(name, &target), code, words);
}

static void libtpus_variables_divide_a_slice(void **state) {
    (void)state;
    read_part("v6e:2x4", "2,4,1", "1,1,1");
    assert_int_equal(target.process_count, 8);
    assert_int_equal(target.device_count, 8);
    assert_bounds(1, 1, 1);
    read_part("v6e:2x4", "1,1,1", "1,1,1"); // one chip alone
    assert_int_equal(target.device_count, 1);
    assert_string_equal(target.topology_name, "v6e:1x1");
    read_part("v4:2x2x2", "1,1,2", "2,2,1");
    assert_int_equal(target.process_count, 2);
    assert_string_equal(target.topology_name, "v4:2x2x2");
    read_part("cpu:4", "2,4,1", "1,1,1");
    assert_int_equal(target.device_count, 4);
    read_part("v6e:2x4", "", "1,1,1");
    assert_int_equal(target.device_count, 8);
    assert_no_part("v6e:2x4", "2,4", KEEL_INVALID, "TPU_PROCESS_BOUNDS=2,4, ");
    assert_no_part("v6e:2x4", "2,4,1,2", KEEL_INVALID, "three numbers");
    assert_no_part("v6e:2x4", "1048576,1048576,1", KEEL_NOT_FOUND, "is unknown");
    assert_no_part("v6e:2x4", "1,1,2", KEEL_UNSUPPORTED, "such as v6e:2x4");
    unsetenv("TPU_PROCESS_BOUNDS");
    unsetenv("TPU_CHIPS_PER_PROCESS_BOUNDS");
}

static void the_processor_has_as_many_devices_as_one_wants(void **state) {
    (void)state;
    read_target("cpu:8");
    assert_int_equal(target.platform, KEEL_TARGET_CPU);
    assert_int_equal(target.device_count, 8);
    assert_int_equal(target.create_options.count, 1);
    assert_int_equal(target.create_options.list[0].int64_value, 8);
    assert_int_equal(target.process_count, 1);
    read_target("cpu");
    assert_int_equal(target.device_count, 1);
    read_target("cpu:8/2");
    assert_int_equal(target.device_count, 8);
    assert_int_equal(target.process_count, 2);
    assert_no_target("cpu:8/3", KEEL_INVALID, "over 3 processes");
}

static void an_unknown_name_gets_the_list(void **state) {
    (void)state;
    static const char *const names[] = {
        "h300",        "h200:0",         "h200:x", "h200:8x",  "h200:",
        "cpu:-1",      "v6e:2x4x",       "v6e:",   "v6e:2x4/", "",
        "h200:8/0",    "v6e:2x2x2x2",    ":",      "H200",     "h200 ",
        "cpu:2000000", "v6e:99999x99999"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_no_target(names[i], KEEL_NOT_FOUND, "a100:N");
    assert_no_target("h300", KEEL_NOT_FOUND, "v6e:2x4");
    assert_no_target("v6e", KEEL_INVALID, "such as v6e:2x4");
    assert_no_target("v6e:2x2x2", KEEL_INVALID, "2 dimensions");
    assert_no_target("h200:2x4", KEEL_INVALID, "such as h200:8");
    assert_no_target("cpu:2x2", KEEL_INVALID, "such as cpu:8");
    assert_no_target("nowhere/target.json", KEEL_NOT_FOUND, "nowhere/target.json");
}

// ---- JSON --------------------------------------------------------------------------------------

static void write_target(keel_json_style_t style) {
    keel_buffer_deinitialize(&text);
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_target_write(&target, style, &text));
}

static void a_target_is_read_as_it_was_written(void **state) {
    (void)state;
    static const char *const names[] = {"a100",     "h100:8",  "h200:16", "b200:2",      "v2:2x2",
                                        "v4:2x2x2", "v5e:2x4", "v6e:4x4", "tpu7x:2x2x1", "cpu:8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        keel_target_t again;
        keel_buffer_t other;
        read_target(names[i]);
        write_target(KEEL_JSON_SPACED);
        assert_ok(keel_target_parse("it", keel_buffer_bytes(&text), &again));
        keel_buffer_initialize(&other, 0);
        assert_ok(keel_target_write(&again, KEEL_JSON_SPACED, &other));
        assert_string_equal(keel_buffer_cstr(&text), keel_buffer_cstr(&other));
        keel_buffer_deinitialize(&other);
        keel_target_deinitialize(&again);
    }
}

static const char good[] =
    "{\"target\": 1, \"name\": \"mine\", \"platform\": \"tpu\", \"device_kind\": \"TPU v9\", "
    "\"devices\": 8, \"processes\": 2, \"memory\": 100, \"memory_limit\": 90, \"topology\": "
    "{\"name\": \"v9:2x4\", \"options\": {\"bounds\": [2, 4, 1], \"fast\": true, \"share\": 0.75, "
    "\"count\": -3, \"kind\": \"x\"}}, \"create_options\": {}, \"environment\": {\"A\": \"b\"}, "
    "\"platform_version\": \"3\", \"build\": \"ff\"}";

static void all_kinds_of_options_are_kept(void **state) {
    (void)state;
    assert_ok(keel_target_parse("it", keel_str_bytes(keel_str(good)), &target));
    const PJRT_NamedValue *values = target.topology_options.list;
    assert_int_equal(target.topology_options.count, 5);
    for (size_t i = 0; i < 5; ++i) {
        keel_str_t name = {values[i].name, values[i].name_size};
        if (keel_str_is(name, "bounds")) {
            assert_int_equal(values[i].type, PJRT_NamedValue_kInt64List);
            assert_int_equal(values[i].int64_array_value[1], 4);
        } else if (keel_str_is(name, "fast")) {
            assert_int_equal(values[i].type, PJRT_NamedValue_kBool);
            assert_true(values[i].bool_value);
        } else if (keel_str_is(name, "share")) {
            assert_int_equal(values[i].type, PJRT_NamedValue_kFloat);
            assert_true(values[i].float_value == 0.75F);
        } else if (keel_str_is(name, "count")) {
            assert_int_equal(values[i].type, PJRT_NamedValue_kInt64);
            assert_int_equal(values[i].int64_value, -3);
        } else {
            assert_int_equal(values[i].type, PJRT_NamedValue_kString);
            assert_string_equal(values[i].string_value, "x");
        }
    }
    assert_string_equal(variable("A"), "b");
    assert_string_equal(target.build, "ff");
}

static void a_float_stays_one(void **state) {
    (void)state;
    static const char *const floats[] = {"1.0", "-3.0", "1.00000002e+30", "0.100000001", "0.0"};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; ++i) {
        char edited[2048], wanted[64];
        const char *at = strstr(good, "0.75");
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - good), good, floats[i], at + 4);
        snprintf(wanted, sizeof wanted, "\"share\":%s,", floats[i]);
        keel_target_deinitialize(&target);
        assert_ok(keel_target_parse("it", keel_str_bytes(keel_str(edited)), &target));
        write_target(KEEL_JSON_COMPACT);
        assert_non_null(strstr(keel_buffer_cstr(&text), wanted));
    }
}

static void refuse_json(const char *json, const char *words) {
    keel_target_deinitialize(&target);
    assert_refused(keel_target_parse("mine.json", keel_str_bytes(keel_str(json)), &target),
                   KEEL_INVALID, words);
}

// The good description with one part replaced.
static void refuse_edit(const char *from, const char *to, const char *words) {
    char edited[2048];
    const char *at = strstr(good, from);
    assert_non_null(at);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    refuse_json(edited, words);
}

static void a_description_with_a_mistake_is_refused_by_name(void **state) {
    (void)state;
    refuse_edit("\"devices\": 8, ", "", "devices is missing");
    refuse_edit("\"build\": \"ff\"", "\"build\": \"ff\", \"colour\": 1", "colour is not a field");
    refuse_edit("\"devices\": 8", "\"devices\": \"8\"", "devices is not a whole number");
    refuse_edit("\"devices\": 8", "\"devices\": 0", "devices is out of range");
    refuse_edit("\"devices\": 8", "\"devices\": -8", "devices is out of range");
    refuse_edit("\"devices\": 8", "\"devices\": 9", "devices is not a multiple of processes");
    refuse_edit("\"platform\": \"tpu\"", "\"platform\": \"rocm\"", "none of cpu, cuda, tpu");
    refuse_edit("\"target\": 1", "\"target\": 2", "target is not 1");
    refuse_edit("\"name\": \"mine\"", "\"name\": 5", "name is not a text");
    refuse_edit("[2, 4, 1]", "[2, \"4\"]", "bounds is a list of something else");
    refuse_edit("[2, 4, 1]", "{}", "bounds is neither");
    refuse_edit("0.75", "1e300", "share is out of range");
    refuse_edit("\"environment\": {\"A\": \"b\"}", "\"environment\": {\"A\": 1}",
                "A is not a text");
    refuse_edit("\"environment\": {\"A\": \"b\"}", "\"environment\": {\"A=B\": \"1\"}",
                "A=B is not the name of a variable");
    refuse_edit("{\"name\": \"v9:2x4\", \"options\"", "{\"nam\": \"v9:2x4\", \"options\"",
                "topology has neither");
    refuse_edit("\"create_options\": {}", "\"create_options\": []", "create_options is not an");
    refuse_json("{", "mine.json: line 1");
    refuse_json("[]", "is not an object");
    refuse_json("", "mine.json");
    refuse_json("{\"probe\": 2}", "keel probe --json");
}

// Its client has the devices that its options give it.
static void a_processor_has_the_devices_that_its_description_says(void **state) {
    (void)state;
    static const char *const options[] = {"{}", "{\"cpu_device_count\": 4}",
                                          "{\"cpu_device_count\": 2}",
                                          "{\"cpu_device_count\": \"4\"}"};
    for (int i = 0; i < 4; ++i) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{\"target\":1,\"name\":\"mine\",\"platform\":\"cpu\",\"device_kind\":\"cpu\","
                 "\"devices\":4,\"processes\":1,\"memory\":0,\"memory_limit\":0,\"topology\":"
                 "{\"name\":\"\",\"options\":{}},\"create_options\":%s,\"environment\":{},"
                 "\"platform_version\":\"\",\"build\":\"\"}",
                 options[i]);
        if (i > 1) {
            refuse_json(json, "mine: devices is 4, and cpu_device_count");
            continue;
        }
        keel_target_deinitialize(&target);
        assert_ok(keel_target_parse("it", keel_str_bytes(keel_str(json)), &target));
        assert_int_equal(target.create_options.count, 1);
        assert_int_equal(target.create_options.list[0].int64_value, 4);
    }
}

static void serialized_topologies_are_hex(void **state) {
    (void)state;
    char json[1024];
    const char *parts[] = {"0a0b", "0", "", "xy"};
    for (int i = 0; i < 4; ++i) {
        snprintf(json, sizeof json,
                 "{\"target\":1,\"name\":\"n\",\"platform\":\"cuda\",\"device_kind\":\"k\","
                 "\"devices\":1,\"processes\":1,\"memory\":0,\"memory_limit\":0,\"topology\":"
                 "{\"serialized\":\"%s\"},\"create_options\":{},\"environment\":{},"
                 "\"platform_version\":\"\",\"build\":\"\"}",
                 parts[i]);
        if (i > 0) {
            refuse_json(json, "topology.serialized is not bytes in hex");
            continue;
        }
        keel_target_deinitialize(&target);
        assert_ok(keel_target_parse("it", keel_str_bytes(keel_str(json)), &target));
        assert_int_equal(target.topology.size, 2);
        assert_int_equal(target.topology.data[1], 0x0b);
        write_target(KEEL_JSON_COMPACT);
        assert_string_equal(keel_buffer_cstr(&text), json);
    }
}

static void the_target_of_a_probe_is_found(void **state) {
    (void)state;
    char json[2048];
    snprintf(json, sizeof json, "{\"probe\": 2, \"verdict\": \"alive\", \"target\": %s}", good);
    assert_ok(keel_target_parse("probe.json", keel_str_bytes(keel_str(json)), &target));
    assert_string_equal(target.device_kind, "TPU v9");
}

// ---- its compiler ------------------------------------------------------------------------------

static void a_missing_plugin_is_named_with_what_to_install(void **state) {
    (void)state;
    static const char *const names[] = {"h200", "v6e:1x1", "cpu"};
    static const char *const packages[] = {"jax-cuda12-plugin", "libtpu", "xla-cpu-pjrt"};
    for (int i = 0; i < 3; ++i) {
        char *path;
        read_target(names[i]);
        keel_status_t status = keel_target_plugin(&target, "/nowhere/bin/python", &path);
        assert_refused(status, KEEL_NOT_FOUND, packages[i]);
    }
}

static void the_environment_is_set_for_the_compiler(void **state) {
    (void)state;
    setenv("TPU_ACCELERATOR_TYPE", "v2-8", 1);
    read_target("v5p:2x2x2");
    assert_ok(keel_target_set_environment(&target));
    assert_string_equal(getenv("TPU_ACCELERATOR_TYPE"), "v5p-16");
    assert_string_equal(getenv("TPU_LOG_DIR"), "disabled");
}

// ---- topologies --------------------------------------------------------------------------------

// What a plugin's table was called with. No plugin for a device is needed to see that.
static struct {
    unsigned created, destroyed;
    const char *name, *serialized;
    size_t options, size;
    bool gives_none;
} called;
static size_t described; // devices of any topology
static char made;

static PJRT_Error *create_topology(PJRT_TopologyDescription_Create_Args *args) {
    ++called.created;
    called.name = args->topology_name;
    called.size = args->topology_name_size;
    called.options = args->num_options;
    args->topology = called.gives_none ? NULL : (PJRT_TopologyDescription *)&made;
    return NULL;
}

static PJRT_Error *read_topology(PJRT_TopologyDescription_Deserialize_Args *args) {
    called.serialized = args->serialized_topology;
    called.size = args->serialized_topology_size;
    args->topology = (PJRT_TopologyDescription *)&made;
    return NULL;
}

static PJRT_Error *destroy_topology(PJRT_TopologyDescription_Destroy_Args *args) {
    ++called.destroyed;
    assert_ptr_equal(args->topology, &made);
    return NULL;
}

static PJRT_Error *describe_devices(PJRT_TopologyDescription_GetDeviceDescriptions_Args *args) {
    args->num_descriptions = described;
    return NULL;
}

static PJRT_Error *compile(PJRT_Compile_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Api table_of_topologies(void) {
    memset(&called, 0, sizeof called);
    return (PJRT_Api){.struct_size = PJRT_Api_STRUCT_SIZE,
                      .PJRT_TopologyDescription_Create = create_topology,
                      .PJRT_TopologyDescription_Deserialize = read_topology,
                      .PJRT_TopologyDescription_Destroy = destroy_topology,
                      .PJRT_Compile = compile};
}

static void a_topology_is_made_by_its_name_and_destroyed_once(void **state) {
    (void)state;
    PJRT_TopologyDescription *topology;
    PJRT_Api api = table_of_topologies();
    read_target("v5e:4x4");
    assert_ok(keel_target_topology(&target, &api, &topology));
    assert_ptr_equal(topology, &made);
    assert_ptr_equal(called.name, target.topology_name);
    assert_int_equal(called.size, strlen(target.topology_name));
    assert_int_equal(called.options, target.topology_options.count);
    keel_target_destroy_topology(&api, topology);
    assert_int_equal(called.destroyed, 1);
    keel_target_destroy_topology(&api, NULL);
    assert_int_equal(called.destroyed, 1);
}

static void a_serialized_topology_is_read_by_the_plugin(void **state) {
    (void)state;
    PJRT_TopologyDescription *topology;
    PJRT_Api api = table_of_topologies();
    read_target("v5e:4x4");
    target.topology = keel_bytes("abc", 3);
    assert_ok(keel_target_topology(&target, &api, &topology));
    assert_int_equal(called.created, 0);
    assert_int_equal(called.size, 3);
    assert_memory_equal(called.serialized, "abc", 3);
    api.PJRT_TopologyDescription_Deserialize = NULL;
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_UNSUPPORTED,
                   "v5e:4x4: the plugin cannot read a serialized topology");
}

static void a_topology_of_other_devices_is_refused_and_destroyed(void **state) {
    (void)state;
    PJRT_TopologyDescription *topology;
    PJRT_Api api = table_of_topologies();
    api.PJRT_TopologyDescription_GetDeviceDescriptions = describe_devices;
    read_target("v5e:4x4");
    described = 16;
    assert_ok(keel_target_topology(&target, &api, &topology));
    described = 4;
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_INVALID,
                   "v5e:4x4: devices is 16, and its topology has 4");
    assert_null(topology);
    assert_int_equal(called.destroyed, 1);
}

static void a_plugin_that_makes_no_topology_is_refused(void **state) {
    (void)state;
    PJRT_TopologyDescription *topology;
    PJRT_Api api = table_of_topologies();
    read_target("v5e:4x4");
    called.gives_none = true;
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_PLUGIN,
                   "returned no topology");
    api.PJRT_Compile = NULL;
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_UNSUPPORTED,
                   "cannot compile without a device");
    api = table_of_topologies();
    api.PJRT_TopologyDescription_Create = NULL;
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_UNSUPPORTED,
                   "cannot compile without a device");
    read_target("cpu:2");
    assert_refused(keel_target_topology(&target, &api, &topology), KEEL_INTERNAL,
                   "cpu:2 has no topology without a client");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_gpu_is_known_with_its_devices, begin, end),
        cmocka_unit_test_setup_teardown(what_only_the_machine_tells_is_assumed, begin, end),
        cmocka_unit_test_setup_teardown(hosts_have_eight_gpus_unless_processes_are_given, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_slice_of_tpus_is_laid_out_in_chips, begin, end),
        cmocka_unit_test_setup_teardown(one_host_of_eight_chips_is_the_usual_one, begin, end),
        cmocka_unit_test_setup_teardown(each_chip_may_have_a_process, begin, end),
        cmocka_unit_test_setup_teardown(a_slice_smaller_than_a_host_says_so, begin, end),
        cmocka_unit_test_setup_teardown(clients_may_read_how_many_chips_a_host_has, begin, end),
        cmocka_unit_test_setup_teardown(libtpus_variables_divide_a_slice, begin, end),
        cmocka_unit_test_setup_teardown(the_processor_has_as_many_devices_as_one_wants, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_name_gets_the_list, begin, end),
        cmocka_unit_test_setup_teardown(a_target_is_read_as_it_was_written, begin, end),
        cmocka_unit_test_setup_teardown(all_kinds_of_options_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(a_float_stays_one, begin, end),
        cmocka_unit_test_setup_teardown(a_description_with_a_mistake_is_refused_by_name, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_processor_has_the_devices_that_its_description_says,
                                        begin, end),
        cmocka_unit_test_setup_teardown(serialized_topologies_are_hex, begin, end),
        cmocka_unit_test_setup_teardown(the_target_of_a_probe_is_found, begin, end),
        cmocka_unit_test_setup_teardown(a_missing_plugin_is_named_with_what_to_install, begin, end),
        cmocka_unit_test_setup_teardown(the_environment_is_set_for_the_compiler, begin, end),
        cmocka_unit_test_setup_teardown(a_topology_is_made_by_its_name_and_destroyed_once, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_serialized_topology_is_read_by_the_plugin, begin, end),
        cmocka_unit_test_setup_teardown(a_topology_of_other_devices_is_refused_and_destroyed, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_plugin_that_makes_no_topology_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
