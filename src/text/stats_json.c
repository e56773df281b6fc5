#include "base/json.h"
#include "text/facts.h"
#include "text/rehearsed.h"
#include "text/remotes.h"
#include "text/text.h"

static void site(keel_json_t *json, const keel_run_place_t *value) {
    if (!*value->file) {
        keel_json_null(json, "site");
        return;
    }
    keel_json_object(json, "site");
    keel_json_string(json, "file", value->file);
    keel_json_unsigned(json, "line", value->line);
    keel_json_string(json, "function", value->function);
    keel_json_string(json, "shown", value->shown);
    keel_json_string(json, "called_from", value->call_shown);
    if (value->script_shown && *value->script_shown)
        keel_json_string(json, "script", value->script_shown);
    keel_json_end_object(json);
}

static void write_sets(const keel_why_t *why, keel_json_t *json) {
    keel_json_array(json, "sets");
    for (size_t i = 0; i < why->set_count; ++i) {
        const keel_why_set_t *set = &why->sets[i];
        keel_json_break(json, "\n    ");
        keel_json_object(json, NULL);
        keel_json_string(json, "name", set->name);
        keel_json_string(json, "subject", set->subject);
        keel_json_unsigned(json, "programs", set->programs);
        keel_json_unsigned(json, "last_step", set->last_step);
        keel_text_took(json, "seconds", &set->took);
        site(json, &set->place);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void write_program_list(const keel_why_t *why, keel_json_t *json) {
    keel_json_array(json, "by_program");
    for (size_t i = 0; i < why->run.program_count; ++i) {
        const keel_run_program_t *program = &why->run.programs[i];
        keel_json_break(json, "\n    ");
        keel_json_object(json, NULL);
        keel_json_string(json, "program", program->program);
        keel_json_string(json, "identity", program->identity);
        keel_json_string(json, "name", program->name);
        keel_json_unsigned(json, "ops", program->ops);
        keel_json_unsigned(json, "bytes", program->bytes);
        keel_json_unsigned(json, "compiles", program->compiles.times);
        keel_text_took(json, "compile_seconds", &program->compiles);
        keel_json_unsigned(json, "loads", program->loads.times);
        keel_text_took(json, "load_seconds", &program->loads);
        keel_json_unsigned(json, "executes", program->executes);
        keel_json_bool(json, "cacheable", !program->uncacheable);
        keel_tier_json(&why->run, program->tier, program->identity, json);
        site(json, &program->site);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void cause(keel_json_t *json, const keel_why_recompile_t *recompile) {
    if (!*recompile->cause) {
        keel_json_null(json, "cause");
        return;
    }
    keel_json_object(json, "cause");
    keel_json_string(json, "kind", recompile->cause);
    keel_json_string(json, "subject", recompile->subject);
    keel_json_string(json, "old", recompile->old_value);
    keel_json_string(json, "new", recompile->new_value);
    keel_json_string(json, "shown", recompile->shown);
    keel_json_end_object(json);
}

static void recompiles(const keel_why_t *why, keel_json_t *json) {
    keel_json_array(json, "recompiles");
    for (size_t i = 0; i < why->summary.recompile_count; ++i) {
        const keel_why_recompile_t *recompile = &why->summary.recompiles[i];
        keel_json_break(json, "\n    ");
        keel_json_object(json, NULL);
        keel_json_unsigned(json, "step", recompile->step);
        keel_text_took(json, "seconds", &recompile->took);
        keel_json_string(json, "name", recompile->name);
        keel_json_string(json, "program", recompile->program);
        site(json, &recompile->site);
        cause(json, recompile);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void plugin(const keel_why_t *why, keel_json_t *json) {
    keel_json_object(json, "plugin");
    keel_json_string(json, "path", why->run.plugin_path);
    keel_json_string(json, "platform", why->run.plugin_platform);
    keel_json_string(json, "api", why->run.plugin_api);
    keel_json_end_object(json);
}

static void put_moved(keel_json_t *json, const keel_moved_t *value) {
    keel_json_unsigned(json, "count", value->count);
    keel_json_unsigned(json, "bytes", value->bytes);
    keel_text_moved(json, value);
}

static void direction(keel_json_t *json, const char *field, const keel_moved_t *value) {
    keel_json_object(json, field);
    put_moved(json, value);
    keel_json_end_object(json);
}

static void read_lines(const keel_reads_t *reads, keel_json_t *json) {
    keel_json_array(json, "reads");
    for (size_t i = 0; i < reads->count; ++i) {
        const keel_reads_line_t *line = &reads->lines[i];
        keel_json_break(json, "\n    ");
        keel_json_object(json, NULL);
        keel_json_string(json, "file", line->file);
        keel_json_unsigned(json, "line", line->line);
        keel_json_string(json, "function", line->function);
        keel_json_string(json, "shown", line->shown);
        put_moved(json, &line->moved);
        keel_json_unsigned(json, "cuts", line->cuts);
        keel_json_unsigned(json, "pieces", line->pieces);
        keel_json_unsigned(json, "other_programs", line->others);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

// The caller ends the object.
static void write_run_figures(const keel_why_t *why, bool whole, keel_json_t *json) {
    char started[24];
    keel_clock_iso((uint64_t)(why->run.started * 1e9), started);
    keel_json_object(json, NULL);
    keel_json_string(json, "id", why->run.id);
    keel_json_string(json, "started", started);
    keel_json_string(json, "command", why->run.command);
    keel_buffer_text(keel_json_value(json, "argv"), why->run.argv);
    keel_json_string(json, "cwd", why->run.cwd);
    keel_json_string(json, "host", why->run.host);
    keel_json_string(json, "mode", why->run.mode);
    if (*why->run.rehearsal.target.name)
        keel_json_string(json, "target", why->run.rehearsal.target.name);
    else
        keel_json_null(json, "target");
    keel_json_string(json, "journal", why->run.path);
    keel_json_unsigned(json, "journal_bytes", why->run.journal_bytes);
    keel_json_unsigned(json, "processes", why->run.processes);
    keel_json_unsigned(json, "unfinished", why->run.unfinished);
    keel_text_seconds(json, "wall_seconds", why->run.wall_seconds);
    keel_json_unsigned(json, "programs", why->run.program_count);
    keel_json_unsigned(json, "compiles", why->run.compiles.times);
    keel_text_took(json, "compile_seconds", &why->run.compiles);
    keel_json_unsigned(json, "loads", why->run.loads.times);
    keel_text_took(json, "load_seconds", &why->run.loads);
    keel_json_unsigned(json, "memory_hits", why->run.memory_hits);
    if (why->run.remote_hits) keel_json_unsigned(json, "remote_hits", why->run.remote_hits);
    keel_json_unsigned(json, "ahead_loads", why->run.ahead_loads);
    keel_json_unsigned(json, "unused_loads", why->run.unused_loads);
    keel_text_seconds(json, "ahead_seconds", why->run.ahead_seconds);
    keel_text_seconds(json, "overhead_seconds", why->run.overhead_seconds);
    keel_text_seconds(json, "spared_seconds", why->run.spared_seconds);
    keel_json_unsigned(json, "misses", why->run.misses);
    keel_json_unsigned(json, "uncacheable", why->run.uncacheable);
    keel_json_unsigned(json, "publishes", why->run.publishes);
    keel_json_unsigned(json, "executes", why->run.executes);
    keel_json_unsigned(json, "steps", why->run.steps);
    keel_json_unsigned(json, "settled_at_step", why->run.settled_at_step);
    keel_json_unsigned(json, "recompile_count", why->summary.recompile_count);
    keel_text_took(json, "recompile_seconds", &why->summary.again);
    keel_json_unsigned(json, "known_count", why->summary.known.times);
    keel_text_took(json, "known_seconds", &why->summary.known);
    keel_json_unsigned(json, "retrace_count", why->retraces.times);
    keel_text_took(json, "retrace_seconds", &why->retraces);
    direction(json, "to_device", &why->run.reads.to_device);
    direction(json, "from_device", &why->run.reads.from_device);
    keel_json_unsigned(json, "cuts", why->run.reads.cuts);
    keel_json_unsigned(json, "cut_steps", why->run.reads.cut_steps);
    keel_json_unsigned(json, "cut_pieces", why->run.reads.cut_pieces);
    keel_json_unsigned(json, "store_errors", why->run.store_errors);
    keel_json_unsigned(json, "fallbacks", why->run.fallbacks);
    keel_json_unsigned(json, "summed", why->run.summed);
    keel_json_unsigned(json, "damaged_lines", why->run.damage.lines);
    if (whole) {
        keel_json_string(json, "first_store_error", why->run.first_store_error);
        keel_json_string(json, "first_fallback", why->run.first_fallback);
        keel_fixes_json(&why->run.fixes, json);
        plugin(why, json);
        keel_rehearsal_json(&why->run, json);
        keel_asides_json(&why->run.asides, json);
        keel_remotes_json(&why->run, json);
        recompiles(why, json);
        write_sets(why, json);
        read_lines(&why->run.reads, json);
        direction(json, "reads_elsewhere", &why->run.reads.elsewhere);
        write_program_list(why, json);
    }
}

void keel_text_stats_json(const keel_why_t *why, bool whole, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    write_run_figures(why, whole, &json);
    keel_json_end_object(&json);
}

void keel_text_ended_json(const keel_why_t *why, int exit_code, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    write_run_figures(why, true, &json);
    keel_json_int(&json, "exit_code", exit_code);
    keel_json_end_object(&json);
}
