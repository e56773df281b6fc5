// The child: the steps in order, and the lines that report them.
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "pjrt/bridge.h"
#include "probe/internal.h"

// ---- errors ------------------------------------------------------------------------------------

static probe_child_t *own;

static const char *code_name(PJRT_Error_Code code) {
    static const char *const names[] = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};
    bool known = (size_t)code < sizeof names / sizeof *names;
    return known ? names[code] : "an unknown code";
}

// Replaces the table's function for the child's calls: reading an error's message also records its
// code.
static void note_message(PJRT_Error_Message_Args *args) {
    const PJRT_Api *plugin = own->plugin.api;
    PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                    .error = args->error};
    PJRT_Error *failed = plugin->PJRT_Error_GetCode(&code);
    own->code = failed ? "UNKNOWN" : code_name(code.code);
    plugin->PJRT_Error_Message(args);
}

// ---- lines -------------------------------------------------------------------------------------

keel_json_t *probe_line_begin(probe_child_t *child) {
    keel_buffer_initialize(&child->line, PROBE_LINE_LIMIT);
    child->json = keel_json(&child->line, KEEL_JSON_COMPACT);
    keel_json_object(&child->json, NULL);
    return &child->json;
}

static void write_all(const probe_child_t *child, keel_bytes_t bytes) {
    for (size_t at = 0; at < bytes.size;) {
        ssize_t written = write(child->descriptor, bytes.data + at, bytes.size - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        at += (size_t)written;
    }
}

static void write_lost(const probe_child_t *child) {
    static const char lost[] = "{\"lost\": 1}\n";
    write_all(child, keel_bytes(lost, sizeof lost - 1));
}

void probe_line_end(probe_child_t *child) {
    keel_json_end_object(&child->json);
    keel_buffer_byte(&child->line, '\n');
    if (child->line.failed)
        write_lost(child);
    else
        write_all(child, keel_buffer_bytes(&child->line));
    keel_buffer_deinitialize(&child->line);
}

keel_json_t *probe_facts_begin(probe_child_t *child) {
    keel_json_object(probe_line_begin(child), "facts");
    return &child->json;
}

void probe_facts_end(probe_child_t *child) {
    keel_json_end_object(&child->json);
    probe_line_end(child);
}

keel_status_t probe_line_bundle(probe_child_t *child, PJRT_Client *client) {
    keel_bundle_t bundle;
    keel_bundle_initialize(&bundle);
    keel_status_t status = keel_bundle_plugin(child->api, client, &bundle);
    if (!status) {
        keel_bundle_json(&bundle, keel_json_value(probe_line_begin(child), "bundle"));
        probe_line_end(child);
    }
    keel_bundle_deinitialize(&bundle);
    return status;
}

void probe_forgive(probe_child_t *child, keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) write_lost(child);
    keel_status_ignore(status);
}

// ---- the first steps ---------------------------------------------------------------------------

// PJRT's extension types in order, including later ones than the header's.
static const char *extension_name(size_t type) {
    static const char *const names[] = {"GpuCustomCall",
                                        "Profiler",
                                        "CustomPartitioner",
                                        "Stream",
                                        "Layouts",
                                        "FFI",
                                        "MemoryDescriptions",
                                        "Triton",
                                        "RawBuffer",
                                        "PhaseCompile",
                                        "Example",
                                        "Unknown",
                                        "CrossHostTransfers",
                                        "ExecutableMetadata",
                                        "Callback",
                                        "HostAllocator",
                                        "TpuTopology",
                                        "TpuExecutable",
                                        "Megascale",
                                        "Shardings",
                                        "AbiVersion",
                                        "Collectives",
                                        "MultiSlice",
                                        "HostMemoryAllocator",
                                        "XlaTransform"};
    return type < sizeof names / sizeof *names ? names[type] : "";
}

static void write_extensions(const probe_child_t *child, keel_json_t *json) {
    enum { LENGTH = PJRT_Extension_Base_STRUCT_SIZE, MOST = 64 };
    const PJRT_Extension_Base *at = child->plugin.api->extension_start;
    keel_json_array(json, "extensions");
    // Ends even if the chain is a cycle.
    for (size_t i = 0; at && at->struct_size >= LENGTH && i < MOST; at = at->next, ++i) {
        keel_json_object(json, NULL);
        keel_json_int(json, "type", (int64_t)at->type);
        keel_json_string(json, "name", extension_name((size_t)at->type));
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void report_plugin(probe_child_t *child) {
    const PJRT_Api *api = child->plugin.api;
    keel_buffer_t attributes;
    keel_buffer_initialize(&attributes, 1 << 16);
    keel_status_t status = keel_plugin_attributes(child->api, &attributes);
    keel_json_t *json = probe_facts_begin(child);
    keel_json_object(json, "plugin");
    keel_json_int(json, "api_major", api->pjrt_api_version.major_version);
    keel_json_int(json, "api_minor", api->pjrt_api_version.minor_version);
    if (!status) keel_json_str(json, "attributes", keel_bytes_str(keel_buffer_bytes(&attributes)));
    write_extensions(child, json);
    keel_json_end_object(json);
    probe_facts_end(child);
    probe_forgive(child, status);
    keel_buffer_deinitialize(&attributes);
}

static keel_status_t load_plugin(probe_child_t *child) {
    KEEL_TRY(keel_plugin_load(child->request->plugin, &child->plugin));
    KEEL_TRY(keel_bridge_create(child->plugin.api, &child->api));
    own = child;
    child->api->PJRT_Error_Message = note_message;
    if (child->elsewhere) return NULL;
    report_plugin(child);
    return probe_line_bundle(child, NULL);
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

// ---- all steps ---------------------------------------------------------------------------------

// A step runs if the step it needs succeeded.
static const struct {
    keel_probe_step_t step, needs;
    keel_status_t (*take)(probe_child_t *child);
} all_steps[] = {
    {KEEL_PROBE_LOAD, KEEL_PROBE_LOAD, load_plugin},
    {KEEL_PROBE_CLIENT, KEEL_PROBE_LOAD, make_client},
    {KEEL_PROBE_DEVICES, KEEL_PROBE_CLIENT, probe_devices},
    {KEEL_PROBE_COMPILE, KEEL_PROBE_DEVICES, probe_compile},
    {KEEL_PROBE_RUN, KEEL_PROBE_COMPILE, probe_run},
    {KEEL_PROBE_SERIALIZE, KEEL_PROBE_COMPILE, probe_serialize},
    {KEEL_PROBE_RELOAD, KEEL_PROBE_SERIALIZE, probe_reload},
    {KEEL_PROBE_AGAIN, KEEL_PROBE_RELOAD, probe_run_again},
    {KEEL_PROBE_LAST, KEEL_PROBE_RUN, probe_last_device},
    {KEEL_PROBE_OLDER, KEEL_PROBE_RUN, probe_older_client},
};

static const keel_probe_step_t elsewhere_steps[] = {KEEL_PROBE_TOPOLOGY, KEEL_PROBE_ELSEWHERE};

static void report_end(probe_child_t *child, keel_probe_step_t step, uint64_t nanoseconds,
                       keel_status_t status) {
    keel_json_t *json = probe_line_begin(child);
    keel_json_string(json, "end", keel_probe_step_name(step));
    keel_json_int(json, "ns", (int64_t)nanoseconds);
    if (status) {
        bool of_plugin = keel_status_code(status) == KEEL_PLUGIN && child->code;
        const char *code = of_plugin ? child->code : keel_code_word(keel_status_code(status));
        keel_json_string(json, "code", code);
        keel_json_string(json, "error", keel_status_message(status));
    } else if (child->skipped) {
        keel_json_string(json, "skipped", child->skipped);
    }
    probe_line_end(child);
}

static void write_mark(keel_probe_step_t step) {
    const char text[] = {PROBE_MARK, (char)('A' + step), '\n'};
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text);
    (void)ignored;
}

static bool take_step(probe_child_t *child, keel_probe_step_t step,
                      keel_status_t (*function)(probe_child_t *child)) {
    write_mark(step);
    keel_json_string(probe_line_begin(child), "begin", keel_probe_step_name(step));
    probe_line_end(child);
    child->skipped = NULL;
    child->code = NULL;
    uint64_t began = keel_clock_monotonic();
    keel_status_t status = function(child);
    report_end(child, step, keel_clock_monotonic() - began, status);
    bool good = !status && !child->skipped;
    keel_status_ignore(status);
    return good;
}

static int run_elsewhere(probe_child_t *child) {
    keel_status_t status = load_plugin(child);
    if (!status) status = initialize(child);
    bool is_ready = !status;
    probe_forgive(child, status);
    if (is_ready && take_step(child, elsewhere_steps[0], probe_topology))
        take_step(child, elsewhere_steps[1], probe_compile_elsewhere);
    return PROBE_DONE;
}

int probe_child_run(probe_child_t *child) {
    bool good[KEEL_PROBE_STEP_COUNT] = {[KEEL_PROBE_LOAD] = true};
    if (child->elsewhere) return run_elsewhere(child);
    for (size_t i = 0; i < sizeof all_steps / sizeof *all_steps; ++i) {
        if (all_steps[i].step > child->request->last) break;
        if (good[all_steps[i].needs])
            good[all_steps[i].step] = take_step(child, all_steps[i].step, all_steps[i].take);
    }
    return PROBE_DONE;
}
