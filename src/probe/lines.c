// Reads the child's lines. They are not trusted: an unknown name, a number out of range or a field
// of another type drops the field, or the line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "probe/internal.h"

// PJRT's extension types in order, including later ones than the header's.
static const char *const extension_names[] = {
    "GpuCustomCall",
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
    "XlaTransform",
};
enum { EXTENSION_NAMES = sizeof extension_names / sizeof *extension_names };

static keel_str_t field_text(const json_t *line, const char *name) {
    const json_t *value = json_object_get(line, name);
    if (!json_is_string(value)) return KEEL_STR("");
    return (keel_str_t){json_string_value(value), json_string_length(value)};
}

static const char *keep_text(keel_probe_t *probe, const json_t *line, const char *name) {
    return probe_keep(probe, field_text(line, name));
}

static int64_t number_of(const json_t *line, const char *name, int64_t otherwise) {
    const json_t *value = json_object_get(line, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static int64_t bounded(const json_t *line, const char *name, int64_t most) {
    int64_t value = number_of(line, name, 0);
    return value < 0 ? 0 : value > most ? most : value;
}

// ---- steps -------------------------------------------------------------------------------------

static keel_probe_outcome_t *outcome_of(keel_probe_t *probe, const json_t *line, const char *kind) {
    keel_probe_step_t step = keel_probe_step_by_name(field_text(line, kind));
    return step == KEEL_PROBE_STEP_COUNT ? NULL : &probe->steps[step];
}

static bool take_begin(keel_probe_t *probe, const json_t *line) {
    keel_probe_outcome_t *outcome = outcome_of(probe, line, "begin");
    if (outcome) outcome->state = KEEL_PROBE_BEGUN;
    return outcome;
}

static bool take_end(keel_probe_t *probe, const json_t *line) {
    keel_probe_outcome_t *outcome = outcome_of(probe, line, "end");
    if (!outcome) return false;
    outcome->state = KEEL_PROBE_OK;
    outcome->nanoseconds = (uint64_t)bounded(line, "ns", INT64_MAX);
    if (json_object_get(line, "error")) {
        outcome->state = KEEL_PROBE_FAILED;
        outcome->code = keep_text(probe, line, "code");
        outcome->message = keep_text(probe, line, "error");
        // Keel's own failure, not the plugin's.
        if (strcmp(outcome->code, keel_code_word(KEEL_NO_MEMORY)) == 0) probe->out_of_memory = true;
    } else if (json_object_get(line, "skipped")) {
        outcome->state = KEEL_PROBE_SKIPPED;
        outcome->message = keep_text(probe, line, "skipped");
    }
    return true;
}

// ---- facts -------------------------------------------------------------------------------------

static keel_status_t take_plugin(keel_probe_t *probe, const json_t *line) {
    probe->api_known = true;
    probe->api_major = (int)bounded(line, "api_major", INT32_MAX);
    probe->api_minor = (int)bounded(line, "api_minor", INT32_MAX);
    probe->attributes = keep_text(probe, line, "attributes");
    return NULL;
}

static keel_status_t take_extension(keel_probe_t *probe, const json_t *line) {
    if (probe->extension_count == KEEL_PROBE_EXTENSIONS) return NULL;
    int64_t type = number_of(line, "type", -1);
    probe->extensions[probe->extension_count++] = (keel_probe_extension_t){
        .type = type, .name = type >= 0 && type < EXTENSION_NAMES ? extension_names[type] : ""};
    return NULL;
}

static keel_status_t take_platform(keel_probe_t *probe, const json_t *line) {
    probe->platform = keep_text(probe, line, "platform");
    probe->platform_version = keep_text(probe, line, "version");
    return NULL;
}

static keel_status_t take_devices(keel_probe_t *probe, const json_t *line) {
    probe->global_count = (uint64_t)bounded(line, "all", INT64_MAX);
    probe->addressable_count = (uint64_t)bounded(line, "addressable", INT64_MAX);
    return NULL;
}

static keel_status_t take_device(keel_probe_t *probe, const json_t *line) {
    char name[160];
    if (probe->device_count == KEEL_PROBE_DEVICES_SHOWN) return NULL;
    keel_probe_device_t *device = &probe->devices[probe->device_count++];
    *device = (keel_probe_device_t){.kind = keep_text(probe, line, "kind"),
                                    .text = keep_text(probe, line, "text"),
                                    .id = number_of(line, "id", -1),
                                    .process = number_of(line, "process", -1),
                                    .hardware = number_of(line, "hardware", -1),
                                    .memory_known = json_object_get(line, "in_use"),
                                    .memory_refusal = keep_text(probe, line, "refusal"),
                                    .in_use = number_of(line, "in_use", -1),
                                    .peak = number_of(line, "peak", -1),
                                    .limit = number_of(line, "limit", -1)};
    snprintf(name, sizeof name, "%.120s:%lld", device->kind, (long long)device->id);
    device->name = probe_keep(probe, keel_str(name));
    keel_str_t code = field_text(line, "refusal_code");
    if (!code.size) return NULL;
    char refusal[512];
    snprintf(refusal, sizeof refusal, "%.*s: %.400s", KEEL_STR_ARGS(code), device->memory_refusal);
    device->memory_refusal = probe_keep(probe, keel_str(refusal));
    return NULL;
}

static keel_status_t take_component(keel_probe_t *probe, const json_t *line) {
    keel_component_t component = keel_component_by_name(field_text(line, "name"));
    keel_digest_t digest;
    if (component == KEEL_COMPONENT_COUNT ||
        !keel_digest_unhex(field_text(line, "digest"), &digest))
        return NULL;
    // Passes the value as the canonical bytes only to set it; the digest is the child's.
    keel_str_t value = keel_str(keep_text(probe, line, "value"));
    KEEL_TRY(keel_key_set(&probe->key, component, keel_str_bytes(value), value));
    probe->key.components[component] = digest;
    probe->key_known = true;
    return NULL;
}

static keel_status_t take_struct(keel_probe_t *probe, const json_t *line) {
    if (probe->struct_count == KEEL_PROBE_STRUCTS) return NULL;
    probe->structs[probe->struct_count++] =
        (keel_probe_struct_t){.name = keep_text(probe, line, "name"),
                              .wanted = (uint64_t)bounded(line, "wanted", INT32_MAX),
                              .header = (uint64_t)bounded(line, "header", INT32_MAX)};
    return NULL;
}

static keel_status_t take_topology(keel_probe_t *probe, const json_t *line) {
    probe->topology = keep_text(probe, line, "name");
    return NULL;
}

static keel_status_t take_bundle(keel_probe_t *probe, const json_t *line) {
    keel_status_t status = keel_bundle_take(json_object_get(line, "bundle"), &probe->bundle);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (status) ++probe->broken_lines;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t take_no_memory(keel_probe_t *probe, const json_t *line) {
    (void)line;
    probe->out_of_memory = true;
    return NULL;
}

static const struct {
    const char *name;
    keel_status_t (*take)(keel_probe_t *probe, const json_t *line);
} facts[] = {
    {"no memory", take_no_memory}, {"plugin", take_plugin},   {"extension", take_extension},
    {"platform", take_platform},   {"devices", take_devices}, {"device", take_device},
    {"component", take_component}, {"struct", take_struct},   {"topology", take_topology},
    {"bundle", take_bundle},
};

static keel_status_t take_fact(keel_probe_t *probe, const json_t *line, bool *out_known) {
    keel_str_t name = field_text(line, "fact");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i) {
        if (!keel_str_is(name, facts[i].name)) continue;
        *out_known = true;
        return facts[i].take(probe, line);
    }
    return NULL;
}

keel_status_t keel_probe_take_line(keel_probe_t *probe, keel_str_t line) {
    bool known = false;
    json_t *json = json_loadb(line.data, line.size, 0, NULL);
    keel_status_t status = NULL;
    if (json_object_get(json, "begin"))
        known = take_begin(probe, json);
    else if (json_object_get(json, "end"))
        known = take_end(probe, json);
    else if (json_object_get(json, "fact"))
        status = take_fact(probe, json, &known);
    json_decref(json);
    if (!known) ++probe->broken_lines;
    return status;
}
