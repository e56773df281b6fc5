#include <inttypes.h>

#include "report/report.h"

// Fields are written by hand: jansson prints a double with 17 digits, which nobody wants to read.

static void name(keel_buffer_t *out, const char *field) {
    uint8_t last = out->size ? out->data[out->size - 1] : 0;
    keel_buffer_format(out, "%s\"%s\": ", last == '{' || last == '[' ? "" : ", ", field);
}

static void text(keel_buffer_t *out, const char *field, const char *value) {
    name(out, field);
    keel_buffer_json_str(out, keel_str(value));
}

static void number(keel_buffer_t *out, const char *field, uint64_t value) {
    name(out, field);
    keel_buffer_format(out, "%" PRIu64, value);
}

static void seconds(keel_buffer_t *out, const char *field, double value) {
    uint64_t micros = value > 0 && value < 1e12 ? (uint64_t)(value * 1e6 + 0.5) : 0;
    name(out, field);
    keel_buffer_format(out, "%" PRIu64 ".%06" PRIu64, micros / 1000000u, micros % 1000000u);
}

static void site(keel_buffer_t *out, const keel_stats_site_t *value) {
    name(out, "site");
    if (!*value->file) {
        keel_buffer_text(out, "null");
        return;
    }
    keel_buffer_byte(out, '{');
    text(out, "file", value->file);
    number(out, "line", value->line);
    text(out, "function", value->function);
    text(out, "shown", value->shown);
    text(out, "called_from", value->call_shown);
    keel_buffer_byte(out, '}');
}

// Begins an element of a list.
static void element(keel_buffer_t *out, size_t index) {
    keel_buffer_text(out, index ? ",\n    {" : "\n    {");
}

static void programs(const keel_stats_t *stats, keel_buffer_t *out) {
    name(out, "by_program");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < stats->program_count; ++i) {
        const keel_stats_program_t *program = &stats->programs[i];
        element(out, i);
        text(out, "program", program->program);
        text(out, "identity", program->identity);
        text(out, "name", program->name);
        number(out, "ops", program->ops);
        number(out, "bytes", program->bytes);
        number(out, "compiles", program->compiles);
        seconds(out, "compile_seconds", program->compile_seconds);
        number(out, "loads", program->loads);
        seconds(out, "load_seconds", program->load_seconds);
        number(out, "executes", program->executes);
        name(out, "cacheable");
        keel_buffer_text(out, program->uncacheable ? "false" : "true");
        site(out, &program->site);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void recompiles(const keel_stats_t *stats, keel_buffer_t *out) {
    name(out, "recompiles");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < stats->recompile_count; ++i) {
        const keel_stats_recompile_t *recompile = &stats->recompiles[i];
        element(out, i);
        number(out, "step", recompile->step);
        seconds(out, "seconds", recompile->seconds);
        text(out, "name", recompile->name);
        text(out, "program", recompile->program);
        site(out, &recompile->site);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void plugin(const keel_stats_t *stats, keel_buffer_t *out) {
    name(out, "plugin");
    keel_buffer_byte(out, '{');
    text(out, "path", stats->plugin_path);
    text(out, "platform", stats->plugin_platform);
    text(out, "api", stats->plugin_api);
    keel_buffer_byte(out, '}');
}

void keel_report_json(const keel_stats_t *stats, bool whole, keel_buffer_t *out) {
    char started[24];
    keel_clock_iso((uint64_t)(stats->started * 1e9), started);
    keel_buffer_byte(out, '{');
    text(out, "id", stats->id);
    text(out, "started", started);
    text(out, "command", stats->command);
    name(out, "argv");
    keel_buffer_text(out, stats->argv);
    text(out, "cwd", stats->cwd);
    text(out, "host", stats->host);
    text(out, "mode", stats->mode);
    text(out, "journal", stats->path);
    number(out, "processes", stats->processes);
    number(out, "unfinished", stats->unfinished);
    seconds(out, "wall_seconds", stats->wall_seconds);
    number(out, "programs", stats->program_count);
    number(out, "compiles", stats->compiles);
    seconds(out, "compile_seconds", stats->compile_seconds);
    number(out, "loads", stats->loads);
    seconds(out, "load_seconds", stats->load_seconds);
    number(out, "memory_hits", stats->memory_hits);
    seconds(out, "overhead_seconds", stats->overhead_seconds);
    seconds(out, "spared_seconds", stats->spared_seconds);
    number(out, "misses", stats->misses);
    number(out, "uncacheable", stats->uncacheable);
    number(out, "publishes", stats->publishes);
    number(out, "executes", stats->executes);
    number(out, "steps", stats->steps);
    number(out, "settled_at_step", stats->settled_at_step);
    number(out, "recompile_count", stats->recompile_count);
    seconds(out, "recompile_seconds", stats->recompile_seconds);
    number(out, "store_errors", stats->store_errors);
    number(out, "fallbacks", stats->fallbacks);
    number(out, "damaged_lines", stats->damage.lines);
    if (whole) {
        text(out, "first_store_error", stats->first_store_error);
        text(out, "first_fallback", stats->first_fallback);
        plugin(stats, out);
        recompiles(stats, out);
        programs(stats, out);
    }
    keel_buffer_byte(out, '}');
}
