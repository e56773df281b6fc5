#include <string.h>

#include <jansson.h>

#include "cli/probe.h"

enum { NAME_WIDTH = 14 };

static void begin_row(keel_buffer_t *out, const char *name) {
    keel_buffer_format(out, "  %-*s ", NAME_WIDTH, name);
}

// ---- installed ---------------------------------------------------------------------------------

// One row for each line; none for no text.
static void print_lines(keel_buffer_t *out, const char *name, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length) {
            begin_row(out, name);
            keel_buffer_format(out, "%.*s\n", (int)length, text);
            name = "";
        }
        text += length + (text[length] == '\n');
    }
}

static void print_extensions(const json_t *extensions, keel_buffer_t *out) {
    if (!json_array_size(extensions)) return;
    begin_row(out, "extensions");
    for (size_t i = 0; i < json_array_size(extensions); ++i) {
        const json_t *extension = json_array_get(extensions, i);
        const char *name = keel_probe_text(extension, "name");
        keel_buffer_text(out, i ? ", " : "");
        if (*name)
            keel_buffer_text(out, name);
        else
            keel_buffer_format(out, "type %lld", (long long)keel_probe_number(extension, "type"));
    }
    keel_buffer_byte(out, '\n');
}

static void print_file(const keel_probe_t *probe, const json_t *plugin, keel_buffer_t *out) {
    char size[16];
    const char *build = keel_probe_text(plugin, "build");
    const char *wraps = keel_probe_text(plugin, "wraps");
    const char *wheel = keel_probe_text(plugin, "wheel");
    if (!probe->is_there) return;
    keel_format_size((uint64_t)keel_probe_number(plugin, "size"), size);
    begin_row(out, "file");
    keel_buffer_text(out, size);
    if (*wraps) {
        keel_buffer_byte(out, '\n');
        begin_row(out, "wraps");
        keel_buffer_text(out, wraps);
    }
    keel_buffer_format(out, "%s%.16s\n", *build ? ", digest " : "", build);
    begin_row(out, "wheel");
    keel_buffer_format(out, "%s\n", *wheel ? wheel : "none");
}

static void print_installed(const keel_probe_t *probe, keel_buffer_t *out) {
    const json_t *plugin = keel_probe_facts(probe, "plugin");
    const char *version = keel_probe_text(plugin, "platform_version");
    keel_buffer_text(out, "\ninstalled\n");
    print_lines(out, "plugin", keel_probe_text(plugin, "path"));
    print_file(probe, plugin, out);
    if (keel_probe_number(plugin, "api_major") >= 0) {
        begin_row(out, "PJRT");
        keel_buffer_format(out, "%lld.%lld\n", (long long)keel_probe_number(plugin, "api_major"),
                           (long long)keel_probe_number(plugin, "api_minor"));
    }
    if (*keel_probe_text(plugin, "platform")) {
        begin_row(out, "platform");
        keel_buffer_format(out, "%s, %s\n", keel_probe_text(plugin, "platform"),
                           *version ? version : "no version");
    }
    print_lines(out, "attributes", keel_probe_text(plugin, "attributes"));
    print_extensions(json_object_get(plugin, "extensions"), out);
}

// ---- alive -------------------------------------------------------------------------------------

static const char *wrong_word(keel_probe_state_t state) {
    return state == KEEL_PROBE_FAILED ? "FAILED" : state == KEEL_PROBE_HUNG ? "HUNG" : "DIED";
}

static void print_steps(const keel_probe_t *probe, keel_buffer_t *out) {
    char time[24];
    keel_buffer_text(out, "\nalive\n");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        keel_probe_step_t step = (keel_probe_step_t)i;
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        bool wrong = keel_probe_went_wrong(outcome->state);
        keel_format_seconds(keel_seconds(outcome->nanoseconds), time);
        begin_row(out, keel_probe_step_name(step));
        keel_buffer_format(out, "%9s  ", time);
        if (outcome->state == KEEL_PROBE_OK)
            keel_buffer_format(out, "ok: %s\n", keel_probe_step_sentence(step));
        else if (outcome->state == KEEL_PROBE_SKIPPED)
            keel_buffer_format(out, "skipped: %s\n", outcome->message);
        else
            keel_buffer_format(out, "%s: %s\n", wrong_word(outcome->state), outcome->message);
        if (!wrong || !*outcome->said) continue;
        begin_row(out, "");
        keel_buffer_format(out, "%9s  stderr: %s\n", "", outcome->said);
    }
}

static void print_memory(const json_t *memory, keel_buffer_t *out) {
    static const char *const figures[][2] = {
        {"in use", "in_use"}, {"peak", "peak"}, {"limit", "limit"}};
    if (keel_probe_number(memory, "in_use") < 0) {
        keel_buffer_format(out, "memory unknown: %s\n", keel_probe_text(memory, "refusal"));
        return;
    }
    keel_buffer_text(out, "memory");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; ++i) {
        char size[16];
        int64_t bytes = keel_probe_number(memory, figures[i][1]);
        if (bytes < 0) continue;
        keel_format_size((uint64_t)bytes, size);
        keel_buffer_format(out, "%s %s %s", i ? "," : "", figures[i][0], size);
    }
    keel_buffer_byte(out, '\n');
}

static void print_devices(const keel_probe_t *probe, keel_buffer_t *out) {
    const json_t *devices = keel_probe_facts(probe, "devices");
    size_t count = json_array_size(devices);
    int64_t all = keel_probe_number(probe->facts, "all_devices");
    if (!count) return;
    keel_buffer_text(out, "\ndevices\n");
    for (size_t i = 0; i < count; ++i) {
        const json_t *device = json_array_get(devices, i);
        begin_row(out, keel_probe_text(device, "name"));
        print_memory(json_object_get(device, "memory"), out);
    }
    if (all == (int64_t)count) return;
    begin_row(out, "");
    keel_buffer_format(out, "%zu of %lld devices; the others belong to other processes\n", count,
                       (long long)all);
}

// ---- settings and findings ---------------------------------------------------------------------

static void print_settings(const cli_probed_t *probed, keel_buffer_t *out) {
    static const keel_setting_t shown[] = {KEEL_SETTING_CACHE_DIR, KEEL_SETTING_RUN_DIR,
                                           KEEL_SETTING_MODE};
    if (!probed->settings_known) return;
    keel_buffer_text(out, "\nsettings\n");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; ++i) {
        const keel_setting_value_t *value = &probed->settings.values[shown[i]];
        begin_row(out, keel_setting_facts(shown[i])->key);
        keel_buffer_format(out, "%s  # %s%s%s\n", value->text, keel_origin_name(value->origin),
                           *value->where ? " " : "", value->where);
    }
}

static void print_findings(const keel_probe_t *probe, keel_buffer_t *out) {
    if (!probe->finding_count) return;
    keel_buffer_text(out, "\nfindings\n");
    // The most serious first; equal ones in the order in which they were found.
    for (int weight = KEEL_PROBE_DEAD; weight >= KEEL_PROBE_ALIVE; --weight)
        for (size_t i = 0; i < probe->finding_count; ++i) {
            const keel_probe_finding_t *finding = &probe->findings[i];
            if ((int)finding->weight != weight) continue;
            keel_buffer_format(out, "  %s (%s): %s\n    next: %s\n",
                               keel_probe_label_name(finding->label),
                               weight ? keel_probe_verdict_name(finding->weight) : "good to know",
                               finding->text, finding->next);
        }
}

// True if there is any.
static bool print_programs(const keel_bundle_changes_t *changes, keel_buffer_t *out) {
    bool any = false;
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        if (!cli_probe_makes_programs(change)) continue;
        keel_buffer_format(out, "  programs may differ by %s: there %s, here %s\n", change->name,
                           change->old_value ? change->old_value : "none",
                           change->new_value ? change->new_value : "none");
        any = true;
    }
    return any;
}

static void print_fit(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_fit_t *fit = &probed->fit;
    if (!probed->other) return;
    keel_buffer_format(out, "\ncompared with %s\n", probed->other);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (fit->differs[i])
            keel_buffer_format(out, "  differs: %s\n", keel_component_name((keel_component_t)i));
    for (size_t i = 0; i < fit->fields.root_count; ++i)
        keel_buffer_format(out, "    %s: there %s, here %s\n", fit->fields.roots[i].subject,
                           fit->fields.roots[i].old_value, fit->fields.roots[i].new_value);
    for (size_t i = 0; i < fit->block_count; ++i)
        keel_buffer_format(out, "  %s\n", fit->blocks[i]);
    bool other_programs = print_programs(&probed->changes, out);
    keel_buffer_format(out, "  an entry made here would %sbe a hit there%s\n",
                       fit->hits ? "" : "NOT ",
                       fit->hits && other_programs ? ", for the same program" : "");
}

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_t *probe = &probed->probe;
    bool only_loaded = probe->fast && probe->verdict == KEEL_PROBE_ALIVE;
    keel_buffer_format(out, "%s%s\n", keel_probe_verdict_name(probe->verdict),
                       only_loaded ? ", judging only by loading it (--fast)" : "");
    if (*keel_probe_text(keel_probe_facts(probe, "plugin"), "path")) {
        print_installed(probe, out);
        print_steps(probe, out);
        print_devices(probe, out);
    }
    print_settings(probed, out);
    print_findings(probe, out);
    print_fit(probed, out);
}
