#include "report/report.h"
#include "report/write.h"

static void site(keel_buffer_t *out, const keel_stats_site_t *value) {
    keel_json_name(out, "site");
    if (!*value->file) {
        keel_buffer_text(out, "null");
        return;
    }
    keel_buffer_byte(out, '{');
    keel_json_text(out, "file", value->file);
    keel_json_number(out, "line", value->line);
    keel_json_text(out, "function", value->function);
    keel_json_text(out, "shown", value->shown);
    keel_json_text(out, "called_from", value->call_shown);
    keel_buffer_byte(out, '}');
}

// Begins an element of a list.
static void element(keel_buffer_t *out, size_t index) {
    keel_buffer_text(out, index ? ",\n    {" : "\n    {");
}

static void programs(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_json_name(out, "by_program");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < stats->program_count; ++i) {
        const keel_stats_program_t *program = &stats->programs[i];
        element(out, i);
        keel_json_text(out, "program", program->program);
        keel_json_text(out, "identity", program->identity);
        keel_json_text(out, "name", program->name);
        keel_json_number(out, "ops", program->ops);
        keel_json_number(out, "bytes", program->bytes);
        keel_json_number(out, "compiles", program->compiles);
        keel_json_seconds(out, "compile_seconds", program->compile_seconds);
        keel_json_number(out, "loads", program->loads);
        keel_json_seconds(out, "load_seconds", program->load_seconds);
        keel_json_number(out, "executes", program->executes);
        keel_json_name(out, "cacheable");
        keel_buffer_text(out, program->uncacheable ? "false" : "true");
        site(out, &program->site);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void cause(keel_buffer_t *out, const keel_stats_recompile_t *recompile) {
    keel_json_name(out, "cause");
    if (!*recompile->cause) {
        keel_buffer_text(out, "null");
        return;
    }
    keel_buffer_byte(out, '{');
    keel_json_text(out, "kind", recompile->cause);
    keel_json_text(out, "subject", recompile->subject);
    keel_json_text(out, "old", recompile->old_value);
    keel_json_text(out, "new", recompile->new_value);
    keel_json_text(out, "shown", recompile->shown);
    keel_buffer_byte(out, '}');
}

static void recompiles(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_json_name(out, "recompiles");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < stats->recompile_count; ++i) {
        const keel_stats_recompile_t *recompile = &stats->recompiles[i];
        element(out, i);
        keel_json_number(out, "step", recompile->step);
        keel_json_seconds(out, "seconds", recompile->seconds);
        keel_json_text(out, "name", recompile->name);
        keel_json_text(out, "program", recompile->program);
        site(out, &recompile->site);
        cause(out, recompile);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void plugin(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_json_name(out, "plugin");
    keel_buffer_byte(out, '{');
    keel_json_text(out, "path", stats->plugin_path);
    keel_json_text(out, "platform", stats->plugin_platform);
    keel_json_text(out, "api", stats->plugin_api);
    keel_buffer_byte(out, '}');
}

static void moved(keel_buffer_t *out, const keel_moved_t *value) {
    keel_json_number(out, "count", value->count);
    keel_json_number(out, "bytes", value->bytes);
    keel_json_seconds(out, "seconds", value->seconds);
}

static void direction(keel_buffer_t *out, const char *field, const keel_moved_t *value) {
    keel_json_name(out, field);
    keel_buffer_byte(out, '{');
    moved(out, value);
    keel_buffer_byte(out, '}');
}

static void read_lines(const keel_reads_t *reads, keel_buffer_t *out) {
    keel_json_name(out, "reads");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < reads->count; ++i) {
        const keel_reads_line_t *line = &reads->lines[i];
        element(out, i);
        keel_json_text(out, "file", line->file);
        keel_json_number(out, "line", line->line);
        keel_json_text(out, "function", line->function);
        keel_json_text(out, "shown", line->shown);
        moved(out, &line->moved);
        keel_json_number(out, "cuts", line->cuts);
        keel_json_number(out, "pieces", line->pieces);
        keel_json_number(out, "other_programs", line->others);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

void keel_report_json(const keel_stats_t *stats, bool whole, keel_buffer_t *out) {
    char started[24];
    keel_clock_iso((uint64_t)(stats->started * 1e9), started);
    keel_buffer_byte(out, '{');
    keel_json_text(out, "id", stats->id);
    keel_json_text(out, "started", started);
    keel_json_text(out, "command", stats->command);
    keel_json_name(out, "argv");
    keel_buffer_text(out, stats->argv);
    keel_json_text(out, "cwd", stats->cwd);
    keel_json_text(out, "host", stats->host);
    keel_json_text(out, "mode", stats->mode);
    keel_json_text(out, "journal", stats->path);
    keel_json_number(out, "journal_bytes", stats->journal_bytes);
    keel_json_number(out, "processes", stats->processes);
    keel_json_number(out, "unfinished", stats->unfinished);
    keel_json_seconds(out, "wall_seconds", stats->wall_seconds);
    keel_json_number(out, "programs", stats->program_count);
    keel_json_number(out, "compiles", stats->compiles);
    keel_json_seconds(out, "compile_seconds", stats->compile_seconds);
    keel_json_number(out, "loads", stats->loads);
    keel_json_seconds(out, "load_seconds", stats->load_seconds);
    keel_json_number(out, "memory_hits", stats->memory_hits);
    keel_json_number(out, "ahead_loads", stats->ahead_loads);
    keel_json_number(out, "unused_loads", stats->unused_loads);
    keel_json_seconds(out, "ahead_seconds", stats->ahead_seconds);
    keel_json_seconds(out, "overhead_seconds", stats->overhead_seconds);
    keel_json_seconds(out, "spared_seconds", stats->spared_seconds);
    keel_json_number(out, "misses", stats->misses);
    keel_json_number(out, "uncacheable", stats->uncacheable);
    keel_json_number(out, "publishes", stats->publishes);
    keel_json_number(out, "executes", stats->executes);
    keel_json_number(out, "steps", stats->steps);
    keel_json_number(out, "settled_at_step", stats->settled_at_step);
    keel_json_number(out, "recompile_count", stats->recompile_count);
    keel_json_seconds(out, "recompile_seconds", stats->recompile_seconds);
    keel_json_number(out, "known_count", stats->known);
    keel_json_seconds(out, "known_seconds", stats->known_seconds);
    direction(out, "to_device", &stats->reads.to_device);
    direction(out, "from_device", &stats->reads.from_device);
    keel_json_number(out, "cuts", stats->reads.cuts);
    keel_json_number(out, "cut_steps", stats->reads.cut_steps);
    keel_json_number(out, "cut_pieces", stats->reads.cut_pieces);
    keel_json_number(out, "store_errors", stats->store_errors);
    keel_json_number(out, "fallbacks", stats->fallbacks);
    keel_json_number(out, "damaged_lines", stats->damage.lines);
    if (whole) {
        keel_json_text(out, "first_store_error", stats->first_store_error);
        keel_json_text(out, "first_fallback", stats->first_fallback);
        keel_fixes_json(&stats->fixes, out);
        plugin(stats, out);
        keel_asides_json(&stats->asides, out);
        recompiles(stats, out);
        read_lines(&stats->reads, out);
        direction(out, "reads_elsewhere", &stats->reads.elsewhere);
        programs(stats, out);
    }
    keel_buffer_byte(out, '}');
}
