// The child: the steps in order, and how it reports them. It ends with _exit, so it frees nothing.
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "pjrt/bridge.h"
#include "pjrt/identity.h"
#include "pjrt/memory.h"
#include "probe/internal.h"
#include "target/target.h"

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

keel_status_t probe_load(probe_child_t *child) {
    KEEL_TRY(keel_plugin_load(child->request->plugin, &child->plugin));
    KEEL_TRY(keel_bridge_create(child->plugin.api, &child->api));
    plugin_api = child->plugin.api;
    child->api->PJRT_Error_Message = note_message;
    keel_bundle_plugin(child->api, NULL, &child->facts);
    return NULL;
}

// As the plugin door asks for them (shim/devices.c), so that keys are those of a run.
static size_t take_options(probe_child_t *child) {
    const keel_probe_request_t *request = child->request;
    if (!request->cpu_devices || !keel_plugin_is_xla_cpu(request->plugin) ||
        !keel_pjrt_takes_cpu_devices(child->api))
        return 0;
    child->options[0] = keel_pjrt_cpu_devices(request->cpu_devices);
    return 1;
}

keel_status_t probe_client(probe_child_t *child) {
    PJRT_Plugin_Initialize_Args first = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    child->option_count = take_options(child);
    PJRT_Client_Create_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Create),
                                    .create_options = child->options,
                                    .num_options = child->option_count};
    if (keel_pjrt_has(child->api, PJRT_Plugin_Initialize))
        KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Plugin_Initialize, first));
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_Create, args));
    if (!args.client) return keel_status_make(KEEL_PLUGIN, "PJRT_Client_Create returned no client");
    child->client = args.client;
    return NULL;
}

// The components that the backend decides; the others are the same wherever a program is compiled.
static keel_status_t add_key(const keel_backend_t *backend, probe_child_t *child) {
    keel_key_t key;
    keel_key_initialize(&key);
    KEEL_TRY(keel_backend_key(backend, child->request->plugin, child->build, &key));
    KEEL_TRY(keel_key_finish(&key));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        char hex[KEEL_DIGEST_HEX];
        if (i == KEEL_COMPONENT_PROGRAM || i == KEEL_COMPONENT_OPTIONS ||
            i == KEEL_COMPONENT_DEVICE_ASSIGNMENT || i == KEEL_COMPONENT_KERNELS ||
            !keel_key_has(&key, (keel_component_t)i))
            continue;
        keel_digest_hex(&key.components[i], hex);
        keel_bundle_format(&child->facts, KEEL_BUNDLE_KEY, keel_component_name((keel_component_t)i),
                           "%s", hex);
    }
    return NULL;
}

static keel_status_t add_memory(probe_child_t *child, const char *platform, PJRT_Device *device) {
    char *name, *kind, sizes[3][16];
    keel_device_memory_t memory;
    KEEL_TRY(keel_pjrt_device_name(child->api, platform, device, &name, &kind));
    keel_status_t why = keel_pjrt_device_memory(child->api, device, &memory);
    bool of_plugin = keel_status_code(why) == KEEL_PLUGIN;
    keel_format_size(memory.in_use, sizes[0]);
    keel_format_size(memory.peak, sizes[1]);
    keel_format_size(memory.limit, sizes[2]);
    if (why)
        keel_bundle_format(&child->facts, KEEL_BUNDLE_MEMORY, name, "unknown: %s%s%s",
                           of_plugin ? latest_code : "", of_plugin ? ": " : "",
                           keel_status_message(why));
    else
        keel_bundle_format(&child->facts, KEEL_BUNDLE_MEMORY, name, "in use %s%s%s%s%s", sizes[0],
                           memory.peak ? ", peak " : "", memory.peak ? sizes[1] : "",
                           memory.limit ? ", limit " : "", memory.limit ? sizes[2] : "");
    keel_bundle_forgive(&child->facts, why);
    return NULL;
}

static keel_status_t write_target(const probe_child_t *child, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX] = "";
    keel_target_t target;
    if (child->build) keel_digest_hex(child->build, hex);
    const keel_target_origin_t origin = {.name = "this machine", .build = hex};
    keel_status_t status = keel_target_of_client(child->api, child->client, &origin, &target);
    if (!status) status = keel_target_write(&target, KEEL_JSON_COMPACT, out);
    keel_target_deinitialize(&target);
    return status;
}

// Not all backends are targets.
static void report_target(probe_child_t *child) {
    keel_buffer_t json;
    keel_buffer_initialize(&json, sizeof child->report->target);
    keel_status_t status = write_target(child, &json);
    if (!status) {
        memcpy(child->report->target, json.data, json.size);
        child->report->target_size = json.size;
    }
    keel_bundle_forgive(&child->facts, status);
    keel_buffer_deinitialize(&json);
}

keel_status_t probe_devices(probe_child_t *child) {
    enum { SHOWN = 256 };
    keel_backend_t backend;
    KEEL_TRY(keel_pjrt_addressable_devices(child->api, child->client, &child->devices,
                                           &child->device_count));
    keel_bundle_plugin(child->api, child->client, &child->facts);
    if (!child->device_count)
        return keel_status_make(KEEL_PLUGIN, "the client has no device that this process can use");
    if (!child->build) return NULL; // only a bundle is wanted
    report_target(child);
    KEEL_TRY(keel_backend_read(child->api, child->client, child->options, child->option_count,
                               &backend));
    KEEL_TRY(add_key(&backend, child));
    for (size_t i = 0; i < child->device_count && i < SHOWN; ++i)
        KEEL_TRY(add_memory(child, backend.platform_name, child->devices[i]));
    return NULL;
}

// ---- reporting ---------------------------------------------------------------------------------

static void report_facts(probe_child_t *child) {
    probe_report_t *report = child->report;
    keel_buffer_t json;
    keel_buffer_initialize(&json, sizeof report->facts);
    keel_bundle_json(&child->facts, &json);
    if (json.failed || child->facts.failed) report->out_of_memory = true;
    memcpy(report->facts, keel_buffer_cstr(&json), json.size);
    report->facts_size = json.size;
    keel_buffer_deinitialize(&json);
}

static bool take_step(probe_child_t *child, int step, keel_status_t (*take)(probe_child_t *)) {
    probe_reported_t *reported = &child->report->steps[step];
    reported->printed = lseek(STDERR_FILENO, 0, SEEK_CUR);
    reported->state = KEEL_PROBE_BEGUN;
    child->report->step = step;
    latest_code = NULL;
    uint64_t began = keel_clock_monotonic();
    keel_status_t status = take(child);
    reported->nanoseconds = keel_clock_monotonic() - began;
    reported->printed_end = lseek(STDERR_FILENO, 0, SEEK_CUR);
    bool of_plugin = keel_status_code(status) == KEEL_PLUGIN && latest_code;
    const char *code = of_plugin ? latest_code : keel_code_word(keel_status_code(status));
    snprintf(reported->code, sizeof reported->code, "%s", status ? code : "");
    snprintf(reported->message, sizeof reported->message, "%s", keel_status_message(status));
    report_facts(child);
    reported->state = status ? KEEL_PROBE_FAILED : KEEL_PROBE_OK;
    keel_bundle_forgive(&child->facts, status);
    return reported->state == KEEL_PROBE_OK;
}

// A step runs if the step it needs succeeded.
void probe_child_run(probe_child_t *child) {
    static const struct {
        keel_probe_step_t needs;
        keel_status_t (*take)(probe_child_t *child);
    } steps[KEEL_PROBE_STEP_COUNT] = {
#define STEP(step, needs, take, ...) {KEEL_PROBE_##needs, probe_##take},
        KEEL_PROBE_STEPS(STEP)
#undef STEP
    };
    bool good[KEEL_PROBE_STEP_COUNT] = {[KEEL_PROBE_LOAD] = true};
    keel_bundle_initialize(&child->facts);
    for (int i = KEEL_PROBE_LOAD; i <= (int)child->request->last; ++i)
        if (good[steps[i].needs]) good[i] = take_step(child, i, steps[i].take);
    if (child->facts.failed) child->report->out_of_memory = true;
    child->report->done = true;
}
