#include "cli/probe.h"

#include <string.h>

static void number(keel_buffer_t *out, const char *name, int64_t value) {
    cli_field(out, name);
    if (value < 0)
        keel_buffer_text(out, "null");
    else
        keel_buffer_format(out, "%lld", (long long)value);
}

static void open_field(keel_buffer_t *out, const char *name, char bracket) {
    cli_field(out, name);
    keel_buffer_byte(out, (uint8_t)bracket);
}

static void next_object(keel_buffer_t *out, bool is_first) {
    keel_buffer_text(out, is_first ? "{" : ", {");
}

static void write_plugin(const keel_probe_t *probe, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX];
    open_field(out, "plugin", '{');
    cli_field_text(out, "path", probe->plugin);
    if (*probe->wraps) cli_field_text(out, "wraps", probe->wraps);
    if (probe->is_there) cli_field_number(out, "size", probe->size);
    keel_digest_hex(&probe->build, hex);
    if (probe->build_known) cli_field_text(out, "build", hex);
    if (*probe->wheel) cli_field_text(out, "wheel", probe->wheel);
    if (probe->recorded_size_known) cli_field_number(out, "recorded_size", probe->recorded_size);
    if (probe->api_known) {
        cli_field_number(out, "api_major", (uint64_t)probe->api_major);
        cli_field_number(out, "api_minor", (uint64_t)probe->api_minor);
        cli_field_text(out, "attributes", probe->attributes);
    }
    if (*probe->platform) {
        cli_field_text(out, "platform", probe->platform);
        cli_field_text(out, "platform_version", probe->platform_version);
    }
    open_field(out, "extensions", '[');
    for (size_t i = 0; i < probe->extension_count; ++i) {
        next_object(out, !i);
        number(out, "type", probe->extensions[i].type);
        cli_field_text(out, "name", probe->extensions[i].name);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_text(out, "]}");
}

static void write_steps(const keel_probe_t *probe, keel_buffer_t *out) {
    open_field(out, "steps", '{');
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        open_field(out, keel_probe_step_name((keel_probe_step_t)i), '{');
        cli_field_text(out, "state", keel_probe_state_name(outcome->state));
        cli_field(out, "seconds");
        keel_buffer_format(out, "%.6f", keel_seconds(outcome->nanoseconds));
        if (*outcome->code) cli_field_text(out, "code", outcome->code);
        if (*outcome->message) cli_field_text(out, "message", outcome->message);
        if (*outcome->said) cli_field_text(out, "stderr", outcome->said);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, '}');
}

static void write_devices(const keel_probe_t *probe, keel_buffer_t *out) {
    open_field(out, "devices", '[');
    for (size_t i = 0; i < probe->device_count; ++i) {
        const keel_probe_device_t *device = &probe->devices[i];
        next_object(out, !i);
        cli_field_text(out, "name", device->name);
        cli_field_text(out, "kind", device->kind);
        number(out, "id", device->id);
        number(out, "process", device->process);
        number(out, "hardware", device->hardware);
        cli_field_text(out, "text", device->text);
        open_field(out, "memory", '{');
        if (device->memory_known) {
            number(out, "in_use", device->in_use);
            number(out, "peak", device->peak);
            number(out, "limit", device->limit);
        } else {
            cli_field_text(out, "refusal", device->memory_refusal);
        }
        keel_buffer_text(out, "}}");
    }
    keel_buffer_byte(out, ']');
    cli_field_number(out, "addressable_devices", probe->addressable_count);
    cli_field_number(out, "all_devices", probe->global_count);
}

static void write_key(const keel_probe_t *probe, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX];
    if (!probe->key_known) return;
    open_field(out, "key", '{');
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        keel_component_t component = (keel_component_t)i;
        // Those belong to a program.
        if (component == KEEL_COMPONENT_PROGRAM || component == KEEL_COMPONENT_OPTIONS ||
            component == KEEL_COMPONENT_DEVICE_ASSIGNMENT)
            continue;
        keel_digest_hex(&probe->key.components[i], hex);
        open_field(out, keel_component_name(component), '{');
        cli_field_text(out, "digest", hex);
        cli_field_text(out, "value", probe->key.values[i]);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, '}');
}

static void write_structs(const keel_probe_t *probe, keel_buffer_t *out) {
    open_field(out, "structs", '[');
    for (size_t i = 0; i < probe->struct_count; ++i) {
        const keel_probe_struct_t *at = &probe->structs[i];
        next_object(out, !i);
        cli_field_text(out, "name", at->name);
        cli_field_number(out, "plugin", at->wanted);
        cli_field_number(out, "keel", at->header);
#define CLIENT(client, minor, other, size)                                                         \
    if (strcmp(at->name, other) == 0) cli_field_number(out, client, size);
        KEEL_PROBE_CLIENTS(CLIENT)
#undef CLIENT
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void write_settings(const cli_probed_t *probed, keel_buffer_t *out) {
    if (!probed->settings_known) return;
    open_field(out, "settings", '{');
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &probed->settings.values[i];
        open_field(out, keel_setting_facts((keel_setting_t)i)->key, '{');
        cli_field_text(out, "value", value->text);
        cli_field_text(out, "origin", keel_origin_name(value->origin));
        cli_field_text(out, "where", value->where);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, '}');
}

static void write_findings(const keel_probe_t *probe, keel_buffer_t *out) {
    open_field(out, "findings", '[');
    for (size_t i = 0; i < probe->finding_count; ++i) {
        const keel_probe_finding_t *finding = &probe->findings[i];
        next_object(out, !i);
        cli_field_text(out, "label", keel_probe_label_name(finding->label));
        cli_field_text(out, "makes_it", keel_probe_verdict_name(finding->weight));
        cli_field_text(out, "text", finding->text);
        cli_field_text(out, "next", finding->next);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void write_programs(const keel_bundle_changes_t *changes, keel_buffer_t *out) {
    bool is_first = true;
    open_field(out, "programs_may_differ", '[');
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        if (!cli_probe_makes_programs(change)) continue;
        next_object(out, is_first);
        is_first = false;
        cli_field_text(out, "name", change->name);
        if (change->old_value) cli_field_text(out, "there", change->old_value);
        if (change->new_value) cli_field_text(out, "here", change->new_value);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void write_fit(const cli_probed_t *probed, keel_buffer_t *out) {
    bool is_first = true;
    if (!probed->other) return;
    open_field(out, "compare", '{');
    cli_field_text(out, "with", probed->other);
    cli_field_true(out, "would_hit", probed->fit.hits);
    open_field(out, "differs", '[');
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!probed->fit.differs[i]) continue;
        if (!is_first) keel_buffer_text(out, ", ");
        keel_buffer_json_str(out, keel_str(keel_component_name((keel_component_t)i)));
        is_first = false;
    }
    keel_buffer_byte(out, ']');
    open_field(out, "fields", '[');
    for (size_t i = 0; i < probed->fit.fields.root_count; ++i) {
        const keel_difference_t *field = &probed->fit.fields.roots[i];
        next_object(out, !i);
        cli_field_text(out, "name", field->subject);
        cli_field_text(out, "there", field->old_value);
        cli_field_text(out, "here", field->new_value);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
    open_field(out, "blocked_by", '[');
    for (size_t i = 0; i < probed->fit.block_count; ++i) {
        if (i) keel_buffer_text(out, ", ");
        keel_buffer_json_str(out, keel_str(probed->fit.blocks[i]));
    }
    keel_buffer_byte(out, ']');
    write_programs(&probed->changes, out);
    keel_buffer_byte(out, '}');
}

void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_t *probe = &probed->probe;
    keel_buffer_byte(out, '{');
    cli_field_number(out, "probe", 1); // the form of this JSON
    cli_field_text(out, "keel", KEEL_VERSION);
    cli_field_text(out, "verdict", keel_probe_verdict_name(probe->verdict));
    cli_field_true(out, "fast", probe->fast);
    write_plugin(probe, out);
    write_steps(probe, out);
    if (*probe->topology) cli_field_text(out, "compiled_for", probe->topology);
    write_devices(probe, out);
    write_key(probe, out);
    write_structs(probe, out);
    write_settings(probed, out);
    write_findings(probe, out);
    write_fit(probed, out);
    if (probed->bundle_known) {
        cli_field(out, "bundle");
        keel_bundle_json(&probe->bundle, out);
    }
    keel_buffer_byte(out, '}');
}
