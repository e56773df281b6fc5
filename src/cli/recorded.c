// How a recorded run set its client up: the options that the client was made with, and XLA's flags.
// Both are parts of keys, so `keel aot` sets itself up in the same way.
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/recorded.h"
#include "journal/journal.h"

enum { MOST_OPTIONS = 64, MOST_NUMBERS = 64 };

void cli_recorded_initialize(cli_recorded_t *recorded) {
    *recorded = (cli_recorded_t){.count = 0};
    keel_arena_initialize(&recorded->arena, 0);
}

void cli_recorded_deinitialize(cli_recorded_t *recorded) {
    keel_free(recorded->handlers);
    keel_arena_deinitialize(&recorded->arena);
}

static keel_status_t keep(cli_recorded_t *recorded, keel_str_t text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&recorded->arena, text, &kept));
    *out = kept.data;
    return NULL;
}

// ---- values, as keel_backend_read writes them --------------------------------------------------

// Texts of printable ASCII, in which only a quote and a backslash are escaped.
static keel_status_t read_text(cli_recorded_t *recorded, keel_str_t value, PJRT_NamedValue *out) {
    char text[512];
    size_t size = 0;
    if (value.size < 2 || value.size > sizeof text || value.data[value.size - 1] != '"')
        return keel_status_make(KEEL_UNSUPPORTED, "no text");
    for (size_t i = 1; i < value.size - 1; ++i) {
        i += value.data[i] == '\\';
        if (i == value.size - 1) return keel_status_make(KEEL_UNSUPPORTED, "no text");
        text[size++] = value.data[i];
    }
    out->type = PJRT_NamedValue_kString;
    out->value_size = size;
    return keep(recorded, (keel_str_t){text, size}, &out->string_value);
}

// "2,4,1": a list; "4": a number.
static keel_status_t read_numbers(cli_recorded_t *recorded, keel_str_t value,
                                  PJRT_NamedValue *out) {
    char text[512], *at = text;
    void *memory;
    size_t count = 0;
    snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(value));
    KEEL_TRY(keel_arena_array(&recorded->arena, MOST_NUMBERS, sizeof(int64_t), &memory));
    int64_t *numbers = memory;
    for (char *end; count < MOST_NUMBERS; at = end + 1) {
        numbers[count++] = strtoll(at, &end, 10);
        bool is_last = !*end;
        if (end == at || (!is_last && *end != ','))
            return keel_status_make(KEEL_UNSUPPORTED, "no number");
        if (!is_last) continue;
        out->type = count == 1 ? PJRT_NamedValue_kInt64 : PJRT_NamedValue_kInt64List;
        out->value_size = count;
        if (count == 1)
            out->int64_value = numbers[0];
        else
            out->int64_array_value = numbers;
        return NULL;
    }
    return keel_status_make(KEEL_UNSUPPORTED, "too many numbers");
}

// "0x1p-1"
static bool read_float(keel_str_t value, PJRT_NamedValue *out) {
    char text[64], *end;
    bool is_hex = value.size < sizeof text && memchr(value.data, 'x', value.size);
    if (!is_hex) return false;
    snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(value));
    out->type = PJRT_NamedValue_kFloat;
    out->float_value = strtof(text, &end);
    return !*end;
}

static keel_status_t read_value(cli_recorded_t *recorded, keel_str_t value, PJRT_NamedValue *out) {
    out->value_size = 1;
    out->type = PJRT_NamedValue_kBool;
    out->bool_value = keel_str_is(value, "true");
    if (out->bool_value || keel_str_is(value, "false") || read_float(value, out)) return NULL;
    if (value.size && *value.data == '"') return read_text(recorded, value, out);
    return read_numbers(recorded, value, out);
}

static keel_status_t read_option(cli_recorded_t *recorded, keel_str_t line) {
    const char *equals = memchr(line.data, '=', line.size);
    if (!equals || recorded->count == MOST_OPTIONS)
        return keel_status_make(KEEL_UNSUPPORTED, "option %.*s", KEEL_STR_ARGS(line));
    size_t name = (size_t)(equals - line.data);
    PJRT_NamedValue *out = &recorded->options[recorded->count];
    *out = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE, .name_size = name};
    KEEL_TRY(keep(recorded, (keel_str_t){line.data, name}, &out->name));
    keel_status_t status =
        read_value(recorded, (keel_str_t){equals + 1, line.size - name - 1}, out);
    if (!status) ++recorded->count;
    return keel_status_annotate(status, "option %.*s", KEEL_STR_ARGS(line));
}

static keel_status_t read_options(cli_recorded_t *recorded, const char *text) {
    keel_str_t rest = keel_str(text), line;
    void *memory;
    KEEL_TRY(keel_arena_array(&recorded->arena, MOST_OPTIONS, sizeof *recorded->options, &memory));
    recorded->options = memory;
    while (keel_str_line(&rest, &line))
        if (line.size) KEEL_TRY(read_option(recorded, line));
    return NULL;
}

// ---- events ------------------------------------------------------------------------------------

static const char *text_in(const json_t *event, const char *object, const char *name) {
    const char *text = json_string_value(json_object_get(json_object_get(event, object), name));
    return text ? text : "";
}

// Flags that name files have XLA write them, or run what is there.
static bool is_harmless(const cli_recorded_t *recorded, const char *name, const char *value) {
    if (!recorded->is_foreign || getenv(name)) return true;
    if (!strchr(value, '/') && !keel_key_dumps_of_flags(value)) return true;
    cli_say("%s of the pack names files and is not used; set it, or replay with --trust", name);
    return false;
}

// What the environment has already is the user's wish.
static void set_flags(const cli_recorded_t *recorded, const json_t *event) {
    static const char *const names[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *value = text_in(event, "flags", names[i]);
        if (*value && is_harmless(recorded, names[i], value)) setenv(names[i], value, 0);
    }
}

keel_status_t cli_recorded_check_options(const cli_recorded_t *recorded, keel_bytes_t options) {
    keel_dumps_t dumps;
    keel_key_dumps_of_options(options, &dumps);
    const char *flag = keel_dumps_asked(&dumps);
    if (!recorded->is_foreign || !flag) return NULL;
    return keel_status_make(
        KEEL_REFUSED,
        "its compile options make XLA write files (%s), and it comes from a pack; "
        "`keel replay --trust` compiles it",
        flag);
}

// The client is a Python, or a program that has no such functions.
static keel_status_t take_python(cli_recorded_t *recorded, const json_t *event) {
    const char *program = json_string_value(json_array_get(json_object_get(event, "argv"), 0));
    bool is_python = program && strchr(program, '/') && strstr(program, "python");
    if (recorded->is_foreign || recorded->python || !is_python || !keel_is_file(program))
        return NULL;
    return keep(recorded, keel_str(program), &recorded->python);
}

keel_status_t cli_recorded_add(cli_recorded_t *recorded, const json_t *event,
                               const char *platform) {
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "handler") == 0) return cli_recorded_take_handler(recorded, event, platform);
    if (strcmp(kind, "start") != 0) return NULL;
    KEEL_TRY(take_python(recorded, event));
    if (recorded->is_known || strcmp(text_in(event, "plugin", "platform"), platform) != 0)
        return NULL;
    recorded->is_known = true;
    set_flags(recorded, event);
    const char *plugin = text_in(event, "plugin", "path");
    if (*plugin && !recorded->is_foreign && !keel_plugin_is_jaxs_own(plugin))
        KEEL_TRY(keep(recorded, keel_str(plugin), &recorded->plugin));
    return keel_status_annotate(read_options(recorded, text_in(event, "values", "create options")),
                                "the options of the run's client");
}

keel_status_t cli_recorded_set_number(cli_recorded_t *recorded, const char *name, int64_t value) {
    size_t at = 0;
    while (at < recorded->count &&
           !keel_str_is((keel_str_t){recorded->options[at].name, recorded->options[at].name_size},
                        name))
        ++at;
    if (!recorded->options) KEEL_TRY(read_options(recorded, ""));
    if (at == MOST_OPTIONS) return keel_status_make(KEEL_UNSUPPORTED, "too many options");
    recorded->options[at] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                              .name = name,
                                              .name_size = strlen(name),
                                              .type = PJRT_NamedValue_kInt64,
                                              .int64_value = value,
                                              .value_size = 1};
    if (at == recorded->count) ++recorded->count;
    return NULL;
}
