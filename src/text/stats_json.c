#include "text/facts.h"
#include "text/text.h"
#include "text/write.h"

static void site(keel_buffer_t *out, const keel_run_place_t *value) {
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

static void programs(const keel_why_t *why, keel_buffer_t *out) {
    keel_json_name(out, "by_program");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < why->run.program_count; ++i) {
        const keel_run_program_t *program = &why->run.programs[i];
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

static void cause(keel_buffer_t *out, const keel_why_recompile_t *recompile) {
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

static void recompiles(const keel_why_t *why, keel_buffer_t *out) {
    keel_json_name(out, "recompiles");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < why->summary.recompile_count; ++i) {
        const keel_why_recompile_t *recompile = &why->summary.recompiles[i];
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

static void plugin(const keel_why_t *why, keel_buffer_t *out) {
    keel_json_name(out, "plugin");
    keel_buffer_byte(out, '{');
    keel_json_text(out, "path", why->run.plugin_path);
    keel_json_text(out, "platform", why->run.plugin_platform);
    keel_json_text(out, "api", why->run.plugin_api);
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

void keel_text_stats_json(const keel_why_t *why, bool whole, keel_buffer_t *out) {
    char started[24];
    keel_clock_iso((uint64_t)(why->run.started * 1e9), started);
    keel_buffer_byte(out, '{');
    keel_json_text(out, "id", why->run.id);
    keel_json_text(out, "started", started);
    keel_json_text(out, "command", why->run.command);
    keel_json_name(out, "argv");
    keel_buffer_text(out, why->run.argv);
    keel_json_text(out, "cwd", why->run.cwd);
    keel_json_text(out, "host", why->run.host);
    keel_json_text(out, "mode", why->run.mode);
    keel_json_text(out, "journal", why->run.path);
    keel_json_number(out, "journal_bytes", why->run.journal_bytes);
    keel_json_number(out, "processes", why->run.processes);
    keel_json_number(out, "unfinished", why->run.unfinished);
    keel_json_seconds(out, "wall_seconds", why->run.wall_seconds);
    keel_json_number(out, "programs", why->run.program_count);
    keel_json_number(out, "compiles", why->run.compiles);
    keel_json_seconds(out, "compile_seconds", why->run.compile_seconds);
    keel_json_number(out, "loads", why->run.loads);
    keel_json_seconds(out, "load_seconds", why->run.load_seconds);
    keel_json_number(out, "memory_hits", why->run.memory_hits);
    keel_json_number(out, "ahead_loads", why->run.ahead_loads);
    keel_json_number(out, "unused_loads", why->run.unused_loads);
    keel_json_seconds(out, "ahead_seconds", why->run.ahead_seconds);
    keel_json_seconds(out, "overhead_seconds", why->run.overhead_seconds);
    keel_json_seconds(out, "spared_seconds", why->run.spared_seconds);
    keel_json_number(out, "misses", why->run.misses);
    keel_json_number(out, "uncacheable", why->run.uncacheable);
    keel_json_number(out, "publishes", why->run.publishes);
    keel_json_number(out, "executes", why->run.executes);
    keel_json_number(out, "steps", why->run.steps);
    keel_json_number(out, "settled_at_step", why->run.settled_at_step);
    keel_json_number(out, "recompile_count", why->summary.recompile_count);
    keel_json_seconds(out, "recompile_seconds", why->summary.recompile_seconds);
    keel_json_number(out, "known_count", why->summary.known);
    keel_json_seconds(out, "known_seconds", why->summary.known_seconds);
    direction(out, "to_device", &why->run.reads.to_device);
    direction(out, "from_device", &why->run.reads.from_device);
    keel_json_number(out, "cuts", why->run.reads.cuts);
    keel_json_number(out, "cut_steps", why->run.reads.cut_steps);
    keel_json_number(out, "cut_pieces", why->run.reads.cut_pieces);
    keel_json_number(out, "store_errors", why->run.store_errors);
    keel_json_number(out, "fallbacks", why->run.fallbacks);
    keel_json_number(out, "damaged_lines", why->run.damage.lines);
    if (whole) {
        keel_json_text(out, "first_store_error", why->run.first_store_error);
        keel_json_text(out, "first_fallback", why->run.first_fallback);
        keel_fixes_json(&why->run.fixes, out);
        plugin(why, out);
        keel_asides_json(&why->run.asides, out);
        recompiles(why, out);
        read_lines(&why->run.reads, out);
        direction(out, "reads_elsewhere", &why->run.reads.elsewhere);
        programs(why, out);
    }
    keel_buffer_byte(out, '}');
}
