// The child: the steps in order, and the messages that report them. It ends with _exit, so it frees
// nothing.
#define _GNU_SOURCE
#include <sys/socket.h>

#include "pjrt/bridge.h"
#include "pjrt/identity.h"
#include "pjrt/memory.h"
#include "probe/internal.h"

// ---- errors ------------------------------------------------------------------------------------

static const PJRT_Api *plugin_api; // a process has one child
static const char *latest_code; // PJRT's name for the code of the latest error; NULL: none so far

// Replaces the table's function for the child's calls: reading an error's message also records its
// code.
static void note_message(PJRT_Error_Message_Args *args) {
    latest_code = keel_pjrt_error_code(plugin_api, args->error);
    plugin_api->PJRT_Error_Message(args);
}

// ---- the first steps ---------------------------------------------------------------------------

static keel_status_t load_plugin(probe_child_t *child) {
    KEEL_TRY(keel_plugin_load(child->request->plugin, &child->plugin));
    KEEL_TRY(keel_bridge_create(child->plugin.api, &child->api));
    plugin_api = child->plugin.api;
    child->api->PJRT_Error_Message = note_message;
    return keel_bundle_plugin(child->api, NULL, &child->facts);
}

static keel_status_t initialize(probe_child_t *child) {
    if (!keel_pjrt_has(child->api, PJRT_Plugin_Initialize)) return NULL;
    PJRT_Plugin_Initialize_Args args = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    return KEEL_PJRT_CALL(child->api, PJRT_Plugin_Initialize, args);
}

static keel_status_t make_client(probe_child_t *child) {
    KEEL_TRY(initialize(child));
    PJRT_Client_Create_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_Create, args));
    if (!args.client) return keel_status_make(KEEL_PLUGIN, "PJRT_Client_Create returned no client");
    child->client = args.client;
    return NULL;
}

// The components that the backend decides; the others are the same wherever a program is compiled.
static keel_status_t add_key(const keel_backend_t *backend, probe_child_t *child) {
    keel_key_t key;
    keel_key_initialize(&key);
    KEEL_TRY(keel_backend_key(backend, child->build, &key));
    KEEL_TRY(keel_key_finish(&key));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        char hex[KEEL_DIGEST_HEX];
        if (i == KEEL_COMPONENT_PROGRAM || i == KEEL_COMPONENT_OPTIONS ||
            i == KEEL_COMPONENT_DEVICE_ASSIGNMENT || i == KEEL_COMPONENT_KERNELS)
            continue;
        keel_digest_hex(&key.components[i], hex);
        KEEL_TRY(keel_bundle_add(&child->facts, KEEL_BUNDLE_KEY,
                                 keel_str(keel_component_name((keel_component_t)i)),
                                 keel_str(hex)));
    }
    return NULL;
}

static keel_status_t add_memory(probe_child_t *child, const char *platform, PJRT_Device *device) {
    char *name, *kind, sizes[3][16];
    keel_device_memory_t memory;
    KEEL_TRY(keel_pjrt_device_name(child->api, platform, device, &name, &kind));
    keel_status_t why = keel_pjrt_device_memory(child->api, device, &memory);
    bool of_plugin = keel_status_code(why) == KEEL_PLUGIN;
    if (keel_status_code(why) == KEEL_NO_MEMORY) return why;
    if (why)
        return keel_bundle_format(&child->facts, KEEL_BUNDLE_MEMORY, name, "unknown: %s%s%s",
                                  of_plugin ? latest_code : "", of_plugin ? ": " : "",
                                  keel_status_message(why));
    keel_format_size(memory.in_use, sizes[0]);
    keel_format_size(memory.peak, sizes[1]);
    keel_format_size(memory.limit, sizes[2]);
    return keel_bundle_format(&child->facts, KEEL_BUNDLE_MEMORY, name, "in use %s%s%s%s%s",
                              sizes[0], memory.peak ? ", peak " : "", memory.peak ? sizes[1] : "",
                              memory.limit ? ", limit " : "", memory.limit ? sizes[2] : "");
}

static keel_status_t read_devices(probe_child_t *child) {
    enum { SHOWN = 256 };
    keel_backend_t backend;
    KEEL_TRY(keel_pjrt_addressable_devices(child->api, child->client, &child->devices,
                                           &child->device_count));
    KEEL_TRY(keel_bundle_plugin(child->api, child->client, &child->facts));
    if (!child->device_count)
        return keel_status_make(KEEL_PLUGIN, "the client has no device that this process can use");
    if (!child->build) return NULL; // only a bundle is wanted
    KEEL_TRY(keel_backend_read(child->api, child->client, NULL, 0, &backend));
    KEEL_TRY(add_key(&backend, child));
    for (size_t i = 0; i < child->device_count && i < SHOWN; ++i)
        KEEL_TRY(add_memory(child, backend.platform_name, child->devices[i]));
    return NULL;
}

// ---- messages ----------------------------------------------------------------------------------

// What a step found out goes with its end.
static void send_step(probe_child_t *child, const char *what, keel_probe_step_t step,
                      uint64_t nanoseconds, keel_status_t status) {
    static const char lost[] = "{\"lost\": 1}";
    keel_buffer_t line;
    keel_buffer_initialize(&line, PROBE_LINE_LIMIT);
    keel_json_t json = keel_json(&line, KEEL_JSON_COMPACT);
    keel_json_object(&json, NULL);
    keel_json_string(&json, what, keel_probe_step_name(step));
    keel_json_int(&json, "ns", (int64_t)nanoseconds);
    if (status) {
        bool of_plugin = keel_status_code(status) == KEEL_PLUGIN && latest_code;
        const char *code = of_plugin ? latest_code : keel_code_word(keel_status_code(status));
        keel_json_string(&json, "code", code);
        keel_json_string(&json, "error", keel_status_message(status));
    }
    if (child->skipped) keel_json_string(&json, "skipped", child->skipped);
    if (child->facts.count) keel_bundle_json(&child->facts, keel_json_value(&json, "bundle"));
    keel_json_end_object(&json);
    if (line.failed || send(child->descriptor, line.data, line.size, MSG_NOSIGNAL) < 0)
        send(child->descriptor, lost, sizeof lost - 1, MSG_NOSIGNAL);
    keel_bundle_initialize(&child->facts);
}

// ---- all steps ---------------------------------------------------------------------------------

// A step runs if the step it needs succeeded.
static const struct {
    keel_probe_step_t needs;
    keel_status_t (*take)(probe_child_t *child);
} all_steps[KEEL_PROBE_STEP_COUNT] = {
    [KEEL_PROBE_LOAD] = {KEEL_PROBE_LOAD, load_plugin},
    [KEEL_PROBE_CLIENT] = {KEEL_PROBE_LOAD, make_client},
    [KEEL_PROBE_DEVICES] = {KEEL_PROBE_CLIENT, read_devices},
    [KEEL_PROBE_COMPILE] = {KEEL_PROBE_DEVICES, probe_compile},
    [KEEL_PROBE_RUN] = {KEEL_PROBE_COMPILE, probe_run},
    [KEEL_PROBE_SERIALIZE] = {KEEL_PROBE_COMPILE, probe_serialize},
    [KEEL_PROBE_RELOAD] = {KEEL_PROBE_SERIALIZE, probe_reload},
    [KEEL_PROBE_AGAIN] = {KEEL_PROBE_RELOAD, probe_run_again},
    [KEEL_PROBE_LAST] = {KEEL_PROBE_RUN, probe_last_device},
    [KEEL_PROBE_OLDER] = {KEEL_PROBE_RUN, probe_older_client},
    [KEEL_PROBE_TOPOLOGY] = {KEEL_PROBE_LOAD, probe_topology},
    [KEEL_PROBE_ELSEWHERE] = {KEEL_PROBE_TOPOLOGY, probe_compile_elsewhere},
};

// After each step, the parent answers: until then it assigns what the plugin prints to this step.
static bool take_step(probe_child_t *child, keel_probe_step_t step) {
    char answer;
    send_step(child, "begin", step, 0, NULL);
    latest_code = NULL;
    uint64_t began = keel_clock_monotonic();
    keel_status_t status = all_steps[step].take(child);
    uint64_t nanoseconds = keel_clock_monotonic() - began;
    send_step(child, "end", step, nanoseconds, status);
    bool good = !status && !child->skipped;
    keel_status_ignore(status);
    child->skipped = NULL;
    recv(child->descriptor, &answer, 1, 0);
    return good;
}

int probe_child_run(probe_child_t *child) {
    bool good[KEEL_PROBE_STEP_COUNT] = {[KEEL_PROBE_LOAD] = true};
    int first = KEEL_PROBE_LOAD, last = (int)child->request->last;
    keel_bundle_initialize(&child->facts);
    if (child->elsewhere) {
        keel_status_t status = load_plugin(child);
        if (!status) status = initialize(child);
        bool is_ready = !status;
        keel_status_ignore(status);
        first = KEEL_PROBE_TOPOLOGY;
        last = is_ready ? KEEL_PROBE_ELSEWHERE : KEEL_PROBE_LOAD;
    }
    for (int i = first; i <= last; ++i)
        if (good[all_steps[i].needs]) good[i] = take_step(child, (keel_probe_step_t)i);
    return PROBE_DONE;
}
