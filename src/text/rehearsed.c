#include "text/rehearsed.h"

#include <inttypes.h>

#include "text/facts.h"
#include "text/flow.h"
#include "text/write.h"

enum { LINES_SHOWN = 3 }; // in one sentence

// "jit_step (train.py:88)"
static void program(keel_buffer_t *out, const char *name, const char *shown) {
    keel_write_foreign(out, *name ? name : "a program without a name");
    if (!*shown) return;
    keel_buffer_text(out, " (");
    keel_write_foreign(out, shown);
    keel_buffer_byte(out, ')');
}

static const char *line_or_unknown(const char *shown) {
    return *shown ? shown : "unknown line";
}

void keel_target_sentence(const keel_run_target_t *target, keel_buffer_t *out) {
    keel_write_foreign(out, target->name);
    if (!target->devices || !*target->kind) return;
    keel_buffer_format(out, " (%" PRIu64 " x ", target->devices);
    keel_write_foreign(out, target->kind);
    if (target->memory) {
        keel_buffer_text(out, ", ");
        keel_write_size(out, target->memory);
        keel_buffer_text(out, target->devices > 1 ? " each" : "");
    }
    keel_buffer_byte(out, ')');
}

// ---- compiles ----------------------------------------------------------------------------------

static void partitioned(const keel_run_t *run, keel_buffer_t *out) {
    if (!run->partitioned.times) return;
    keel_buffer_format(out, ", %" PRIu64 " only partitioned (", run->partitioned.times);
    keel_write_seconds(out, run->partitioned.seconds);
    keel_buffer_byte(out, ')');
}

void keel_fates_sentence(const keel_run_t *run, keel_buffer_t *out) {
    static const struct {
        keel_run_fate_t fate;
        const char *words;
    } others[] = {{KEEL_RUN_REFUSED, "refused"},
                  {KEEL_RUN_PENDING, "not done when the process ended"},
                  {KEEL_RUN_SKIPPED, "not compiled"}};
    uint64_t done = run->fates[KEEL_RUN_COMPILED];
    bool any = done;
    if (run->fates[KEEL_RUN_SKIPPED] == run->compiles.times) {
        keel_buffer_text(out, "nothing compiled");
        partitioned(run, out);
        return;
    }
    if (done) {
        keel_write_counted(out, done, "compile");
        keel_buffer_byte(out, ' ');
        keel_write_seconds(out, run->compiles.seconds);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        uint64_t count = run->fates[others[i].fate];
        if (!count) continue;
        keel_buffer_format(out, "%s%" PRIu64 " %s", any ? ", " : "", count, others[i].words);
        any = true;
    }
    partitioned(run, out);
}

// Of what there may be many, and each time it is the same.
static void refused_action(const keel_run_t *run, const keel_refusal_t *refusal,
                           keel_buffer_t *out) {
    if (strcmp(refusal->action, "client") == 0) {
        keel_buffer_text(out, "no client of ");
        keel_write_foreign(out, run->rehearsal.target.name);
        keel_buffer_text(out, " could be made");
    } else if (strcmp(refusal->action, "execution") == 0) {
        program(out, refusal->name, refusal->shown);
        keel_buffer_text(out, " could not be executed");
    } else {
        keel_write_foreign(out, line_or_unknown(refusal->shown));
        keel_buffer_text(out, " could not move an array");
    }
    if (refusal->times > 1) {
        keel_buffer_text(out, ", ");
        keel_write_counted(out, refusal->times, "time");
    }
    keel_buffer_text(out, ": ");
}

static void refused_program(const keel_run_t *run, const keel_refusal_t *refusal,
                            keel_buffer_t *out) {
    program(out, refusal->name, refusal->shown);
    if (refusal->is_gates) {
        keel_buffer_text(out, " was refused: ");
    } else if (refusal->is_keels) {
        keel_buffer_text(out, " cannot be rehearsed: ");
    } else {
        keel_buffer_text(out, " does not compile for ");
        keel_write_foreign(out, run->rehearsal.target.name);
        keel_buffer_text(out, ": ");
    }
}

void keel_refusal_sentence(const keel_run_t *run, const keel_refusal_t *refusal, bool whole,
                           keel_buffer_t *out) {
    enum { LONGEST = 200 };
    keel_str_t message = keel_str(refusal->message);
    if (strcmp(refusal->action, "compile") == 0)
        refused_program(run, refusal, out);
    else
        refused_action(run, refusal, out);
    size_t line = strcspn(message.data, "\n");
    bool is_cut = !whole && (line < message.size || line > LONGEST);
    if (!whole) message.size = line < LONGEST ? line : LONGEST;
    while (is_cut && message.size && ((uint8_t)message.data[message.size] & 0xc0) == 0x80)
        --message.size;
    keel_write_foreign_str(out, message);
    keel_buffer_text(out, is_cut ? " ..." : "");
}

void keel_drift_sentence(const keel_run_t *run, const keel_drift_t *drift, keel_buffer_t *out) {
    keel_buffer_format(out, "process %" PRIu64 "%s executes ", drift->least_process,
                       drift->least ? "" : " never");
    program(out, drift->name, drift->shown);
    if (drift->least) {
        keel_buffer_byte(out, ' ');
        keel_write_counted(out, drift->least, "time");
    }
    keel_buffer_format(out, "%s process %" PRIu64 "%s ", drift->least ? "," : ", which",
                       drift->most_process, drift->least ? "" : " executes");
    keel_write_counted(out, drift->most, "time");
    keel_buffer_text(out, ": on ");
    keel_write_foreign(out, run->rehearsal.target.name);
    keel_buffer_text(out, " itself one would wait for the other");
}

// ---- memory ------------------------------------------------------------------------------------

static void share(keel_buffer_t *out, const char *words, const keel_run_fit_t *fit) {
    keel_buffer_text(out, words);
    keel_write_size(out, fit->largest->most);
    if (fit->limit) {
        keel_buffer_text(out, " of the ");
        keel_write_size(out, fit->limit);
        keel_buffer_text(out, " of a device");
    } else {
        keel_buffer_text(out, " on a device");
    }
    // What only began when the most was in use need not be what uses most.
    if (!fit->largest->is_known) return;
    keel_buffer_text(out, ", in ");
    program(out, fit->largest->name, fit->largest->shown);
}

// "jit_step (t.py:8) and 2 other programs need"
static void unknown_needs(const keel_run_fit_t *fit, keel_buffer_t *out) {
    program(out, fit->asked->name, fit->asked->shown);
    if (fit->unknown > 1) {
        keel_buffer_text(out, " and ");
        keel_write_counted(out, fit->unknown - 1, "other program");
    }
    keel_buffer_text(out, fit->unknown > 1 ? " need" : " needs");
}

static void too_large(const keel_run_t *run, const keel_run_fit_t *fit, keel_buffer_t *out) {
    if (run->asides.misfit_count) {
        keel_misfit_sentence(&run->asides.misfits[0], out);
        if (run->asides.misfit_count > 1)
            keel_buffer_format(out, ", and %zu more", run->asides.misfit_count - 1);
        return;
    }
    keel_buffer_text(out, "does not fit: ");
    program(out, fit->largest->name, fit->largest->shown);
    keel_buffer_text(out, fit->largest->is_known ? " needs " : " needs at least ");
    keel_write_size(out, fit->largest->most);
    keel_buffer_text(out, " on a device, there are ");
    keel_write_size(out, fit->limit);
}

void keel_fit_sentence(const keel_run_t *run, keel_buffer_t *out) {
    keel_run_fit_t fit = keel_run_fit(run);
    if (fit.verdict == KEEL_RUN_TOO_LARGE) {
        too_large(run, &fit, out);
    } else if (fit.verdict == KEEL_RUN_FITS) {
        share(out, "fits: at most ", &fit);
    } else if (fit.largest && fit.unknown) {
        share(out, "memory: at least ", &fit);
        keel_buffer_text(out, "; what ");
        unknown_needs(&fit, out);
        keel_buffer_text(out, " besides arguments and results is not known without a compile");
    } else if (fit.largest) {
        share(out, run->unfinished ? "memory: so far at most " : "memory: at most ", &fit);
        if (fit.limit) return;
        keel_buffer_text(out, "; how much a device of ");
        keel_write_foreign(out, run->rehearsal.target.name);
        keel_buffer_text(out, " has is not known");
    }
}

// ---- values that no device computed
// --------------------------------------------------------------

// What such values read as, if the journal says so: ", as zeros".
static void as_values(const keel_run_target_t *target, keel_buffer_t *out) {
    if (!*target->values) return;
    keel_buffer_text(out, ", as ");
    keel_write_foreign(out, target->values);
}

void keel_unreal_sentence(const keel_unreal_t *unreal, keel_buffer_t *out) {
    if (*unreal->into) {
        keel_write_foreign(out, unreal->into);
        keel_buffer_text(out, " has what ");
        keel_write_foreign(out, *unreal->maker ? unreal->maker : "another program");
        keel_buffer_text(out, " makes as a constant, read at ");
        keel_write_foreign(out, line_or_unknown(unreal->shown));
        return;
    }
    keel_write_foreign(out, line_or_unknown(unreal->shown));
    keel_buffer_text(out, unreal->times ? " reads what " : " was refused what ");
    keel_write_foreign(out, *unreal->maker ? unreal->maker : "a program");
    keel_buffer_text(out, " makes, ");
    keel_write_counted(out, unreal->times ? unreal->times : unreal->refused, "time");
    if (unreal->times && unreal->refused) {
        keel_buffer_text(out, ", and was refused it ");
        keel_write_counted(out, unreal->refused, "time");
    }
}

void keel_left_sentence(const keel_run_rehearsal_t *rehearsal, const keel_left_t *left,
                        keel_buffer_t *out) {
    keel_write_foreign(out, line_or_unknown(left->shown));
    keel_buffer_text(out, left->decides ? " branches on what " : " reads what ");
    keel_write_foreign(out, *left->maker ? left->maker : "a program");
    keel_buffer_text(out, " makes, which no device computed, and ");
    keel_buffer_text(out, left->raised ? "an error at " : "the loop at ");
    keel_write_foreign(out, left->loop);
    keel_buffer_text(out, left->raised ? " ended the script" : " ended");
    if (left->rounds)
        keel_buffer_format(out, " in round %" PRIu64 " of %" PRIu64, left->round, left->rounds);
    keel_buffer_text(out, ": on a real ");
    keel_write_foreign(out, rehearsal->target.name);
    keel_buffer_text(out, " it may go on");
}

static bool is_same_line(const keel_unreal_t *a, const keel_unreal_t *b) {
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

typedef enum unreal_use_t { UNREAL_READ, UNREAL_REFUSED, UNREAL_CONSTANT } unreal_use_t;

static bool is_used(const keel_unreal_t *unreal, unreal_use_t use) {
    if (use == UNREAL_CONSTANT) return *unreal->into;
    return !*unreal->into && (use == UNREAL_READ ? unreal->times : unreal->refused);
}

// The first of its line, or of its program if it is a constant, among those of that use.
static bool is_first(const keel_run_rehearsal_t *rehearsal, size_t index, unreal_use_t use) {
    const keel_unreal_t *own = &rehearsal->unreals[index];
    if (!is_used(own, use)) return false;
    for (size_t i = 0; i < index; ++i) {
        const keel_unreal_t *other = &rehearsal->unreals[i];
        if (!is_used(other, use)) continue;
        if (use == UNREAL_CONSTANT ? strcmp(own->into, other->into) == 0 : is_same_line(own, other))
            return false;
    }
    return true;
}

static uint64_t count_firsts(const keel_run_rehearsal_t *rehearsal, unreal_use_t use) {
    uint64_t count = 0;
    for (size_t i = 0; i < rehearsal->unreal_count; ++i)
        count += is_first(rehearsal, i, use);
    return count;
}

static void list_firsts(const keel_run_rehearsal_t *rehearsal, unreal_use_t use,
                        keel_buffer_t *out) {
    size_t shown = 0;
    for (size_t i = 0; i < rehearsal->unreal_count; ++i) {
        const keel_unreal_t *unreal = &rehearsal->unreals[i];
        if (!is_first(rehearsal, i, use)) continue;
        keel_buffer_text(out, shown ? ", " : ": ");
        if (shown++ == LINES_SHOWN) {
            keel_buffer_text(out, "...");
            return;
        }
        const char *line = line_or_unknown(unreal->shown);
        keel_write_foreign(out, use == UNREAL_CONSTANT ? unreal->into : line);
        keel_buffer_text(out, " (");
        keel_write_foreign(out, use == UNREAL_CONSTANT ? line : unreal->maker);
        keel_buffer_byte(out, ')');
    }
}

void keel_unreals_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out) {
    uint64_t count = count_firsts(rehearsal, UNREAL_READ);
    if (!count) return;
    keel_write_counted(out, count, "line");
    keel_buffer_text(out, count == 1 ? " reads values" : " read values");
    keel_buffer_text(out, " that no device computed");
    as_values(&rehearsal->target, out);
    list_firsts(rehearsal, UNREAL_READ, out);
}

void keel_unreals_refused_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out) {
    uint64_t count = count_firsts(rehearsal, UNREAL_REFUSED);
    if (!count) return;
    keel_write_counted(out, count, "line");
    keel_buffer_text(out, count == 1 ? " was refused values" : " were refused values");
    keel_buffer_text(out, " that no device computed, which would replace files");
    list_firsts(rehearsal, UNREAL_REFUSED, out);
}

void keel_unreal_constants_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out) {
    uint64_t count = count_firsts(rehearsal, UNREAL_CONSTANT);
    if (!count) return;
    keel_write_counted(out, count, "program");
    keel_buffer_text(out, count == 1 ? " has constants" : " have constants");
    keel_buffer_text(out, " that no device computed");
    list_firsts(rehearsal, UNREAL_CONSTANT, out);
}

// ---- what only the machine tells ---------------------------------------------------------------

static void list_assumed(const keel_run_target_t *target, keel_buffer_t *out) {
    size_t most = sizeof target->assumed / sizeof *target->assumed;
    for (size_t i = 0; i < most && target->assumed[i]; ++i) {
        bool is_last = i + 1 == most || !target->assumed[i + 1];
        keel_buffer_text(out, !i ? "" : is_last ? " and " : ", ");
        keel_write_foreign(out, target->assumed[i]);
    }
}

void keel_assumed_sentence(const keel_run_t *run, keel_buffer_t *out) {
    const keel_run_target_t *target = &run->rehearsal.target;
    if (!*target->assumed || !run->fates[KEEL_RUN_COMPILED]) return;
    keel_buffer_text(out, "what was compiled assumes the machine's ");
    list_assumed(target, out);
    keel_buffer_text(out, "; `keel probe --json` shows them there");
}

// ---- what was not written ----------------------------------------------------------------------

static void write_path(const char *path, const char *folder, keel_buffer_t *out) {
    size_t length = strlen(folder);
    bool is_below = length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/';
    if (is_below) path += length + 1;
    keel_write_foreign(out, *path ? path : "./");
}

// "12 files, 3.2 GiB"
static void write_amount(uint64_t files, uint64_t bytes, keel_buffer_t *out) {
    char size[16];
    keel_format_size(bytes, size);
    keel_write_counted(out, files, "file");
    keel_buffer_format(out, ", %s", size);
}

static void write_group(const keel_journal_written_group_t *group, const char *folder, bool is_only,
                        keel_buffer_t *out) {
    bool is_folder = keel_str_ends(keel_str(group->path), KEEL_STR("/"));
    if (!is_only && is_folder && group->files)
        keel_buffer_format(out, "%llu ", (unsigned long long)group->files);
    if (is_folder) keel_buffer_text(out, "below ");
    write_path(group->path, folder, out);
    if (!is_only && group->removed)
        keel_buffer_format(out, " (%llu removed)", (unsigned long long)group->removed);
}

void keel_written_sentence(const keel_journal_written_t *written, const char *folder,
                           keel_buffer_t *out) {
    bool is_only = written->group_count == 1;
    if (!written->files && !written->removed) return;
    keel_buffer_text(out, "would have ");
    if (written->files) {
        keel_buffer_text(out, "written ");
        write_amount(written->files, written->bytes, out);
    }
    if (written->removed) {
        keel_buffer_text(out, written->files ? " and removed " : "removed ");
        keel_write_counted(out, written->removed, "file");
    }
    for (size_t i = 0; i < written->group_count; ++i) {
        keel_buffer_text(out, i || is_only ? ", " : ": ");
        write_group(&written->groups[i], folder, is_only, out);
    }
}

// ---- the summary -------------------------------------------------------------------------------

static void summary_line(keel_buffer_t *text, const char *more, keel_buffer_t *out) {
    if (text->size) {
        keel_buffer_text(out, "keel: ");
        keel_buffer_append(out, text->data, text->size);
        keel_buffer_text(out, more);
    }
    out->failed |= text->failed;
    keel_buffer_deinitialize(text);
    keel_buffer_initialize(text, 0);
}

void keel_rehearsal_failures(const keel_run_t *run, keel_buffer_t *out) {
    const keel_run_rehearsal_t *rehearsal = &run->rehearsal;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (rehearsal->refusal_count) {
        keel_refusal_sentence(run, &rehearsal->refusals[0], false, &text);
        if (rehearsal->refusal_count > 1)
            keel_buffer_format(&text, "; and %zu more; run `keel why`",
                               rehearsal->refusal_count - 1);
        summary_line(&text, "\n", out);
    }
    keel_unreals_refused_sentence(rehearsal, &text);
    summary_line(&text, "\n", out);
    if (rehearsal->left_count) {
        keel_left_sentence(rehearsal, &rehearsal->lefts[0], &text);
        if (rehearsal->left_count > 1)
            keel_buffer_format(&text, "; and %zu more; run `keel why`", rehearsal->left_count - 1);
        summary_line(&text, "\n", out);
    }
    keel_buffer_deinitialize(&text);
}

void keel_rehearsal_summary(const keel_run_t *run, keel_buffer_t *out) {
    const keel_run_rehearsal_t *rehearsal = &run->rehearsal;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (rehearsal->drift_count) {
        keel_drift_sentence(run, &rehearsal->drifts[0], &text);
        if (rehearsal->drift_count > 1)
            keel_buffer_format(&text, "; and %zu more; run `keel why`", rehearsal->drift_count - 1);
        summary_line(&text, "\n", out);
    }
    keel_fit_sentence(run, &text);
    bool is_over = keel_run_fit(run).verdict == KEEL_RUN_TOO_LARGE;
    summary_line(&text, is_over ? "; run `keel memory`\n" : "\n", out);
    keel_unreals_sentence(rehearsal, &text);
    summary_line(&text, "\n", out);
    keel_unreal_constants_sentence(rehearsal, &text);
    summary_line(&text, "; on the device these are other programs\n", out);
    keel_assumed_sentence(run, &text);
    summary_line(&text, "\n", out);
    keel_buffer_deinitialize(&text);
}

// ---- keel why ----------------------------------------------------------------------------------

static void tell_refusals(const keel_run_t *run, unsigned width, keel_buffer_t *out) {
    for (size_t i = 0; i < run->rehearsal.refusal_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_refusal_sentence(run, &run->rehearsal.refusals[i], true, &text);
        keel_flow_paragraph(&text, width, out);
    }
}

static void tell_drifts(const keel_run_t *run, bool all, unsigned width, keel_buffer_t *out) {
    enum { DRIFTS_SHOWN = 10 };
    size_t count = run->rehearsal.drift_count,
           shown = all || count < DRIFTS_SHOWN ? count : DRIFTS_SHOWN;
    for (size_t i = 0; i < shown; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_drift_sentence(run, &run->rehearsal.drifts[i], &text);
        keel_flow_paragraph(&text, width, out);
    }
    if (shown < count) keel_buffer_format(out, "... and %zu more; keel why --all\n", count - shown);
}

bool keel_rehearsal_has_limits(const keel_run_t *run) {
    return run->rehearsal.unreal_count || run->rehearsal.left_count || run->rehearsal.guess_count ||
           run->fates[KEEL_RUN_PENDING] || run->fates[KEEL_RUN_SKIPPED];
}

void keel_rehearsal_limits_head(const keel_run_t *run, keel_buffer_t *out) {
    keel_buffer_text(out, "On ");
    keel_write_foreign(out, run->rehearsal.target.name);
    keel_buffer_text(out, " itself this may differ:");
}

typedef struct limits_t {
    void (*say)(void *context, keel_buffer_t *text);
    void *context;
    size_t most, count;
} limits_t;

// Takes the text.
static void say(limits_t *limits, keel_buffer_t *text) {
    if (limits->count++ < limits->most)
        limits->say(limits->context, text);
    else
        keel_buffer_deinitialize(text);
}

static void say_unreal(const keel_run_rehearsal_t *rehearsal, limits_t *limits) {
    for (size_t i = 0; i < rehearsal->unreal_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_unreal_sentence(&rehearsal->unreals[i], &text);
        keel_buffer_text(&text, "; no device computed it");
        if (*rehearsal->target.values && rehearsal->unreals[i].times) {
            keel_buffer_text(&text, ", so it read as ");
            keel_write_foreign(&text, rehearsal->target.values);
        }
        say(limits, &text);
    }
}

static void say_lefts(const keel_run_rehearsal_t *rehearsal, limits_t *limits) {
    for (size_t i = 0; i < rehearsal->left_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_left_sentence(rehearsal, &rehearsal->lefts[i], &text);
        say(limits, &text);
    }
}

static void say_guesses(const keel_run_rehearsal_t *rehearsal, limits_t *limits) {
    for (size_t i = 0; i < rehearsal->guess_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_buffer_text(&text, "how the results of ");
        program(&text, rehearsal->guesses[i].name, rehearsal->guesses[i].shown);
        keel_buffer_text(&text, " are sharded is not known; they count as whole on each device");
        say(limits, &text);
    }
}

static void say_unknown_compiles(const keel_run_t *run, limits_t *limits) {
    static const struct {
        keel_run_fate_t fate;
        const char *words;
    } rows[] = {{KEEL_RUN_SKIPPED, "not compiled: whether the compiler takes them, how long that "
                                   "takes and what they need is not known"},
                {KEEL_RUN_PENDING, "still with the compiler when the process ended"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_buffer_t text;
        uint64_t count = run->fates[rows[i].fate];
        if (!count) continue;
        keel_buffer_initialize(&text, 0);
        keel_write_counted(&text, count, "program");
        keel_buffer_text(&text, count == 1 ? " was " : " were ");
        keel_buffer_text(&text, rows[i].words);
        say(limits, &text);
    }
}

size_t keel_rehearsal_limits(const keel_run_t *run, size_t most,
                             void (*told)(void *context, keel_buffer_t *text), void *context) {
    limits_t limits = {.say = told, .context = context, .most = most};
    say_unknown_compiles(run, &limits);
    say_lefts(&run->rehearsal, &limits);
    say_unreal(&run->rehearsal, &limits);
    say_guesses(&run->rehearsal, &limits);
    return limits.count;
}

typedef struct limit_lines_t {
    keel_buffer_t *out;
    unsigned width;
} limit_lines_t;

static void limit_line(void *context, keel_buffer_t *text) {
    const limit_lines_t *lines = context;
    keel_flow_t flow = {.out = lines->out, .width = lines->width, .indent = 2};
    keel_flow_line(&flow);
    keel_flow_buffer(&flow, text);
    keel_flow_end(&flow);
}

static void tell_limits(const keel_run_t *run, bool all, unsigned width, keel_buffer_t *out) {
    enum { LIMITS_SHOWN = 10 };
    limit_lines_t lines = {out, width};
    keel_buffer_t text;
    if (!keel_rehearsal_has_limits(run)) return;
    keel_buffer_initialize(&text, 0);
    keel_rehearsal_limits_head(run, &text);
    keel_flow_paragraph(&text, width, out);
    size_t most = all ? SIZE_MAX : LIMITS_SHOWN;
    size_t count = keel_rehearsal_limits(run, most, limit_line, &lines);
    if (count > most) keel_buffer_format(out, "  ... and %zu more; keel why --all\n", count - most);
}

void keel_rehearsal_tell(const keel_run_t *run, bool all, unsigned width, keel_buffer_t *out) {
    if (!keel_is_rehearsal(run)) return;
    tell_refusals(run, width, out);
    tell_drifts(run, all, width, out);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    // Programs that the plugin refused for lack of memory are listed with the asides.
    if (!run->asides.misfit_count && keel_run_fit(run).verdict == KEEL_RUN_TOO_LARGE) {
        keel_fit_sentence(run, &text);
        keel_buffer_text(&text, "; `keel memory` shows what is alive");
        keel_flow_paragraph(&text, width, out);
    } else {
        keel_buffer_deinitialize(&text);
    }
    tell_limits(run, all, width, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void target_json(const keel_run_target_t *target, keel_json_t *json) {
    keel_json_object(json, "target");
    keel_json_string(json, "name", target->name);
    keel_json_string(json, "platform", target->platform);
    keel_json_string(json, "kind", target->kind);
    keel_json_unsigned(json, "devices", target->devices);
    keel_json_unsigned(json, "processes", target->processes);
    keel_json_unsigned(json, "memory", target->memory);
    keel_json_string(json, "compile", target->compiles);
    keel_json_string(json, "values", target->values);
    keel_json_array(json, "assumed");
    for (size_t i = 0; i < sizeof target->assumed / sizeof *target->assumed; ++i)
        if (target->assumed[i]) keel_json_string(json, NULL, target->assumed[i]);
    keel_json_end_array(json);
    keel_json_end_object(json);
}

static void fit_json(const keel_run_t *run, keel_json_t *json) {
    keel_run_fit_t fit = keel_run_fit(run);
    if (fit.verdict == KEEL_RUN_UNSURE)
        keel_json_null(json, "fits");
    else
        keel_json_bool(json, "fits", fit.verdict == KEEL_RUN_FITS);
    keel_json_object(json, "memory");
    keel_json_unsigned(json, "limit", fit.limit);
    keel_json_unsigned(json, "most", fit.largest ? fit.largest->most : 0);
    keel_json_bool(json, "at_least", fit.unknown > 0);
    keel_json_string(json, "program", fit.largest ? fit.largest->program : "");
    keel_json_string(json, "name", fit.largest ? fit.largest->name : "");
    keel_json_string(json, "shown", fit.largest ? fit.largest->shown : "");
    keel_json_end_object(json);
}

static void refusals_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    keel_json_array(json, "refusals");
    for (size_t i = 0; i < rehearsal->refusal_count; ++i) {
        const keel_refusal_t *refusal = &rehearsal->refusals[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "action", refusal->action);
        keel_json_string(json, "program", refusal->program);
        keel_json_string(json, "name", refusal->name);
        keel_json_string(json, "shown", refusal->shown);
        keel_json_string(json, "code", refusal->code);
        keel_json_string(json, "message", refusal->message);
        keel_json_bool(json, "keels", refusal->is_keels);
        keel_json_unsigned(json, "times", refusal->times);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void drifts_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    keel_json_array(json, "drifts");
    for (size_t i = 0; i < rehearsal->drift_count; ++i) {
        const keel_drift_t *drift = &rehearsal->drifts[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "program", drift->program);
        keel_json_string(json, "name", drift->name);
        keel_json_string(json, "shown", drift->shown);
        keel_json_unsigned(json, "most", drift->most);
        keel_json_unsigned(json, "most_process", drift->most_process);
        keel_json_unsigned(json, "least", drift->least);
        keel_json_unsigned(json, "least_process", drift->least_process);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void unreals_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    keel_json_array(json, "unreal");
    for (size_t i = 0; i < rehearsal->unreal_count; ++i) {
        const keel_unreal_t *unreal = &rehearsal->unreals[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "maker", unreal->maker);
        keel_json_string(json, "into", unreal->into);
        keel_json_string(json, "file", unreal->file);
        keel_json_unsigned(json, "line", unreal->line);
        keel_json_string(json, "function", unreal->function);
        keel_json_string(json, "shown", unreal->shown);
        keel_json_unsigned(json, "times", unreal->times);
        keel_json_unsigned(json, "refused", unreal->refused);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void lefts_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    keel_json_array(json, "left");
    for (size_t i = 0; i < rehearsal->left_count; ++i) {
        const keel_left_t *left = &rehearsal->lefts[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "maker", left->maker);
        keel_json_string(json, "shown", left->shown);
        keel_json_string(json, "loop", left->loop);
        keel_json_unsigned(json, "round", left->round);
        keel_json_unsigned(json, "rounds", left->rounds);
        keel_json_bool(json, "decides", left->decides);
        keel_json_bool(json, "raised", left->raised);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void guesses_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    keel_json_array(json, "guesses");
    for (size_t i = 0; i < rehearsal->guess_count; ++i) {
        keel_json_object(json, NULL);
        keel_json_string(json, "program", rehearsal->guesses[i].program);
        keel_json_string(json, "name", rehearsal->guesses[i].name);
        keel_json_string(json, "shown", rehearsal->guesses[i].shown);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

// Null if nothing was discarded: the command could write, or the run ended before that was known.
static void written_json(const keel_run_rehearsal_t *rehearsal, keel_json_t *json) {
    const keel_journal_written_t *written = &rehearsal->written;
    if (!rehearsal->is_discarded) {
        keel_json_null(json, "written");
        return;
    }
    keel_json_object(json, "written");
    keel_json_unsigned(json, "files", written->files);
    keel_json_unsigned(json, "bytes", written->bytes);
    keel_json_unsigned(json, "removed", written->removed);
    keel_json_array(json, "groups");
    for (size_t i = 0; i < written->group_count; ++i) {
        keel_json_object(json, NULL);
        keel_json_string(json, "path", written->groups[i].path);
        keel_json_unsigned(json, "files", written->groups[i].files);
        keel_json_unsigned(json, "bytes", written->groups[i].bytes);
        keel_json_unsigned(json, "removed", written->groups[i].removed);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_end_object(json);
}

void keel_rehearsal_json(const keel_run_t *run, keel_json_t *json) {
    if (!keel_is_rehearsal(run)) {
        keel_json_null(json, "rehearsal");
        return;
    }
    keel_json_object(json, "rehearsal");
    target_json(&run->rehearsal.target, json);
    keel_json_unsigned(json, "compiled", run->fates[KEEL_RUN_COMPILED]);
    keel_text_seconds(json, "compiled_seconds", run->compiles.seconds);
    keel_json_unsigned(json, "refused", run->fates[KEEL_RUN_REFUSED]);
    keel_json_unsigned(json, "pending", run->fates[KEEL_RUN_PENDING]);
    keel_json_unsigned(json, "not_compiled", run->fates[KEEL_RUN_SKIPPED]);
    keel_json_unsigned(json, "partitioned", run->partitioned.times);
    keel_text_seconds(json, "partitioned_seconds", run->partitioned.seconds);
    fit_json(run, json);
    refusals_json(&run->rehearsal, json);
    drifts_json(&run->rehearsal, json);
    unreals_json(&run->rehearsal, json);
    lefts_json(&run->rehearsal, json);
    guesses_json(&run->rehearsal, json);
    written_json(&run->rehearsal, json);
    keel_json_end_object(json);
}
