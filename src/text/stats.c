#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/flow.h"
#include "text/rehearsed.h"
#include "text/remotes.h"
#include "text/text.h"
#include "text/why_page.h"
#include "text/write.h"

enum {
    PROGRAMS_SHOWN = 20,
    RECOMPILES_SHOWN = 20,
    READS_SHOWN = 20,
    LINES_IN_SUMMARY = 3,
    VALUE_COLUMNS = 40
};

static void settled(const keel_why_t *why, keel_buffer_t *out) {
    if (!why->run.steps) return;
    if (keel_run_is_restless(&why->run))
        keel_buffer_format(out, "; not flat yet: step %" PRIu64 " had a new program",
                           why->run.steps);
    else if (why->run.settled_at_step <= why->run.steps)
        keel_buffer_format(out, "; flat since step %" PRIu64, why->run.settled_at_step);
    else if (why->run.compiles.times && !why->run.unfinished)
        // Loads alone do not show that: a warm run loads just before its only steps. Nor does the
        // journal of a process that was killed, which lacks its last executions.
        keel_buffer_text(out, "; new programs up to the end");
}

static void compiles_and_loads(const keel_why_t *why, keel_buffer_t *out) {
    const keel_took_t *compiles = &why->run.compiles;
    const keel_took_t waited = keel_run_waited(&why->run), *loads = &waited;
    if (keel_is_rehearsal(&why->run)) {
        keel_fates_sentence(&why->run, out);
    } else if (compiles->times) {
        keel_write_counted(out, compiles->times, "compile");
        keel_buffer_byte(out, ' ');
        keel_write_took(out, compiles);
    } else {
        keel_buffer_text(out, "nothing compiled");
    }
    if (!loads->times) return;
    keel_buffer_text(out, ", ");
    keel_write_counted(out, loads->times, "load");
    if (keel_took_is_known(loads)) keel_buffer_byte(out, ' ');
    if (keel_took_is_known(loads)) keel_write_took(out, loads);
    if (why->run.ahead_loads) keel_buffer_format(out, " (%" PRIu64 " ahead)", why->run.ahead_loads);
    if (why->run.spared_seconds > loads->seconds) {
        // A compile that was timed on a busy machine would be faster on an idle one.
        keel_buffer_text(out, " instead of at most ");
        keel_write_seconds(out, why->run.spared_seconds);
    }
}

// "3 times; first: no space left"
static void times(keel_buffer_t *out, uint64_t count, const char *first) {
    keel_write_counted(out, count, "time");
    keel_buffer_text(out, "; first: ");
    keel_write_foreign(out, first);
    keel_buffer_byte(out, '\n');
}

// ---- the end of a run --------------------------------------------------------------------------

static const char *line_of_cause(const keel_why_recompile_t *recompile) {
    return *recompile->shown ? recompile->shown : recompile->site.shown;
}

// All that are shown as one.
typedef struct alike_t {
    size_t first;
    keel_took_t took;
    uint64_t ops;
} alike_t;

// What those have in common: the line and the cause, or the program if these are unknown. A line
// can recompile several programs: those before and after a host read.
static void name_alike(keel_buffer_t *out, const keel_why_recompile_t *recompile) {
    bool has_line = *recompile->cause && *line_of_cause(recompile);
    const char *const texts[] = {recompile->cause, recompile->subject,
                                 has_line ? line_of_cause(recompile) : recompile->site.shown,
                                 has_line ? "" : recompile->name};
    out->size = 0;
    keel_buffer_byte(out, has_line);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        keel_buffer_append(out, texts[i], strlen(texts[i]) + 1);
}

// `groups` has room for all.
static keel_status_t gather_alike(const keel_why_t *why, keel_map_t *known, keel_buffer_t *name,
                                  alike_t *groups, size_t *out_count) {
    for (size_t i = 0; i < why->summary.recompile_count; ++i) {
        const keel_why_recompile_t *recompile = &why->summary.recompiles[i];
        name_alike(name, recompile);
        KEEL_TRY(keel_buffer_status(name));
        const uint64_t *found = keel_map_find(known, keel_buffer_bytes(name));
        size_t at = found ? (size_t)*found : *out_count;
        if (!found) KEEL_TRY(keel_map_put(known, keel_buffer_bytes(name), at));
        if (!found) groups[(*out_count)++] = (alike_t){.first = i};
        keel_took_add(&groups[at].took, &recompile->took);
        groups[at].ops += recompile->ops;
    }
    return NULL;
}

static int by_price(const void *left, const void *right) {
    const alike_t *a = left, *b = right;
    int order = keel_took_order(&a->took, a->ops, &b->took, b->ops);
    return order ? order : a->first < b->first ? -1 : 1;
}

// The most expensive first.
static keel_status_t sort_alike(const keel_why_t *why, alike_t **out, size_t *out_count) {
    void *memory;
    keel_map_t known;
    keel_buffer_t name;
    *out_count = 0;
    KEEL_TRY(keel_calloc(why->summary.recompile_count, sizeof **out, &memory));
    keel_map_initialize(&known);
    keel_buffer_initialize(&name, 0);
    *out = memory;
    keel_status_t status = gather_alike(why, &known, &name, *out, out_count);
    keel_map_deinitialize(&known);
    keel_buffer_deinitialize(&name);
    if (status)
        keel_free(*out);
    else
        qsort(*out, *out_count, sizeof **out, by_price);
    return status;
}

static void print_place(keel_buffer_t *out, const keel_why_recompile_t *recompile) {
    keel_write_foreign(out, *recompile->site.shown ? recompile->site.shown : "unknown line");
    if (!*recompile->name) return;
    keel_buffer_text(out, " (");
    keel_write_foreign(out, recompile->name);
    keel_buffer_byte(out, ')');
}

// "train.py:13 shape batch['x'] f32[8,4] -> f32[5,4]"; of several only what they have in common. A
// subject, and each value, has at most `limit` columns (0: any number).
static void cause(keel_buffer_t *out, const keel_why_recompile_t *recompile, bool whole,
                  unsigned limit) {
    if (!*recompile->cause) {
        print_place(out, recompile);
        return;
    }
    keel_flow_t flow = {.out = out};
    const char *shown = line_of_cause(recompile);
    if (!keel_why_is_of_run(keel_cause_by_word(recompile->cause))) {
        keel_write_foreign(out, *shown             ? shown
                                : *recompile->name ? recompile->name
                                                   : "unknown line");
        keel_script_write(&recompile->site, out);
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

void keel_text_recompile(const keel_why_recompile_t *recompile, keel_buffer_t *out) {
    cause(out, recompile, true, VALUE_COLUMNS);
}

static bool is_explained(const keel_why_t *why) {
    for (size_t i = 0; i < why->summary.recompile_count; ++i)
        if (*why->summary.recompiles[i].cause) return true;
    return false;
}

// The most expensive lines first; names up to LINES_IN_SUMMARY.
static void dearest_lines(const keel_why_t *why, keel_buffer_t *out) {
    alike_t *groups;
    size_t count;
    keel_status_t status = sort_alike(why, &groups, &count);
    out->failed |= status != NULL;
    keel_status_ignore(status);
    if (status) return;
    for (size_t i = 0; i < count && i < LINES_IN_SUMMARY; ++i) {
        const keel_why_recompile_t *named = &why->summary.recompiles[groups[i].first];
        uint64_t times = groups[i].took.times;
        keel_buffer_text(out, i ? ", " : ": ");
        cause(out, named, times == 1, VALUE_COLUMNS);
        if (times > 1)
            keel_buffer_format(out, "%s%" PRIu64 " times%s", *named->cause ? " (" : " ", times,
                               *named->cause ? ")" : "");
    }
    if (count > LINES_IN_SUMMARY) keel_buffer_text(out, ", ...");
    keel_free(groups);
}

// A few retraces are in `keel why` only: next to what they save, they cost nothing.
static void retraces(const keel_why_t *why, keel_buffer_t *out) {
    enum { MANY = 16 };
    static const double much = 0.1; // seconds
    if (why->retraces.times < MANY && why->retraces.seconds < much) return;
    keel_buffer_text(out, "keel: ");
    keel_write_counted(out, why->retraces.times, "retrace");
    keel_write_cost(out, &why->retraces);
    size_t count = why->retraced_count, shown = count < LINES_IN_SUMMARY ? count : LINES_IN_SUMMARY;
    for (size_t i = 0; i < shown; ++i) {
        const keel_why_cost_t *line = &why->retraced[i];
        keel_buffer_text(out, i ? ", " : ": ");
        keel_write_foreign(out, *line->place.shown ? line->place.shown : "unknown line");
        if (count > 1)
            keel_buffer_format(out, " (%" PRIu64 " time%s)", line->took.times,
                               line->took.times == 1 ? "" : "s");
    }
    keel_buffer_text(out, shown < count ? ", ...; run `keel why`\n" : "; run `keel why`\n");
}

void keel_text_damage(const keel_run_t *run, keel_buffer_t *out) {
    keel_write_damage(out, run->path, &run->damage);
}

void keel_text_summary(const keel_why_t *why, keel_buffer_t *out) {
    bool is_rehearsal = keel_is_rehearsal(&why->run);
    if (is_rehearsal) keel_rehearsal_failures(&why->run, out);
    keel_buffer_text(out, "keel: ");
    if (is_rehearsal) {
        keel_buffer_text(out, "rehearsed on ");
        keel_write_foreign(out, why->run.rehearsal.target.name);
        keel_buffer_text(out, ": ");
    }
    if (why->run.steps) {
        keel_write_counted(out, why->run.steps, "step");
        keel_buffer_text(out, ", ");
    }
    keel_write_counted(out, why->run.program_count, "program");
    keel_buffer_text(out, "; ");
    compiles_and_loads(why, out);
    settled(why, out);
    keel_buffer_byte(out, '\n');
    if (why->summary.recompile_count) {
        keel_buffer_text(out, "keel: ");
        keel_write_counted(out, why->summary.recompile_count, "recompile");
        keel_write_cost(out, &why->summary.again);
        dearest_lines(why, out);
        keel_buffer_text(out, is_explained(why) ? "; run `keel why`\n" : "\n");
    }
    if (why->run.reads.cut_count) {
        const char *shown = why->run.reads.lines[0].shown;
        keel_buffer_text(out, "keel: host reads split steps ");
        keel_reads_times(&why->run.reads, out);
        keel_buffer_text(out, ": ");
        keel_write_foreign(out, *shown ? shown : "unknown line");
        keel_buffer_text(out, why->run.reads.cut_count > 1 ? ", ...; run `keel why`\n"
                                                           : "; run `keel why`\n");
    }
    retraces(why, out);
    const keel_took_t *known = &why->summary.known;
    if (known->times) {
        keel_buffer_text(out, "keel: ");
        keel_write_counted(out, known->times, "program");
        keel_buffer_text(out, " known from earlier runs");
        keel_write_cost(out, known);
        keel_buffer_text(out, known->times == 1           ? ": "
                              : keel_took_is_known(known) ? "; the most expensive: "
                                                          : "; the largest: ");
        cause(out, &why->summary.dearest_known, true, VALUE_COLUMNS);
        keel_buffer_text(out, "; run `keel why`\n");
    }
    if (is_rehearsal) keel_rehearsal_summary(&why->run, out);
    if (!is_rehearsal && why->run.asides.misfit_count) {
        keel_buffer_text(out, "keel: ");
        keel_misfit_sentence(&why->run.asides.misfits[0], out);
        if (why->run.asides.misfit_count > 1)
            keel_buffer_format(out, ", and %zu more", why->run.asides.misfit_count - 1);
        keel_buffer_text(out, "; run `keel memory`\n");
    }
    if (why->run.asides.unexplained) {
        keel_buffer_text(out, "keel: ");
        keel_unexplained_sentence(&why->run.asides, out);
        keel_buffer_byte(out, '\n');
    }
    if (why->run.asides.elsewhere) {
        keel_buffer_text(out, "keel: ");
        keel_elsewhere_sentence(&why->run.asides, out);
        keel_buffer_byte(out, '\n');
    }
    if (why->run.asides.unkept) {
        keel_buffer_text(out, "keel: ");
        keel_unkept_sentence(&why->run.asides, out);
        keel_buffer_byte(out, '\n');
    }
    if (why->run.summed) {
        keel_buffer_text(out, "keel: ");
        keel_summed_sentence(&why->run, out);
        keel_buffer_byte(out, '\n');
    }
    for (size_t i = 0; i < why->run.remotes.count; ++i) {
        if (!keel_remote_use_troubles(&why->run.remotes.list[i])) continue;
        keel_buffer_text(out, "keel: remote ");
        keel_remote_sentence(&why->run.remotes.list[i], out);
        keel_buffer_byte(out, '\n');
    }
    if (why->run.store_errors) {
        keel_buffer_text(out, "keel: the cache failed ");
        times(out, why->run.store_errors, why->run.first_store_error);
    }
    if (why->run.unfinished) {
        keel_buffer_format(
            out,
            "keel: %" PRIu64
            " process%s no end event in the journal (killed, or the journal could not be "
            "written): figures may miss what came last\n",
            why->run.unfinished, why->run.unfinished == 1 ? " has" : "es have");
    }
    if (why->run.damage.lines) {
        keel_buffer_text(out, "keel: ");
        keel_text_damage(&why->run, out);
        keel_buffer_byte(out, '\n');
    }
}

// ---- keel stats --------------------------------------------------------------------------------

static void started(const keel_why_t *why, keel_buffer_t *out) {
    char text[24] = "(no event)";
    if (why->run.started > 0) keel_clock_iso((uint64_t)(why->run.started * 1e9), text);
    keel_buffer_text(out, text);
}

static void label(keel_buffer_t *out, const char *text) {
    keel_buffer_format(out, "  %-12s", text);
}

static void print_run_line(const keel_why_t *why, keel_buffer_t *out) {
    keel_write_run(out, &why->run);
    label(out, "started");
    started(why, out);
    keel_buffer_text(out, ", ran ");
    keel_write_seconds(out, why->run.wall_seconds);
    keel_buffer_text(out, ", ");
    keel_buffer_format(out, "%" PRIu64 " process%s", why->run.processes,
                       why->run.processes == 1 ? "" : "es");
    if (why->run.unfinished)
        keel_buffer_format(out,
                           ", %" PRIu64
                           " with no end event in the journal (still running, killed, or "
                           "its journal could not be written): figures may miss what came last",
                           why->run.unfinished);
    keel_buffer_byte(out, '\n');
    for (size_t i = 0; i < why->run.fixes.count; ++i) {
        label(out, "fix");
        keel_fix_write(&why->run.fixes.list[i], out);
        keel_buffer_byte(out, '\n');
    }
    if (keel_is_rehearsal(&why->run)) {
        label(out, "rehearsed");
        keel_buffer_text(out, "on ");
        keel_target_sentence(&why->run.rehearsal.target, out);
        keel_buffer_byte(out, '\n');
    }
    if (!*why->run.mode) return;
    label(out, "plugin");
    keel_write_foreign(out, why->run.plugin_path);
    keel_buffer_text(out, " (platform ");
    keel_write_foreign(out, why->run.plugin_platform);
    keel_buffer_format(out, ", PJRT %s), mode ", why->run.plugin_api);
    keel_write_foreign(out, why->run.mode);
    keel_buffer_byte(out, '\n');
}

static void each_step(const keel_why_t *why, uint64_t count, keel_buffer_t *out) {
    if (why->run.steps > 1)
        keel_buffer_format(out, ", %.1f a step", (double)count / (double)why->run.steps);
}

static void print_moved(const keel_why_t *why, const char *where, const keel_moved_t *moved,
                        const char *noun, keel_buffer_t *out) {
    if (!moved->count) return;
    label(out, where);
    keel_write_counted(out, moved->count, noun);
    each_step(why, moved->count, out);
    keel_buffer_text(out, "; ");
    keel_write_counted(out, moved->bytes, "byte");
    if (!moved->is_untimed) {
        keel_buffer_text(out, ", ");
        keel_write_seconds(out, moved->seconds);
    }
    keel_buffer_byte(out, '\n');
}

// Steps count what looked like a cut at the time; they are left out if it turned out not to be one.
static void print_cuts(const keel_reads_t *reads, keel_buffer_t *out) {
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

static void ahead(const keel_why_t *why, keel_buffer_t *out) {
    label(out, "ahead");
    keel_buffer_format(out, "%-8" PRIu64, why->run.ahead_loads);
    keel_write_seconds(out, why->run.ahead_seconds);
    keel_buffer_text(out, " in the background");
    if (why->run.unused_loads)
        keel_buffer_format(out, "; %" PRIu64 " more never asked for", why->run.unused_loads);
    keel_buffer_byte(out, '\n');
}

static void print_took(const keel_took_t *took, keel_buffer_t *out) {
    keel_buffer_format(out, took->times ? "%-8" PRIu64 : "%" PRIu64, took->times);
    if (took->times) keel_write_took(out, took);
}

static void print_run_figures(const keel_why_t *why, keel_buffer_t *out) {
    label(out, "steps");
    keel_buffer_format(out, "%" PRIu64, why->run.steps);
    settled(why, out);
    keel_buffer_byte(out, '\n');
    label(out, "programs");
    keel_buffer_format(out, "%zu\n", why->run.program_count);
    label(out, "compiles");
    print_took(&why->run.compiles, out);
    if (why->run.compiles.unknown && keel_took_is_known(&why->run.compiles)) {
        keel_buffer_text(out, ": ");
        keel_fates_sentence(&why->run, out);
    }
    keel_buffer_byte(out, '\n');
    label(out, "loads");
    print_took(&why->run.loads, out);
    if (why->run.memory_hits)
        keel_buffer_format(out, ", %" PRIu64 " of them from memory", why->run.memory_hits);
    if (why->run.remote_hits)
        keel_buffer_format(out, ", %" PRIu64 " of them from remotes", why->run.remote_hits);
    if (why->run.asides.by_client)
        keel_buffer_format(out, ", %" PRIu64 " by the client itself", why->run.asides.by_client);
    if (why->run.spared_seconds > 0) {
        keel_buffer_text(out, "; compiling them had cost ");
        keel_write_seconds(out, why->run.spared_seconds);
    }
    keel_buffer_byte(out, '\n');
    if (why->retraces.times) {
        label(out, "retraces");
        print_took(&why->retraces, out);
        keel_buffer_byte(out, '\n');
    }
    if (why->run.ahead_loads || why->run.unused_loads) ahead(why, out);
    label(out, "overhead");
    keel_buffer_format(out, "%-8s", "");
    keel_write_seconds(out, why->run.overhead_seconds);
    keel_buffer_text(out, " inside Compile\n");
    label(out, "misses");
    keel_buffer_format(out, "%" PRIu64 "\n", why->run.misses);
    label(out, "uncacheable");
    keel_buffer_format(out, "%" PRIu64 "\n", why->run.uncacheable);
    label(out, "executes");
    keel_buffer_format(out, "%" PRIu64, why->run.executes);
    each_step(why, why->run.executes, out);
    keel_buffer_byte(out, '\n');
    print_moved(why, "to device", &why->run.reads.to_device, "transfer", out);
    print_moved(why, "from device", &why->run.reads.from_device, "read", out);
    if (why->run.reads.cut_count) print_cuts(&why->run.reads, out);
}

static void failures(const keel_why_t *why, keel_buffer_t *out) {
    if (why->run.store_errors) {
        label(out, "cache error");
        times(out, why->run.store_errors, why->run.first_store_error);
    }
    if (why->run.fallbacks) {
        label(out, "fallbacks");
        times(out, why->run.fallbacks, why->run.first_fallback);
    }
}

static void eager(const keel_why_t *why, keel_buffer_t *out) {
    if (!keel_eager_is_told(&why->eager, &why->run.compiles)) return;
    label(out, "outside jit");
    keel_eager_sentence(&why->eager, out);
    keel_buffer_byte(out, '\n');
}

static void sets(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->set_count; ++i) {
        label(out, i ? "" : "warm-up");
        keel_set_sentence(&why->sets[i], out);
        keel_buffer_byte(out, '\n');
    }
}

static void host_ops(const keel_why_t *why, keel_buffer_t *out) {
    enum { OPS_SHOWN = 4 };
    const keel_asides_t *asides = &why->run.asides;
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

static void misfits(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->run.asides.misfit_count; ++i) {
        label(out, i ? "" : "no memory");
        keel_misfit_sentence(&why->run.asides.misfits[i], out);
        keel_buffer_byte(out, '\n');
    }
}

// A row with a sentence, if there is one; takes it.
static void sentence_row(keel_buffer_t *out, const char *name, keel_buffer_t *sentence) {
    if (sentence->size) {
        label(out, name);
        keel_buffer_append(out, sentence->data, sentence->size);
        keel_buffer_byte(out, '\n');
    }
    out->failed |= sentence->failed;
    keel_buffer_deinitialize(sentence);
    keel_buffer_initialize(sentence, 0);
}

static void elsewhere(const keel_why_t *why, keel_buffer_t *out) {
    if (!why->run.asides.elsewhere) return;
    label(out, "elsewhere");
    keel_elsewhere_sentence(&why->run.asides, out);
    keel_buffer_byte(out, '\n');
}

static void summed(const keel_why_t *why, keel_buffer_t *out) {
    if (!why->run.summed) return;
    label(out, "summed");
    keel_summed_sentence(&why->run, out);
    keel_buffer_byte(out, '\n');
}

static void rehearsal(const keel_why_t *why, keel_buffer_t *out) {
    const keel_run_rehearsal_t *facts = &why->run.rehearsal;
    keel_buffer_t text;
    if (!keel_is_rehearsal(&why->run)) return;
    keel_buffer_initialize(&text, 0);
    for (size_t i = 0; i < facts->refusal_count; ++i) {
        keel_refusal_sentence(&why->run, &facts->refusals[i], false, &text);
        sentence_row(out, i ? "" : "refused", &text);
    }
    if (!why->run.asides.misfit_count) keel_fit_sentence(&why->run, &text);
    sentence_row(out, "fit", &text);
    keel_unreals_refused_sentence(facts, &text);
    sentence_row(out, "held back", &text);
    keel_unreals_sentence(facts, &text);
    sentence_row(out, "not real", &text);
    keel_unreal_constants_sentence(facts, &text);
    sentence_row(out, "", &text);
    keel_written_sentence(&facts->written, why->run.cwd, &text);
    sentence_row(out, "discarded", &text);
    keel_assumed_sentence(&why->run, &text);
    sentence_row(out, "assumed", &text);
    keel_buffer_deinitialize(&text);
}

static void left(keel_buffer_t *out, size_t all, size_t shown, const char *noun) {
    if (all > shown)
        keel_buffer_format(out, "  and %zu more %s%s; --json lists them all\n", all - shown, noun,
                           all - shown == 1 ? "" : "s");
}

static void program_tier(const keel_why_t *why, const keel_run_program_t *program,
                         keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_program_tier(&why->run, program, &text);
    if (text.size) keel_buffer_format(out, "  (%s)", keel_buffer_cstr(&text));
    out->failed |= text.failed;
    keel_buffer_deinitialize(&text);
}

static void remotes(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->run.remotes.count; ++i) {
        label(out, "remote");
        keel_remote_sentence(&why->run.remotes.list[i], out);
        keel_buffer_byte(out, '\n');
    }
}

static void print_program_table(const keel_why_t *why, keel_buffer_t *out) {
    if (!why->run.program_count) return;
    keel_buffer_format(out, "\n%-14s%10s%10s%10s  %s\n", "program", "compiled", "loaded",
                       "executed", "name, line");
    size_t shown = 0;
    for (; shown < why->run.program_count && shown < PROGRAMS_SHOWN; ++shown) {
        const keel_run_program_t *program = &why->run.programs[shown];
        char compiled[32] = "-", loaded[32] = "-";
        if (program->compiles.times) keel_format_took(&program->compiles, compiled);
        if (program->loads.times) keel_format_took(&program->loads, loaded);
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
        program_tier(why, program, out);
        keel_buffer_text(out, program->uncacheable ? "  (uncacheable)\n" : "\n");
    }
    left(out, why->run.program_count, shown, "program");
}

static void whole_place(keel_buffer_t *out, const keel_why_recompile_t *recompile) {
    print_place(out, recompile);
    if (*recompile->site.function) {
        keel_buffer_text(out, " in ");
        keel_write_foreign(out, recompile->site.function);
    }
    if (*recompile->site.call_shown &&
        strcmp(recompile->site.call_shown, recompile->site.shown) != 0) {
        keel_buffer_text(out, ", called from ");
        keel_write_foreign(out, recompile->site.call_shown);
    }
    keel_script_write(&recompile->site, out);
}

// How much of a line that begins with a place values may take: two thirds, for a subject and the
// two sides of a change.
static unsigned value_limit(unsigned width) {
    unsigned limit = width * 2 / 9;
    return !width ? 0 : limit > VALUE_COLUMNS / 4 ? limit : VALUE_COLUMNS / 4;
}

static void recompiles(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    if (!why->summary.recompile_count) return;
    keel_buffer_byte(out, '\n');
    keel_write_counted(out, why->summary.recompile_count, "recompile");
    keel_write_cost(out, &why->summary.again);
    keel_buffer_byte(out, '\n');
    size_t shown = 0;
    for (; shown < why->summary.recompile_count && shown < RECOMPILES_SHOWN; ++shown) {
        const keel_why_recompile_t *recompile = &why->summary.recompiles[shown];
        char cost[32];
        keel_format_took(&recompile->took, cost);
        bool at_end = why->run.steps && !why->run.unfinished && recompile->step > why->run.steps;
        keel_buffer_format(out,
                           at_end ? "  after %-5" PRIu64 "%10s  " : "  step %-6" PRIu64 "%10s  ",
                           recompile->step - at_end, cost);
        if (*recompile->cause)
            cause(out, recompile, true, value_limit(width));
        else
            whole_place(out, recompile);
        keel_buffer_byte(out, '\n');
    }
    left(out, why->summary.recompile_count, shown, "recompile");
}

static void read_row(const keel_moved_t *moved, uint64_t cuts, const char *where,
                     keel_buffer_t *out) {
    char took[24] = "-";
    if (!moved->is_untimed) keel_format_seconds(moved->seconds, took);
    keel_buffer_format(out, "%-14" PRIu64 "%10" PRIu64 "%10s%10" PRIu64 "  ", moved->count,
                       moved->bytes, took, cuts);
    keel_write_foreign(out, where);
    keel_buffer_byte(out, '\n');
}

static void print_reads(const keel_why_t *why, keel_buffer_t *out) {
    const keel_reads_t *reads = &why->run.reads;
    if (!reads->count) return;
    keel_buffer_format(out, "\n%-14s%10s%10s%10s  %s\n", "reads", "bytes", "time", "cuts", "line");
    size_t shown = 0;
    for (; shown < reads->count && shown < READS_SHOWN; ++shown) {
        const keel_reads_line_t *line = &reads->lines[shown];
        read_row(&line->moved, line->cuts, *line->shown ? line->shown : "unknown line", out);
    }
    if (reads->elsewhere.count) read_row(&reads->elsewhere, 0, "elsewhere (no line)", out);
    left(out, reads->count, shown, "line");
}

void keel_text_stats(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    print_run_line(why, out);
    print_run_figures(why, out);
    eager(why, out);
    sets(why, out);
    host_ops(why, out);
    misfits(why, out);
    elsewhere(why, out);
    remotes(why, out);
    summed(why, out);
    rehearsal(why, out);
    failures(why, out);
    print_program_table(why, out);
    print_reads(why, out);
    recompiles(why, width, out);
}

// A command of many options may be long: as many lines as show what is run.
enum { COMMAND_LINES = 3 };

static void command(const keel_why_t *why, keel_flow_t *flow) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_flow_t whole = {.out = &text};
    unsigned room = flow->width ? COMMAND_LINES * (flow->width - flow->indent) : 0;
    keel_flow_around(&whole, why->run.command, 0, room);
    keel_flow_buffer(flow, &text);
}

void keel_text_line(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    enum { INDENT = 2 };
    char size[16];
    keel_buffer_t facts, done;
    keel_buffer_initialize(&facts, 0);
    keel_buffer_initialize(&done, 0);
    keel_buffer_format(&facts, "%s  ", why->run.id);
    started(why, &facts);
    keel_format_size(why->run.journal_bytes, size);
    keel_buffer_format(&facts, "  %8s  ", size);
    if (keel_is_rehearsal(&why->run)) {
        keel_buffer_text(&facts, "on ");
        keel_write_foreign(&facts, why->run.rehearsal.target.name);
        keel_buffer_text(&facts, ": ");
    }
    compiles_and_loads(why, &done);
    keel_flow_t flow = {.out = out, .width = width, .indent = INDENT};
    size_t needed = facts.size + done.size;
    bool is_one = !width || needed + 2 + keel_flow_columns(why->run.command) <= width;
    keel_flow_text(&flow, keel_buffer_cstr(&facts));
    if (width && needed > width) keel_flow_break(&flow);
    keel_flow_buffer(&flow, &done);
    if (is_one)
        keel_flow_blanks(&flow, 2);
    else
        keel_flow_break(&flow);
    command(why, &flow);
    out->failed |= facts.failed;
    keel_buffer_deinitialize(&facts);
}
