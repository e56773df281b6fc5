#include <inttypes.h>
#include <stdio.h>

#include "report/flow.h"
#include "report/report.h"
#include "report/why_internal.h"
#include "report/write.h"

enum {
    PROGRAMS_SHOWN = 20,
    RECOMPILES_SHOWN = 20,
    READS_SHOWN = 20,
    LINES_IN_SUMMARY = 3,
    VALUE_COLUMNS = 40
};

static void settled(const keel_stats_t *stats, keel_buffer_t *out) {
    if (!stats->steps) return;
    if (keel_report_is_restless(stats))
        keel_buffer_format(out, "; not flat yet: step %" PRIu64 " had a new program", stats->steps);
    else if (stats->settled_at_step <= stats->steps)
        keel_buffer_format(out, "; flat since step %" PRIu64, stats->settled_at_step);
    else if (stats->compiles && !stats->unfinished)
        // Loads alone are no sign of that: a warm run loads just before its only steps. Nor is the
        // journal of a process that was killed, which lacks its last executions.
        keel_buffer_text(out, "; new programs up to the end");
}

bool keel_report_is_restless(const keel_stats_t *stats) {
    return stats->steps > 1 && stats->settled_at_step == stats->steps && stats->compiles;
}

static void compiles_and_loads(const keel_stats_t *stats, keel_buffer_t *out) {
    if (stats->compiles) {
        keel_write_counted(out, stats->compiles, "compile");
        keel_buffer_byte(out, ' ');
        keel_write_seconds(out, stats->compile_seconds);
    } else {
        keel_buffer_text(out, "nothing compiled");
    }
    if (!stats->loads) return;
    keel_buffer_text(out, ", ");
    keel_write_counted(out, stats->loads, "load");
    keel_buffer_byte(out, ' ');
    keel_write_seconds(out, stats->load_seconds);
    if (stats->ahead_loads) keel_buffer_format(out, " (%" PRIu64 " ahead)", stats->ahead_loads);
    if (stats->spared_seconds > stats->load_seconds) {
        keel_buffer_text(out, " instead of ");
        keel_write_seconds(out, stats->spared_seconds);
    }
}

// ---- the end of a run --------------------------------------------------------------------------

static const char *line_of_cause(const keel_stats_recompile_t *recompile) {
    return *recompile->shown ? recompile->shown : recompile->site.shown;
}

// Two that are shown as one: they have one line and cause, or one program if that is unknown. A
// line can recompile several programs: those before and after a host read.
static bool is_alike(const keel_stats_recompile_t *a, const keel_stats_recompile_t *b) {
    if (strcmp(a->cause, b->cause) != 0 || strcmp(a->subject, b->subject) != 0) return false;
    if (*a->cause && *line_of_cause(a)) return strcmp(line_of_cause(a), line_of_cause(b)) == 0;
    return strcmp(a->site.shown, b->site.shown) == 0 && strcmp(a->name, b->name) == 0;
}

// The cost of all that are like this one, added to the first of them; 0 times for a later one.
static double cost_of_line(const keel_stats_t *stats, size_t index, uint64_t *times) {
    const keel_stats_recompile_t *own = &stats->recompiles[index];
    double cost = 0;
    *times = 0;
    for (size_t i = 0; i < stats->recompile_count; ++i) {
        const keel_stats_recompile_t *other = &stats->recompiles[i];
        if (!is_alike(own, other)) continue;
        if (i < index) {
            *times = 0;
            return 0;
        }
        cost += other->seconds;
        ++*times;
    }
    return cost;
}

static void place(keel_buffer_t *out, const keel_stats_recompile_t *recompile) {
    keel_write_foreign(out, *recompile->site.shown ? recompile->site.shown : "unknown line");
    if (!*recompile->name) return;
    keel_buffer_text(out, " (");
    keel_write_foreign(out, recompile->name);
    keel_buffer_byte(out, ')');
}

// "train.py:13 shape batch['x'] f32[8,4] -> f32[5,4]"; of several only what they have in common. A
// subject, and each value, has at most `limit` columns (0: any number).
static void cause(keel_buffer_t *out, const keel_stats_recompile_t *recompile, bool whole,
                  unsigned limit) {
    if (!*recompile->cause) {
        place(out, recompile);
        return;
    }
    keel_flow_t flow = {.out = out};
    const char *shown = line_of_cause(recompile);
    if (!keel_why_is_of_run(keel_cause_by_word(recompile->cause))) {
        keel_write_foreign(out, *shown             ? shown
                                : *recompile->name ? recompile->name
                                                   : "unknown line");
        keel_buffer_byte(out, ' ');
    }
    keel_write_foreign(out, recompile->cause);
    if (*recompile->subject) {
        keel_buffer_byte(out, ' ');
        keel_flow_around(&flow, recompile->subject, 0, limit);
    }
    if (!whole || (!*recompile->old_value && !*recompile->new_value)) return;
    keel_buffer_byte(out, ' ');
    keel_flow_change(&flow, recompile->old_value, recompile->new_value, 2 * limit);
}

static bool is_explained(const keel_stats_t *stats) {
    for (size_t i = 0; i < stats->recompile_count; ++i)
        if (*stats->recompiles[i].cause) return true;
    return false;
}

// The dearest lines first; names as many as LINES_IN_SUMMARY.
static void dearest_lines(const keel_stats_t *stats, keel_buffer_t *out) {
    double below = 1e300;
    size_t below_index = 0, shown = 0;
    for (;;) {
        size_t best = SIZE_MAX;
        double best_cost = -1;
        uint64_t best_times = 0;
        for (size_t i = 0; i < stats->recompile_count; ++i) {
            uint64_t times;
            double cost = cost_of_line(stats, i, &times);
            bool later = cost < below || (cost == below && i > below_index);
            if (!times || !later || cost <= best_cost) continue;
            best = i;
            best_cost = cost;
            best_times = times;
        }
        if (best == SIZE_MAX) return;
        if (shown++ == LINES_IN_SUMMARY) {
            keel_buffer_text(out, ", ...");
            return;
        }
        keel_buffer_text(out, shown == 1 ? ": " : ", ");
        cause(out, &stats->recompiles[best], best_times == 1, VALUE_COLUMNS);
        bool told = *stats->recompiles[best].cause;
        if (best_times > 1)
            keel_buffer_format(out, "%s%" PRIu64 " times%s", told ? " (" : " ", best_times,
                               told ? ")" : "");
        below = best_cost;
        below_index = best;
    }
}

void keel_report_damage(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_write_damage(out, stats->path, &stats->damage);
}

void keel_report_summary(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_buffer_text(out, "keel: ");
    if (stats->steps) {
        keel_write_counted(out, stats->steps, "step");
        keel_buffer_text(out, ", ");
    }
    keel_write_counted(out, stats->program_count, "program");
    keel_buffer_text(out, "; ");
    compiles_and_loads(stats, out);
    settled(stats, out);
    keel_buffer_byte(out, '\n');
    if (stats->recompile_count) {
        keel_buffer_text(out, "keel: ");
        keel_write_counted(out, stats->recompile_count, "recompile");
        keel_buffer_text(out, " cost ");
        keel_write_seconds(out, stats->recompile_seconds);
        dearest_lines(stats, out);
        keel_buffer_text(out, is_explained(stats) ? "; run `keel why`\n" : "\n");
    }
    if (stats->reads.cut_count) {
        const char *shown = stats->reads.lines[0].shown;
        keel_buffer_text(out, "keel: host reads split steps ");
        keel_reads_times(&stats->reads, out);
        keel_buffer_text(out, ": ");
        keel_write_foreign(out, *shown ? shown : "unknown line");
        keel_buffer_text(out, stats->reads.cut_count > 1 ? ", ...; run `keel why`\n"
                                                         : "; run `keel why`\n");
    }
    if (stats->known) {
        keel_buffer_text(out, "keel: ");
        keel_write_counted(out, stats->known, "program");
        keel_buffer_text(out, " known from earlier runs cost ");
        keel_write_seconds(out, stats->known_seconds);
        keel_buffer_text(out, stats->known > 1 ? "; the most expensive: " : ": ");
        cause(out, &stats->dearest_known, true, VALUE_COLUMNS);
        keel_buffer_text(out, "; run `keel why`\n");
    }
    if (stats->asides.misfit_count) {
        keel_buffer_text(out, "keel: ");
        keel_misfit_sentence(&stats->asides.misfits[0], out);
        if (stats->asides.misfit_count > 1)
            keel_buffer_format(out, ", and %zu more", stats->asides.misfit_count - 1);
        keel_buffer_text(out, "; run `keel memory`\n");
    }
    if (stats->asides.unexplained) {
        keel_buffer_text(out, "keel: ");
        keel_unexplained_sentence(&stats->asides, out);
        keel_buffer_byte(out, '\n');
    }
    if (stats->store_errors) {
        keel_buffer_text(out, "keel: the cache failed ");
        keel_write_counted(out, stats->store_errors, "time");
        keel_buffer_text(out, "; first: ");
        keel_write_foreign(out, stats->first_store_error);
        keel_buffer_byte(out, '\n');
    }
    if (stats->unfinished) {
        keel_buffer_format(out,
                           "keel: %" PRIu64
                           " process%s no end in the journal (killed, or the journal could not be "
                           "written): figures may miss what came last\n",
                           stats->unfinished, stats->unfinished == 1 ? " has" : "es have");
    }
    if (stats->damage.lines) {
        keel_buffer_text(out, "keel: ");
        keel_report_damage(stats, out);
        keel_buffer_byte(out, '\n');
    }
}

// ---- keel stats --------------------------------------------------------------------------------

static void started(const keel_stats_t *stats, keel_buffer_t *out) {
    char text[24] = "(no event)";
    if (stats->started > 0) keel_clock_iso((uint64_t)(stats->started * 1e9), text);
    keel_buffer_text(out, text);
}

static void label(keel_buffer_t *out, const char *text) {
    keel_buffer_format(out, "  %-12s", text);
}

static void head(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_buffer_format(out, "run %s  ", stats->id);
    keel_write_foreign(out, *stats->command ? stats->command : "(no process said what it runs)");
    keel_buffer_byte(out, '\n');
    label(out, "started");
    started(stats, out);
    keel_buffer_text(out, ", ran ");
    keel_write_seconds(out, stats->wall_seconds);
    keel_buffer_text(out, ", ");
    keel_buffer_format(out, "%" PRIu64 " process%s", stats->processes,
                       stats->processes == 1 ? "" : "es");
    if (stats->unfinished)
        keel_buffer_format(out,
                           ", %" PRIu64 " without an end in the journal (still running, killed, or "
                           "its journal could not be written): figures may miss what came last",
                           stats->unfinished);
    keel_buffer_byte(out, '\n');
    for (size_t i = 0; i < stats->fixes.count; ++i) {
        label(out, "fix");
        keel_fix_write(&stats->fixes.list[i], out);
        keel_buffer_byte(out, '\n');
    }
    if (!*stats->mode) return;
    label(out, "plugin");
    keel_write_foreign(out, stats->plugin_path);
    keel_buffer_text(out, " (platform ");
    keel_write_foreign(out, stats->plugin_platform);
    keel_buffer_format(out, ", PJRT %s), mode ", stats->plugin_api);
    keel_write_foreign(out, stats->mode);
    keel_buffer_byte(out, '\n');
}

static void each_step(const keel_stats_t *stats, uint64_t count, keel_buffer_t *out) {
    if (stats->steps > 1)
        keel_buffer_format(out, ", %.1f a step", (double)count / (double)stats->steps);
}

static void moved(const keel_stats_t *stats, const char *where, const keel_moved_t *moved,
                  const char *noun, keel_buffer_t *out) {
    if (!moved->count) return;
    label(out, where);
    keel_write_counted(out, moved->count, noun);
    each_step(stats, moved->count, out);
    keel_buffer_text(out, "; ");
    keel_write_counted(out, moved->bytes, "byte");
    keel_buffer_text(out, ", ");
    keel_write_seconds(out, moved->seconds);
    keel_buffer_byte(out, '\n');
}

// Steps count what was taken for a cut in time, and are not told where it was none after all.
static void cuts(const keel_reads_t *reads, keel_buffer_t *out) {
    label(out, "cut");
    keel_reads_times(reads, out);
    if (reads->cut_steps && reads->cut_steps <= reads->cuts) {
        keel_buffer_text(out, "; ");
        keel_write_counted(out, reads->cut_steps, "step");
        keel_buffer_format(out, " followed to %s end, in %.1f programs%s",
                           reads->cut_steps == 1 ? "its" : "their",
                           (double)reads->cut_pieces / (double)reads->cut_steps,
                           reads->cut_steps == 1 ? "" : " each");
    }
    keel_buffer_byte(out, '\n');
}

static void ahead(const keel_stats_t *stats, keel_buffer_t *out) {
    label(out, "ahead");
    keel_buffer_format(out, "%-8" PRIu64, stats->ahead_loads);
    keel_write_seconds(out, stats->ahead_seconds);
    keel_buffer_text(out, " in the background");
    if (stats->unused_loads)
        keel_buffer_format(out, "; %" PRIu64 " more nobody asked for", stats->unused_loads);
    keel_buffer_byte(out, '\n');
}

static void figures(const keel_stats_t *stats, keel_buffer_t *out) {
    label(out, "steps");
    keel_buffer_format(out, "%" PRIu64, stats->steps);
    settled(stats, out);
    keel_buffer_byte(out, '\n');
    label(out, "programs");
    keel_buffer_format(out, "%zu\n", stats->program_count);
    label(out, "compiles");
    keel_buffer_format(out, stats->compiles ? "%-8" PRIu64 : "%" PRIu64, stats->compiles);
    if (stats->compiles) keel_write_seconds(out, stats->compile_seconds);
    keel_buffer_byte(out, '\n');
    label(out, "loads");
    keel_buffer_format(out, stats->loads ? "%-8" PRIu64 : "%" PRIu64, stats->loads);
    if (stats->loads) keel_write_seconds(out, stats->load_seconds);
    if (stats->memory_hits)
        keel_buffer_format(out, ", %" PRIu64 " of them from memory", stats->memory_hits);
    if (stats->spared_seconds > 0) {
        keel_buffer_text(out, "; compiling them had cost ");
        keel_write_seconds(out, stats->spared_seconds);
    }
    keel_buffer_byte(out, '\n');
    if (stats->ahead_loads || stats->unused_loads) ahead(stats, out);
    label(out, "Keel's own");
    keel_buffer_format(out, "%-8s", "");
    keel_write_seconds(out, stats->overhead_seconds);
    keel_buffer_text(out, " inside Compile\n");
    label(out, "misses");
    keel_buffer_format(out, "%" PRIu64 "\n", stats->misses);
    label(out, "uncacheable");
    keel_buffer_format(out, "%" PRIu64 "\n", stats->uncacheable);
    label(out, "executes");
    keel_buffer_format(out, "%" PRIu64, stats->executes);
    each_step(stats, stats->executes, out);
    keel_buffer_byte(out, '\n');
    moved(stats, "to device", &stats->reads.to_device, "transfer", out);
    moved(stats, "from device", &stats->reads.from_device, "read", out);
    if (stats->reads.cut_count) cuts(&stats->reads, out);
}

static void failures(const keel_stats_t *stats, keel_buffer_t *out) {
    if (stats->store_errors) {
        label(out, "cache failed");
        keel_write_counted(out, stats->store_errors, "time");
        keel_buffer_text(out, "; first: ");
        keel_write_foreign(out, stats->first_store_error);
        keel_buffer_byte(out, '\n');
    }
    if (stats->fallbacks) {
        label(out, "plain way");
        keel_write_counted(out, stats->fallbacks, "time");
        keel_buffer_text(out, "; first: ");
        keel_write_foreign(out, stats->first_fallback);
        keel_buffer_byte(out, '\n');
    }
}

static void eager(const keel_stats_t *stats, keel_buffer_t *out) {
    if (!keel_eager_is_told(&stats->eager, stats->compile_seconds)) return;
    label(out, "outside jit");
    keel_eager_sentence(&stats->eager, out);
    keel_buffer_byte(out, '\n');
}

static void host_ops(const keel_stats_t *stats, keel_buffer_t *out) {
    enum { OPS_SHOWN = 4 };
    const keel_asides_t *asides = &stats->asides;
    if (!asides->op_count) return;
    label(out, "on the host");
    for (size_t i = 0; i < asides->op_count && i < OPS_SHOWN; ++i) {
        keel_buffer_text(out, i ? ", " : "");
        keel_write_foreign(out, asides->ops[i].name);
        keel_buffer_format(out, " %" PRIu64, asides->ops[i].times);
    }
    if (asides->op_count > OPS_SHOWN)
        keel_buffer_format(out, " and %zu more; --json lists them all",
                           asides->op_count - OPS_SHOWN);
    keel_buffer_byte(out, '\n');
}

static void misfits(const keel_stats_t *stats, keel_buffer_t *out) {
    for (size_t i = 0; i < stats->asides.misfit_count; ++i) {
        label(out, i ? "" : "no memory");
        keel_misfit_sentence(&stats->asides.misfits[i], out);
        keel_buffer_byte(out, '\n');
    }
}

static void left(keel_buffer_t *out, size_t all, size_t shown, const char *what) {
    if (all > shown)
        keel_buffer_format(out, "  and %zu more %s; --json lists them all\n", all - shown, what);
}

static void programs(const keel_stats_t *stats, keel_buffer_t *out) {
    if (!stats->program_count) return;
    keel_buffer_format(out, "\n%-14s%10s%10s%10s  %s\n", "program", "compiled", "loaded",
                       "executed", "name, line");
    size_t shown = 0;
    for (; shown < stats->program_count && shown < PROGRAMS_SHOWN; ++shown) {
        const keel_stats_program_t *program = &stats->programs[shown];
        char compiled[24] = "-", loaded[24] = "-";
        if (program->compiles) keel_format_seconds(program->compile_seconds, compiled);
        if (program->loads) keel_format_seconds(program->load_seconds, loaded);
        size_t start = out->size;
        char digest[13];
        snprintf(digest, sizeof digest, "%s", program->program);
        keel_write_foreign(out, digest);
        keel_buffer_format(out, "%*s", (int)(14 + start - out->size), "");
        keel_buffer_format(out, "%10s%10s%10" PRIu64 "  ", compiled, loaded, program->executes);
        keel_write_foreign(out, program->name);
        if (*program->site.shown) {
            keel_buffer_text(out, "  ");
            keel_write_foreign(out, program->site.shown);
        }
        keel_buffer_text(out, program->uncacheable ? "  (uncacheable)\n" : "\n");
    }
    left(out, stats->program_count, shown, "programs");
}

static void whole_place(keel_buffer_t *out, const keel_stats_recompile_t *recompile) {
    place(out, recompile);
    if (*recompile->site.function) {
        keel_buffer_text(out, " in ");
        keel_write_foreign(out, recompile->site.function);
    }
    if (*recompile->site.call_shown &&
        strcmp(recompile->site.call_shown, recompile->site.shown) != 0) {
        keel_buffer_text(out, ", called from ");
        keel_write_foreign(out, recompile->site.call_shown);
    }
}

// What values may take of a line that begins with their place: two thirds of it, for a subject and
// the two sides of a change.
static unsigned value_limit(unsigned width) {
    unsigned limit = width * 2 / 9;
    return !width ? 0 : limit > VALUE_COLUMNS / 4 ? limit : VALUE_COLUMNS / 4;
}

static void recompiles(const keel_stats_t *stats, unsigned width, keel_buffer_t *out) {
    if (!stats->recompile_count) return;
    keel_buffer_byte(out, '\n');
    keel_write_counted(out, stats->recompile_count, "recompile");
    keel_buffer_text(out, " cost ");
    keel_write_seconds(out, stats->recompile_seconds);
    keel_buffer_byte(out, '\n');
    size_t shown = 0;
    for (; shown < stats->recompile_count && shown < RECOMPILES_SHOWN; ++shown) {
        const keel_stats_recompile_t *recompile = &stats->recompiles[shown];
        char cost[24];
        keel_format_seconds(recompile->seconds, cost);
        bool at_end = stats->steps && !stats->unfinished && recompile->step > stats->steps;
        keel_buffer_format(out,
                           at_end ? "  after %-5" PRIu64 "%10s  " : "  step %-6" PRIu64 "%10s  ",
                           recompile->step - at_end, cost);
        if (*recompile->cause)
            cause(out, recompile, true, value_limit(width));
        else
            whole_place(out, recompile);
        keel_buffer_byte(out, '\n');
    }
    left(out, stats->recompile_count, shown, "recompiles");
}

static void read_row(const keel_moved_t *moved, uint64_t cuts, const char *where,
                     keel_buffer_t *out) {
    char took[24];
    keel_format_seconds(moved->seconds, took);
    keel_buffer_format(out, "%-14" PRIu64 "%10" PRIu64 "%10s%10" PRIu64 "  ", moved->count,
                       moved->bytes, took, cuts);
    keel_write_foreign(out, where);
    keel_buffer_byte(out, '\n');
}

static void reads(const keel_stats_t *stats, keel_buffer_t *out) {
    const keel_reads_t *reads = &stats->reads;
    if (!reads->count) return;
    keel_buffer_format(out, "\n%-14s%10s%10s%10s  %s\n", "reads", "bytes", "time", "cuts", "line");
    size_t shown = 0;
    for (; shown < reads->count && shown < READS_SHOWN; ++shown) {
        const keel_reads_line_t *line = &reads->lines[shown];
        read_row(&line->moved, line->cuts, *line->shown ? line->shown : "unknown line", out);
    }
    if (reads->elsewhere.count) read_row(&reads->elsewhere, 0, "elsewhere (no Python line)", out);
    left(out, reads->count, shown, "lines");
}

void keel_report_text(const keel_stats_t *stats, unsigned width, keel_buffer_t *out) {
    head(stats, out);
    figures(stats, out);
    eager(stats, out);
    host_ops(stats, out);
    misfits(stats, out);
    failures(stats, out);
    programs(stats, out);
    reads(stats, out);
    recompiles(stats, width, out);
}

void keel_report_line(const keel_stats_t *stats, unsigned width, keel_buffer_t *out) {
    enum { LEAST = 16 };
    char size[16];
    size_t begin = out->size;
    keel_buffer_format(out, "%s  ", stats->id);
    started(stats, out);
    keel_format_size(stats->journal_bytes, size);
    keel_buffer_format(out, "  %8s  ", size);
    compiles_and_loads(stats, out);
    keel_buffer_text(out, "  ");
    size_t used = out->size - begin, room = width > used + LEAST ? width - used : LEAST;
    keel_flow_t flow = {.out = out};
    keel_flow_around(&flow, stats->command, 0, width ? (unsigned)room : 0);
}
