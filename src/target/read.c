// Targets from JSON: a description, or what `keel probe --json` printed, which contains one. The
// reader is strict: a misspelled field would otherwise be a default that nobody chose.
#include <float.h>

#include <jansson.h>

#include "target/internal.h"

// Where a message says it found something.
typedef struct reader_t {
    const char *from;
    keel_target_t *out;
} reader_t;

static keel_status_t wrong(const reader_t *reader, const char *field, const char *what) {
    return keel_status_make(KEEL_INVALID,
                            "%s: %s %s; `keel rehearse --describe TARGET` prints a "
                            "target to start from",
                            reader->from, field, what);
}

// ---- fields ------------------------------------------------------------------------------------

static keel_status_t read_text(const reader_t *reader, const json_t *value, const char *field,
                               const char **out) {
    if (!json_is_string(value)) return wrong(reader, field, "is not a text");
    keel_str_t text = {json_string_value(value), json_string_length(value)};
    if (memchr(text.data, 0, text.size)) return wrong(reader, field, "contains a zero byte");
    return target_keep(reader->out, text, out);
}

static keel_status_t read_number(const reader_t *reader, const json_t *value, const char *field,
                                 uint64_t least, uint64_t most, uint64_t *out) {
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value)) return wrong(reader, field, "is not a whole number");
    if (number < 0 || (uint64_t)number < least || (uint64_t)number > most)
        return wrong(reader, field, "is out of range");
    *out = (uint64_t)number;
    return NULL;
}

static keel_status_t read_numbers(const reader_t *reader, const json_t *list, const char *field,
                                  PJRT_NamedValue *out, int64_t *numbers) {
    size_t count = json_array_size(list);
    if (count > TARGET_VALUES) return wrong(reader, field, "has too many numbers");
    for (size_t i = 0; i < count; ++i) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_integer(number))
            return wrong(reader, field, "is a list of something else than whole numbers");
        numbers[i] = json_integer_value(number);
    }
    out->type = PJRT_NamedValue_kInt64List;
    out->int64_array_value = numbers;
    out->value_size = count;
    return NULL;
}

static keel_status_t read_value(const reader_t *reader, const char *name, const json_t *value,
                                keel_target_values_t *out) {
    int64_t numbers[TARGET_VALUES];
    PJRT_NamedValue made = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                            .name = name,
                            .name_size = strlen(name),
                            .value_size = 1};
    switch (json_typeof(value)) {
        case JSON_STRING:
            made.type = PJRT_NamedValue_kString;
            made.string_value = json_string_value(value);
            made.value_size = json_string_length(value);
            break;
        case JSON_INTEGER:
            made.type = PJRT_NamedValue_kInt64;
            made.int64_value = json_integer_value(value);
            break;
        case JSON_REAL:
            made.type = PJRT_NamedValue_kFloat;
            made.float_value = (float)json_real_value(value);
            if (made.float_value > FLT_MAX || made.float_value < -FLT_MAX)
                return wrong(reader, name, "is out of range");
            break;
        case JSON_TRUE:
        case JSON_FALSE:
            made.type = PJRT_NamedValue_kBool;
            made.bool_value = json_is_true(value);
            break;
        case JSON_ARRAY:
            KEEL_TRY(read_numbers(reader, value, name, &made, numbers));
            break;
        default:
            return wrong(reader, name,
                         "is neither a text, a number, a list of numbers nor true or false");
    }
    return target_add_value(reader->out, out, &made);
}

static keel_status_t read_values(const reader_t *reader, json_t *object, const char *field,
                                 keel_target_values_t *out) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) return wrong(reader, field, "is not an object");
    json_object_foreach(object, name, value) KEEL_TRY(read_value(reader, name, value, out));
    return NULL;
}

// ---- the parts ---------------------------------------------------------------------------------

static keel_status_t read_serialized(const reader_t *reader, const json_t *value) {
    if (!json_is_string(value)) return wrong(reader, "topology.serialized", "is not a text");
    keel_str_t hex = {json_string_value(value), json_string_length(value)};
    void *bytes;
    KEEL_TRY(keel_arena_alloc(&reader->out->arena, hex.size / 2 + 1, &bytes));
    if (!hex.size || hex.size % 2 || !keel_unhex(hex, bytes, hex.size / 2))
        return wrong(reader, "topology.serialized", "is not bytes in hex");
    reader->out->topology = keel_bytes(bytes, hex.size / 2);
    reader->out->topology_name = "";
    return NULL;
}

// {"name": ..., "options": {...}} or {"serialized": ...}.
static keel_status_t read_topology(const reader_t *reader, json_t *object) {
    json_t *serialized = json_object_get(object, "serialized");
    if (serialized && json_object_size(object) == 1) return read_serialized(reader, serialized);
    json_t *name = json_object_get(object, "name"), *options = json_object_get(object, "options");
    if (!name || !options || json_object_size(object) != 2)
        return wrong(reader, "topology", "has neither just a name and options nor just serialized");
    KEEL_TRY(read_text(reader, name, "topology.name", &reader->out->topology_name));
    return read_values(reader, options, "topology.options", &reader->out->topology_options);
}

static keel_status_t read_environment(const reader_t *reader, json_t *object) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) return wrong(reader, "environment", "is not an object");
    json_object_foreach(object, name, value) {
        const char *text;
        KEEL_TRY(read_text(reader, value, name, &text));
        if (!*name || strchr(name, '='))
            return wrong(reader, name, "is not the name of a variable");
        KEEL_TRY(target_add_variable(reader->out, name, text));
    }
    return NULL;
}

static keel_status_t read_platform(const reader_t *reader, const json_t *value) {
    const char *name = json_string_value(value);
    for (int i = 0; name && i < KEEL_TARGET_PLATFORM_COUNT; ++i) {
        if (strcmp(name, keel_target_platform_names[i]) != 0) continue;
        reader->out->platform = (keel_target_platform_t)i;
        return NULL;
    }
    return wrong(reader, "platform", "is none of cpu, cuda, tpu");
}

static keel_status_t read_format(const reader_t *reader, const json_t *value) {
    if (json_is_integer(value) && json_integer_value(value) == TARGET_FORMAT) return NULL;
    return wrong(reader, "target", "is not 1, the version of the format that this Keel reads");
}

static keel_status_t read_count(const reader_t *reader, const json_t *value, const char *field,
                                uint32_t *out) {
    uint64_t number = 0;
    KEEL_TRY(read_number(reader, value, field, 1, TARGET_DEVICES, &number));
    *out = (uint32_t)number;
    return NULL;
}

// ---- the whole ---------------------------------------------------------------------------------

// field, how it is read
#define FIELDS(X)                                                                                  \
    X(target, read_format(reader, value))                                                          \
    X(name, read_text(reader, value, "name", &out->name))                                          \
    X(platform, read_platform(reader, value))                                                      \
    X(device_kind, read_text(reader, value, "device_kind", &out->device_kind))                     \
    X(devices, read_count(reader, value, "devices", &out->device_count))                           \
    X(processes, read_count(reader, value, "processes", &out->process_count))                      \
    X(memory, read_number(reader, value, "memory", 0, INT64_MAX, &out->memory))                    \
    X(memory_limit, read_number(reader, value, "memory_limit", 0, INT64_MAX, &out->memory_limit))  \
    X(topology, read_topology(reader, value))                                                      \
    X(create_options, read_values(reader, value, "create_options", &out->create_options))          \
    X(environment, read_environment(reader, value))                                                \
    X(platform_version, read_text(reader, value, "platform_version", &out->platform_version))      \
    X(build, read_text(reader, value, "build", &out->build))

static keel_status_t check_names(const reader_t *reader, json_t *object) {
    static const char *const names[] = {
#define NAME(name, read) #name,
        FIELDS(NAME)
#undef NAME
            NULL};
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        if (!keel_str_is_one_of(keel_str(name), names))
            return wrong(reader, name, "is not a field of a target");
    }
    for (const char *const *one = names; *one; ++one)
        if (!json_object_get(object, *one)) return wrong(reader, *one, "is missing");
    return NULL;
}

static keel_status_t read_target(const reader_t *reader, json_t *object) {
    keel_target_t *out = reader->out;
    if (!json_is_object(object)) return wrong(reader, "it", "is not an object");
    KEEL_TRY(check_names(reader, object));
#define READ(name, read)                                                                           \
    {                                                                                              \
        json_t *value = json_object_get(object, #name);                                            \
        KEEL_TRY(read);                                                                            \
    }
    FIELDS(READ)
#undef READ
    if (out->device_count % out->process_count)
        return wrong(reader, "devices", "is not a multiple of processes");
    return out->platform == KEEL_TARGET_CPU ? target_count_processors(out) : NULL;
}

// A probe's target is beside what it found out.
static keel_status_t read_any(const reader_t *reader, json_t *json) {
    json_t *target = json_object_get(json, "target");
    if (!json_object_get(json, "probe")) return read_target(reader, json);
    if (target) return read_target(reader, target);
    return keel_status_make(KEEL_INVALID,
                            "%s: this probe found no devices that could be a target; run `keel "
                            "probe --json` again where they are",
                            reader->from);
}

keel_status_t keel_target_parse(const char *from, keel_bytes_t bytes, keel_target_t *out) {
    json_error_t error;
    *out = (keel_target_t){.name = from};
    keel_arena_initialize(&out->arena, 0);
    const reader_t reader = {from, out};
    json_t *json = json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        return keel_status_make(KEEL_INVALID, "%s: line %d: %s; give the JSON of a target", from,
                                error.line, error.text);
    keel_status_t status = read_any(&reader, json);
    json_decref(json);
    return status;
}
