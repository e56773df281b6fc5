// The JSON of a target; docs/targets.md describes it.
#include <stdio.h>

#include "target/internal.h"

// Nine digits name each float, and a point tells it from a whole number.
static void write_float(keel_json_t *json, float value) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", (double)value);
    keel_buffer_format(keel_json_value(json, NULL), "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void write_value(keel_json_t *json, const PJRT_NamedValue *value) {
    keel_json_key(json, (keel_str_t){value->name, value->name_size});
    switch (value->type) {
        case PJRT_NamedValue_kString:
            keel_json_str(json, NULL, (keel_str_t){value->string_value, value->value_size});
            break;
        case PJRT_NamedValue_kInt64:
            keel_json_int(json, NULL, value->int64_value);
            break;
        case PJRT_NamedValue_kInt64List:
            keel_json_array(json, NULL);
            for (size_t i = 0; i < value->value_size; ++i)
                keel_json_int(json, NULL, value->int64_array_value[i]);
            keel_json_end_array(json);
            break;
        case PJRT_NamedValue_kFloat:
            write_float(json, value->float_value);
            break;
        default:
            keel_json_bool(json, NULL, value->bool_value);
            break;
    }
}

static void write_values(keel_json_t *json, const char *name, const keel_target_values_t *values) {
    keel_json_object(json, name);
    for (size_t i = 0; i < values->count; ++i) {
        if (json->style == KEEL_JSON_SPACED) keel_json_break(json, "\n    ");
        write_value(json, &values->list[i]);
    }
    keel_json_end_object(json);
}

static void write_topology(keel_json_t *json, const keel_target_t *target) {
    keel_json_object(json, "topology");
    if (target->topology.size) {
        keel_json_hex(json, "serialized", target->topology);
    } else {
        keel_json_string(json, "name", target->topology_name);
        write_values(json, "options", &target->topology_options);
    }
    keel_json_end_object(json);
}

static void write_environment(keel_json_t *json, const keel_target_t *target) {
    keel_json_object(json, "environment");
    for (size_t i = 0; i < target->variable_count; ++i) {
        if (json->style == KEEL_JSON_SPACED) keel_json_break(json, "\n    ");
        keel_json_key(json, keel_str(target->environment[i].name));
        keel_json_string(json, NULL, target->environment[i].value);
    }
    keel_json_end_object(json);
}

// Each on a line of its own, for people.
static void next(keel_json_t *json) {
    if (json->style == KEEL_JSON_SPACED) keel_json_break(json, "\n  ");
}

keel_status_t keel_target_write(const keel_target_t *target, keel_json_style_t style,
                                keel_buffer_t *out) {
    keel_json_t json = keel_json(out, style);
    keel_json_object(&json, NULL);
    next(&json);
    keel_json_unsigned(&json, "target", TARGET_FORMAT);
    next(&json);
    keel_json_string(&json, "name", target->name);
    next(&json);
    keel_json_string(&json, "platform", keel_target_platform_names[target->platform]);
    next(&json);
    keel_json_string(&json, "device_kind", target->device_kind);
    next(&json);
    keel_json_unsigned(&json, "devices", target->device_count);
    next(&json);
    keel_json_unsigned(&json, "processes", target->process_count);
    next(&json);
    keel_json_unsigned(&json, "memory", target->memory);
    next(&json);
    keel_json_unsigned(&json, "memory_limit", target->memory_limit);
    next(&json);
    write_topology(&json, target);
    next(&json);
    write_values(&json, "create_options", &target->create_options);
    next(&json);
    write_environment(&json, target);
    next(&json);
    keel_json_string(&json, "platform_version", target->platform_version);
    next(&json);
    keel_json_string(&json, "build", target->build);
    if (style == KEEL_JSON_SPACED) keel_json_break(&json, "\n");
    keel_json_end_object(&json);
    return keel_buffer_status(out);
}
