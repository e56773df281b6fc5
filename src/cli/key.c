#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "key/key.h"
#include "pjrt/pjrt.h"
#include "read/read.h"

// What is known about a program's key without its backend.
typedef struct keyed_t {
    cli_program_t file;
    keel_key_t key;
    bool known[KEEL_COMPONENT_COUNT];
    char *name; // of the module
    size_t ops;
    const char *format;
    char unread[256]; // why it is keyed by its bytes; "" if it was read
    keel_cacheable_t cacheable;
    uint8_t *options; // the compile options; NULL if none are given
    size_t options_size;
} keyed_t;

static void close_side(keyed_t *side) {
    cli_program_close(&side->file);
    keel_key_deinitialize(&side->key);
    keel_free(side->name);
    keel_free(side->options);
    *side = (keyed_t){0};
}

// ---- components --------------------------------------------------------------------------------

static keel_status_t set_component(keyed_t *side, keel_component_t component,
                                   keel_bytes_t canonical, keel_str_t value) {
    side->known[component] = true;
    return keel_key_set(&side->key, component, canonical, value);
}

static keel_status_t set_buffer(keyed_t *side, keel_component_t component, keel_buffer_t *buffer,
                                keel_status_t status) {
    if (!status) status = keel_buffer_status(buffer);
    if (!status)
        status = set_component(side, component, keel_buffer_bytes(buffer),
                               keel_bytes_str(keel_buffer_bytes(buffer)));
    keel_buffer_deinitialize(buffer);
    return status;
}

static keel_status_t set_read(keyed_t *side, const keel_program_t *program, const char *vouched) {
    keel_digest_t digest;
    KEEL_TRY(
        keel_key_program_under(program, keel_bytes(side->options, side->options_size), &digest));
    keel_key_cacheable(program, vouched, &side->cacheable);
    side->ops = keel_program_op_count(program);
    KEEL_TRY(keel_strdup(keel_program_str(program, program->name), &side->name));
    return set_component(side, KEEL_COMPONENT_PROGRAM, keel_bytes(digest.bytes, KEEL_DIGEST_SIZE),
                         KEEL_STR(""));
}

// As the engine does with a program that no reader understands.
static keel_status_t set_unread(keyed_t *side) {
    keel_digest_t digest = keel_digest(keel_bytes(side->file.data, side->file.size));
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_format(&canonical, "bytes of format %s: ", side->format);
    keel_buffer_append(&canonical, digest.bytes, KEEL_DIGEST_SIZE);
    keel_status_t status = keel_buffer_status(&canonical);
    if (!status)
        status = set_component(side, KEEL_COMPONENT_PROGRAM, keel_buffer_bytes(&canonical),
                               KEEL_STR("keyed by its bytes"));
    keel_buffer_deinitialize(&canonical);
    return status;
}

static keel_status_t set_program(keyed_t *side, const char *vouched) {
    keel_bytes_t bytes = keel_bytes(side->file.data, side->file.size);
    side->format = keel_read_is_mlir(bytes) ? "mlir" : "hlo";
    keel_program_t program;
    keel_program_initialize(&program);
    keel_status_t status = keel_read(bytes, &program);
    keel_code_t code = keel_status_code(status);
    if (!status) {
        status = set_read(side, &program, vouched);
    } else if (code == KEEL_UNSUPPORTED && keel_read_is_mlir(bytes)) {
        snprintf(side->unread, sizeof side->unread, "%s", keel_status_message(status));
        keel_status_ignore(status);
        status = set_unread(side);
    } else if (code == KEEL_CORRUPT || code == KEEL_UNSUPPORTED) {
        status = cli_program_explain(&side->file, status);
    }
    keel_program_deinitialize(&program);
    return status;
}

static keel_status_t set_plugin(keyed_t *side, const keel_settings_t *settings) {
    const char *text = keel_settings_text(settings, KEEL_SETTING_PLUGIN);
    if (!*text) return NULL;
    char *path, *folder = NULL;
    KEEL_TRY(keel_plugin_find(text, NULL, &path));
    keel_digest_t build;
    keel_status_t status = cli_digests_folder(settings, &folder);
    if (!status) status = keel_key_plugin_build(path, folder, &build);
    if (!status) {
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&build, hex);
        status = set_component(side, KEEL_COMPONENT_PLUGIN_BUILD,
                               keel_bytes(build.bytes, KEEL_DIGEST_SIZE), keel_str(hex));
    }
    keel_free(folder);
    keel_free(path);
    return status;
}

// The components that come from this machine and environment.
static keel_status_t set_surroundings(keyed_t *side, const keel_settings_t *settings) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    KEEL_TRY(set_buffer(side, KEEL_COMPONENT_XLA_FLAGS, &text,
                        keel_key_flags(getenv("XLA_FLAGS"), &text)));
    keel_buffer_initialize(&text, 0);
    KEEL_TRY(set_buffer(side, KEEL_COMPONENT_LIBTPU_FLAGS, &text,
                        keel_key_flags(getenv("LIBTPU_INIT_ARGS"), &text)));
    keel_buffer_initialize(&text, 0);
    KEEL_TRY(set_buffer(side, KEEL_COMPONENT_CPU, &text, keel_key_cpu(1, &text)));
    return set_plugin(side, settings);
}

// ---- printing ----------------------------------------------------------------------------------

static void digest_text(const keel_digest_t *digest, size_t digits, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    keel_buffer_format(out, "%.*s", (int)digits, hex);
}

// On one line, cut if it is long.
static void value_text(const char *value, keel_buffer_t *out) {
    enum { LONGEST = 120 };
    size_t length = strlen(value);
    while (length && value[length - 1] == '\n')
        --length;
    for (size_t i = 0; i < length && i < LONGEST; ++i) {
        unsigned char c = (unsigned char)value[i];
        keel_buffer_byte(out, c == '\n' ? ' ' : c < 0x20 || c == 0x7f ? '?' : c);
    }
    if (length > LONGEST) keel_buffer_text(out, "...");
}

static void side_text(const keyed_t *side, keel_buffer_t *out) {
    keel_buffer_format(out, "%s: %s, %zu bytes", side->file.label, side->format, side->file.size);
    if (side->name) {
        keel_buffer_format(out, ", %zu operations, module ", side->ops);
        value_text(side->name, out);
    }
    keel_buffer_byte(out, '\n');
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        keel_buffer_format(out, "  %-18s", keel_component_name((keel_component_t)i));
        if (side->known[i]) {
            digest_text(&side->key.components[i], 16, out);
            keel_buffer_text(out, "  ");
            const char *value = side->key.values[i];
            value_text(value ? value : "", out);
        } else {
            keel_buffer_text(out,
                             i == KEEL_COMPONENT_OPTIONS || i == KEEL_COMPONENT_DEVICE_ASSIGNMENT
                                 ? "-                 give --options"
                                 : "-                 known only to a running client");
        }
        while (out->size && out->data[out->size - 1] == ' ')
            --out->size;
        keel_buffer_byte(out, '\n');
    }
    if (*side->unread) {
        keel_buffer_text(out, "  keyed by its bytes: ");
        value_text(side->unread, out);
        keel_buffer_byte(out, '\n');
    } else {
        keel_buffer_format(out, "  cacheable         %s", side->cacheable.yes ? "yes\n" : "no: ");
        if (!side->cacheable.yes) {
            value_text(side->cacheable.reason, out);
            keel_buffer_byte(out, '\n');
        }
    }
}

// Shows debug options by name, since there is room here.
static void value_json(const char *name, const char *value, keel_json_t *json) {
    keel_buffer_t spelled;
    keel_buffer_initialize(&spelled, 0);
    keel_status_t status = keel_key_spell_out(keel_str(value), &spelled);
    keel_json_string(json, name, status ? value : keel_buffer_cstr(&spelled));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&spelled);
}

static void side_json(const char *name, const keyed_t *side, keel_json_t *json) {
    keel_json_object(json, name);
    keel_json_string(json, "file", side->file.label);
    keel_json_string(json, "format", side->format);
    keel_json_string(json, "name", side->name ? side->name : "");
    keel_json_unsigned(json, "operations", side->ops);
    keel_json_unsigned(json, "bytes", side->file.size);
    keel_json_bool(json, "understood", !*side->unread);
    if (*side->unread) {
        keel_json_string(json, "why", side->unread);
    } else {
        keel_json_bool(json, "cacheable", side->cacheable.yes);
        if (!side->cacheable.yes) keel_json_string(json, "reason", side->cacheable.reason);
    }
    keel_json_object(json, "components");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *component = keel_component_name((keel_component_t)i);
        if (side->known[i])
            keel_json_digest(json, component, &side->key.components[i]);
        else
            keel_json_null(json, component);
    }
    keel_json_end_object(json);
    keel_json_object(json, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (side->known[i] && side->key.values[i] && *side->key.values[i])
            value_json(keel_component_name((keel_component_t)i), side->key.values[i], json);
    keel_json_end_object(json);
    keel_json_end_object(json);
}

// ---- comparing ---------------------------------------------------------------------------------

static bool differs(const keyed_t *sides, int component) {
    return sides[0].known[component] && sides[1].known[component] &&
           !keel_digest_equal(&sides[0].key.components[component],
                              &sides[1].key.components[component]);
}

static bool differ(const keyed_t *sides) {
    bool any = false;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        any = any || differs(sides, i);
    return any;
}

static bool is_storable(const keyed_t *side) {
    return *side->unread || side->cacheable.yes;
}

// For two programs that share a key.
static void same_text(const keyed_t *sides, keel_buffer_t *out) {
    const keyed_t *never = !is_storable(&sides[0])   ? &sides[0]
                           : !is_storable(&sides[1]) ? &sides[1]
                                                     : NULL;
    if (never) {
        keel_buffer_text(out, "The programs share a key, but are never stored: ");
        value_text(never->cacheable.reason, out);
    } else {
        keel_buffer_text(
            out, sides[0].options
                     ? "One key: the two share a stored program."
                     : "One key: the two share a stored program if everything else is the same.");
    }
    keel_buffer_byte(out, '\n');
}

static void comparison_text(const keyed_t *sides, keel_buffer_t *out) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!sides[0].known[i] || i == KEEL_COMPONENT_KEY_VERSION) continue;
        keel_buffer_format(out, "  %-18s", keel_component_name((keel_component_t)i));
        digest_text(&sides[0].key.components[i], 16, out);
        if (differs(sides, i)) {
            keel_buffer_text(out, "  differs from  ");
            digest_text(&sides[1].key.components[i], 16, out);
        } else {
            keel_buffer_text(out, "  same");
        }
        keel_buffer_byte(out, '\n');
    }
    if (differ(sides))
        keel_buffer_text(out, "The keys differ.\n");
    else
        same_text(sides, out);
    if (!sides[0].options)
        keel_buffer_text(out,
                         "Only the programs were compared; add compile options with --options.\n");
    for (int i = 0; differ(sides) && i < 2; ++i) {
        if (is_storable(&sides[i])) continue;
        keel_buffer_format(out, "%s is never stored: ", sides[i].file.label);
        value_text(sides[i].cacheable.reason, out);
        keel_buffer_byte(out, '\n');
    }
}

static void comparison_json(const keyed_t *sides, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_bool(json, "same", !differ(sides));
    keel_json_array(json, "differ");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (differs(sides, i))
            keel_json_string(json, NULL, keel_component_name((keel_component_t)i));
    keel_json_end_array(json);
    side_json("a", &sides[0], json);
    side_json("b", &sides[1], json);
    keel_json_end_object(json);
}

// ---- the command -------------------------------------------------------------------------------

static keel_status_t open_side(const cli_call_t *call, int index, const char *options,
                               const keel_settings_t *settings, keyed_t *side) {
    KEEL_TRY(cli_program_open(call->rest[index], keel_settings_text(settings, KEEL_SETTING_RUN_DIR),
                              &side->file));
    if (options) KEEL_TRY(cli_read_file(options, &side->options, &side->options_size));
    KEEL_TRY(set_program(side, keel_settings_text(settings, KEEL_SETTING_CUSTOM_CALLS)));
    if (options) {
        KEEL_TRY(
            cli_key_options(keel_bytes(side->options, side->options_size), 0, options, &side->key));
        side->known[KEEL_COMPONENT_OPTIONS] = side->known[KEEL_COMPONENT_DEVICE_ASSIGNMENT] = true;
    }
    if (call->rest_count == 1) KEEL_TRY(set_surroundings(side, settings));
    side->known[KEEL_COMPONENT_KEY_VERSION] = true;
    return keel_key_finish(&side->key);
}

static keel_status_t open_sides(const cli_call_t *call, const char *options, keyed_t *sides) {
    keel_settings_t settings;
    KEEL_TRY(keel_settings_load(call->flags, &settings));
    keel_status_t status = NULL;
    for (int i = 0; i < call->rest_count && !status; ++i)
        status = open_side(call, i, options, &settings, &sides[i]);
    keel_settings_deinitialize(&settings);
    return status;
}

static const char details[] =
    "With one program, prints the components of its key that are known without a client: those\n"
    "of the program, of compile options if given, and of this machine and environment. With two,\n"
    "says which components differ; the exit code is 1 if any does. FILE - is standard input.\n";

int cli_key(cli_call_t *call) {
    bool json = false;
    const char *options = NULL;
    int code;
    call->details = details;
    cli_text(call, "--options", "FILE", "a serialized CompileOptionsProto", &options);
    cli_switch(call, "--json", "print JSON", &json);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CUSTOM_CALLS);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    if (!cli_parse(call, 1, 2, &code)) return code;
    keyed_t sides[2] = {0};
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = open_sides(call, options, sides);
    bool two = call->rest_count == 2, no = !status && two && differ(sides);
    keel_json_t object = keel_json(&out, KEEL_JSON_SPACED);
    if (!status && two && json)
        comparison_json(sides, &object);
    else if (!status && two)
        comparison_text(sides, &out);
    else if (!status && json)
        side_json(NULL, &sides[0], &object);
    else if (!status)
        side_text(&sides[0], &out);
    close_side(&sides[0]);
    close_side(&sides[1]);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    code = cli_answer(&out);
    return code == CLI_OK && no ? CLI_NO : code;
}
