#include "cli/cli.h"
#include "text/write.h"

static void origin_text(const keel_setting_value_t *value, keel_buffer_t *out) {
    keel_buffer_text(out, keel_origin_name(value->origin));
    if (*value->where) keel_buffer_format(out, " %s", value->where);
}

// JAX's own CPU client is no plugin.
static bool is_unused_by_jax(const keel_settings_t *settings, keel_setting_t setting) {
    return setting == KEEL_SETTING_PLUGIN &&
           settings->values[setting].origin == KEEL_ORIGIN_DEFAULT &&
           strcmp(keel_settings_text(settings, KEEL_SETTING_JAX_CPU), "own") == 0;
}

static void value_text(const char *text, size_t width, keel_buffer_t *out) {
    keel_write_foreign(out, text);
    for (size_t length = strlen(text); length < width; ++length)
        keel_buffer_byte(out, ' ');
}

static void print_text(const keel_settings_t *settings, keel_buffer_t *out) {
    size_t width = 0;
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        size_t length = strlen(settings->values[i].text);
        if (length > width && length <= 48) width = length;
    }
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &settings->values[i];
        keel_buffer_format(out, "%-12s = ", keel_setting_facts((keel_setting_t)i)->key);
        value_text(value->text, width, out);
        keel_buffer_text(out, "  # ");
        origin_text(value, out);
        if (is_unused_by_jax(settings, (keel_setting_t)i))
            keel_buffer_text(out, "; JAX on a CPU uses its own client instead (jax_cpu)");
        keel_buffer_byte(out, '\n');
    }
}

static void print_json(const keel_settings_t *settings, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &settings->values[i];
        keel_json_object(&json, keel_setting_facts((keel_setting_t)i)->key);
        keel_json_string(&json, "value", value->text);
        keel_json_string(&json, "origin", keel_origin_name(value->origin));
        keel_json_string(&json, "where", value->where);
        keel_json_end_object(&json);
    }
    keel_json_string(&json, "config_file", settings->config_file);
    keel_json_end_object(&json);
}

static const char details[] =
    "Each line is `key = value  # origin`. The origin is default, file with the file and line,\n"
    "environment with the variable, or flag. The output is a valid config file.\n";

int cli_config(cli_call_t *call) {
    bool json = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        cli_setting(call, (keel_setting_t)i);
    if (!cli_parse(call, 0, 0, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    (json ? print_json : print_text)(&settings, &out);
    keel_settings_deinitialize(&settings);
    return cli_answer(&out);
}
