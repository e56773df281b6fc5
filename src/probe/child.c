#define _GNU_SOURCE
#include <unistd.h>

#include "pjrt/bridge.h"
#include "probe/internal.h"

// ---- errors ------------------------------------------------------------------------------------

static probe_child_t *own;

static const char *code_name(PJRT_Error_Code code) {
    switch (code) {
#define CODE(name)                                                                                 \
    case PJRT_Error_Code_##name:                                                                   \
        return #name
        CODE(CANCELLED);
        CODE(UNKNOWN);
        CODE(INVALID_ARGUMENT);
        CODE(DEADLINE_EXCEEDED);
        CODE(NOT_FOUND);
        CODE(ALREADY_EXISTS);
        CODE(PERMISSION_DENIED);
        CODE(RESOURCE_EXHAUSTED);
        CODE(FAILED_PRECONDITION);
        CODE(ABORTED);
        CODE(OUT_OF_RANGE);
        CODE(UNIMPLEMENTED);
        CODE(INTERNAL);
        CODE(UNAVAILABLE);
        CODE(DATA_LOSS);
        CODE(UNAUTHENTICATED);
#undef CODE
        default:
            return "an unknown code";
    }
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

// ---- the first steps ---------------------------------------------------------------------------

static void report_extensions(const probe_child_t *child) {
    enum { LENGTH = PJRT_Extension_Base_STRUCT_SIZE, MOST = KEEL_PROBE_EXTENSIONS };
    const PJRT_Extension_Base *at = child->plugin.api->extension_start;
    // Ends even if the chain is a cycle.
    for (size_t i = 0; at && i < MOST; at = at->next, ++i) {
        keel_buffer_t line;
        if (at->struct_size < LENGTH) break;
        probe_line_begin(&line, "fact", "extension");
        probe_line_number(&line, "type", (int64_t)at->type);
        probe_line_end(child, &line);
    }
}

static void report_plugin(const probe_child_t *child) {
    const PJRT_Api *api = child->plugin.api;
    keel_buffer_t line, attributes;
    keel_buffer_initialize(&attributes, 1 << 16);
    keel_status_t status = keel_plugin_attributes(child->api, &attributes);
    probe_line_begin(&line, "fact", "plugin");
    probe_line_number(&line, "api_major", api->pjrt_api_version.major_version);
    probe_line_number(&line, "api_minor", api->pjrt_api_version.minor_version);
    if (!status)
        probe_line_text(&line, "attributes", keel_bytes_str(keel_buffer_bytes(&attributes)));
    probe_line_end(child, &line);
    probe_forgive(child, status);
    keel_buffer_deinitialize(&attributes);
}

static keel_status_t load(probe_child_t *child) {
    KEEL_TRY(keel_plugin_load(child->request->plugin, &child->plugin));
    KEEL_TRY(keel_bridge_create(child->plugin.api, &child->api));
    own = child;
    child->api->PJRT_Error_Message = note_message;
    if (child->elsewhere) return NULL;
    report_plugin(child);
    report_extensions(child);
    return probe_line_bundle(child, NULL);
}

static keel_status_t initialize(probe_child_t *child) {
    static const char what[] = "PJRT_Plugin_Initialize";
    if (!keel_pjrt_has(child->api, PJRT_Plugin_Initialize)) return NULL;
    PJRT_Plugin_Initialize_Args args = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    return keel_pjrt_status(child->api, child->api->PJRT_Plugin_Initialize(&args), what);
}

static keel_status_t make_client(probe_child_t *child) {
    KEEL_TRY(initialize(child));
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    KEEL_TRY(
        keel_pjrt_status(child->api, child->api->PJRT_Client_Create(&args), "PJRT_Client_Create"));
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
    {KEEL_PROBE_LOAD, KEEL_PROBE_LOAD, load},
    {KEEL_PROBE_CLIENT, KEEL_PROBE_LOAD, make_client},
    {KEEL_PROBE_DEVICES, KEEL_PROBE_CLIENT, probe_devices},
    {KEEL_PROBE_COMPILE, KEEL_PROBE_DEVICES, probe_compile},
    {KEEL_PROBE_RUN, KEEL_PROBE_COMPILE, probe_run},
    {KEEL_PROBE_SERIALIZE, KEEL_PROBE_COMPILE, probe_serialize},
    {KEEL_PROBE_RELOAD, KEEL_PROBE_SERIALIZE, probe_reload},
    {KEEL_PROBE_AGAIN, KEEL_PROBE_RELOAD, probe_run_again},
    {KEEL_PROBE_LAST, KEEL_PROBE_RUN, probe_last_device},
    {KEEL_PROBE_OLDER, KEEL_PROBE_RUN, probe_older_client},
    {KEEL_PROBE_SECOND, KEEL_PROBE_AGAIN, probe_second_reload},
    {KEEL_PROBE_SIZES, KEEL_PROBE_LOAD, probe_sizes},
};

static const keel_probe_step_t elsewhere_steps[] = {KEEL_PROBE_TOPOLOGY, KEEL_PROBE_ELSEWHERE};

static void report_end(const probe_child_t *child, keel_probe_step_t step, uint64_t nanoseconds,
                       keel_status_t status) {
    keel_buffer_t line;
    probe_line_begin(&line, "end", keel_probe_step_name(step));
    probe_line_number(&line, "ns", (int64_t)nanoseconds);
    if (status) {
        bool of_plugin = keel_status_code(status) == KEEL_PLUGIN && child->code;
        const char *code = of_plugin ? child->code : keel_code_word(keel_status_code(status));
        probe_line_text(&line, "code", keel_str(code));
        probe_line_text(&line, "error", keel_str(keel_status_message(status)));
    } else if (child->skipped) {
        probe_line_text(&line, "skipped", keel_str(child->skipped));
    }
    probe_line_end(child, &line);
}

static void mark(keel_probe_step_t step) {
    const char text[] = {PROBE_MARK, (char)('A' + step), '\n'};
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text);
    (void)ignored;
}

static bool take_step(probe_child_t *child, keel_probe_step_t step,
                      keel_status_t (*function)(probe_child_t *child)) {
    keel_buffer_t line;
    mark(step);
    probe_line_begin(&line, "begin", keel_probe_step_name(step));
    probe_line_end(child, &line);
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
    keel_status_t status = load(child);
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
