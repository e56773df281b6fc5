#include <inttypes.h>
#include <stdlib.h>

#include "text/rehearsed.h"
#include "text/remotes.h"
#include "text/why_page.h"
#include "text/write.h"

enum { ITEMS_SHOWN = 10, COSTS_SHOWN = 5, QUESTION_COLUMNS = 42 };

typedef struct items_t {
    keel_text_item_t *list;
    size_t count;
    keel_map_t index;
} items_t;

// ---- items -------------------------------------------------------------------------------------

// What entries of one item have in common.
static void name_item(keel_buffer_t *name, const keel_why_entry_t *entry, size_t order, bool all) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    name->size = 0;
    if (!all && entry->pattern_index != KEEL_NONE) {
        keel_buffer_format(name, "pattern %u", entry->pattern_index);
    } else if (!all && keel_run_is_retrace(entry->asked)) {
        keel_buffer_append(name, entry->asked->name, strlen(entry->asked->name) + 1);
        keel_buffer_byte(name, entry->asked->is_compile);
        keel_buffer_text(name, keel_why_place(entry)->shown);
    } else if (!all && cause && cause->kind == KEEL_CAUSE_HOST_READ) {
        keel_buffer_format(name, "read %u ", cause->place.line);
        keel_buffer_text(name, cause->place.file);
    } else if (!all && cause && keel_why_is_of_run(cause->kind)) {
        const char *const parts[] = {cause->subject, cause->old_value, cause->new_value,
                                     entry->asked->against_run};
        keel_buffer_format(name, "cause %d ", (int)cause->kind);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
            keel_buffer_append(name, parts[i], strlen(parts[i]) + 1);
    } else {
        keel_buffer_format(name, "entry %zu", order);
    }
}

// True if the cause shown for an entry is the one that the pattern is about.
static bool speaks_for(const keel_why_entry_t *entry, const keel_why_pattern_t *pattern) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    return cause && strcmp(cause->subject, pattern->subject) == 0 &&
           strcmp(cause->place.shown, pattern->place.shown) == 0;
}

static keel_status_t add_entry(const keel_why_t *why, items_t *items, keel_buffer_t *name,
                               size_t order, bool all) {
    const keel_why_entry_t *entry = &why->entries[order];
    bool follows = !all && entry->leader != KEEL_NONE;
    size_t leader = follows ? entry->leader : order;
    name_item(name, &why->entries[leader], leader, all);
    KEEL_TRY(keel_buffer_status(name));
    const uint64_t *known = keel_map_find(&items->index, keel_buffer_bytes(name));
    if (known) {
        keel_text_item_t *item = &items->list[*known];
        if (item->pattern && !speaks_for(item->entry, item->pattern) &&
            speaks_for(entry, item->pattern))
            item->entry = entry;
        keel_took_add(&item->took, &entry->asked->took);
        item->ops += entry->asked->ops;
        if (entry->asked->step < item->first_step) item->first_step = entry->asked->step;
        if (entry->asked->last_step > item->last_step) {
            item->last_step = entry->asked->last_step;
            item->at_end = entry->asked->at_end;
        }
        return NULL;
    }
    bool grouped = !all && entry->pattern_index != KEEL_NONE;
    items->list[items->count] = (keel_text_item_t){
        .entry = entry,
        .pattern = grouped ? &why->patterns[entry->pattern_index] : NULL,
        .first_step = entry->asked->step,
        .last_step = entry->asked->last_step,
        .at_end = entry->asked->at_end,
        .took = entry->asked->took,
        .ops = entry->asked->ops,
        .order = order,
    };
    return keel_map_put(&items->index, keel_buffer_bytes(name), items->count++);
}

static int dearest(const void *a, const void *b) {
    const keel_text_item_t *x = a, *y = b;
    bool ruins = keel_why_ruins(x->entry), other_ruins = keel_why_ruins(y->entry);
    if (ruins != other_ruins) return ruins ? -1 : 1;
    int order = keel_took_order(&x->took, x->ops, &y->took, y->ops);
    return order ? order : x->order < y->order ? -1 : 1;
}

static keel_status_t gather_items(const keel_why_t *why, bool all, items_t *items) {
    void *memory;
    KEEL_TRY(keel_alloc(why->entry_count * sizeof *items->list, &memory));
    items->list = memory;
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    keel_status_t status = NULL;
    for (size_t i = 0; !status && i < why->entry_count; ++i)
        if (all || keel_why_is_shown(&why->entries[i]))
            status = add_entry(why, items, &name, i, all);
    keel_buffer_deinitialize(&name);
    if (items->count) qsort(items->list, items->count, sizeof *items->list, dearest);
    return status;
}

// ---- the head ----------------------------------------------------------------------------------

static void print_questions_head(const keel_why_t *why, keel_flow_t *flow) {
    keel_flow_text(flow, "run ");
    keel_flow_text(flow, why->run.id);
    keel_flow_text(flow, "  ");
    keel_flow_around(flow, why->run.command, 0,
                     flow->width > flow->column ? flow->width - flow->column : 0);
    keel_flow_end(flow);
}

static void target(const keel_why_t *why, keel_buffer_t *out) {
    if (!keel_is_rehearsal(&why->run)) return;
    keel_buffer_text(out, "rehearsed on ");
    keel_target_sentence(&why->run.rehearsal.target, out);
    keel_buffer_byte(out, '\n');
}

static void fixes(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->run.fixes.count; ++i) {
        keel_buffer_text(out, "fix ");
        keel_fix_write(&why->run.fixes.list[i], out);
        keel_buffer_byte(out, '\n');
    }
}

static void questions(const keel_why_t *why, keel_buffer_t *out) {
    for (unsigned i = 0; i < KEEL_QUESTION_NONE; ++i) {
        uint64_t times = why->questions[i].times;
        keel_buffer_format(out, "%-*s", QUESTION_COLUMNS,
                           keel_question_sentence((keel_question_t)i));
        if (times > 2)
            keel_buffer_format(out, "yes, %" PRIu64 " times\n", times);
        else
            keel_buffer_text(out, times == 0   ? "no\n"
                                  : times == 1 ? "yes, once\n"
                                               : "yes, twice\n");
    }
}

static void total(keel_buffer_t *out, const keel_took_t *sum, const char *noun, const char *more,
                  bool *any) {
    if (!sum->times) return;
    keel_buffer_text(out, *any ? "; " : "");
    keel_write_counted(out, sum->times, noun);
    keel_buffer_text(out, more);
    keel_write_cost(out, sum);
    *any = true;
}

// Recompiles that the journal does not explain, besides `explained` others.
static void unexplained(keel_buffer_t *out, const keel_why_t *why, uint64_t explained) {
    if (why->recompiles <= explained) return;
    uint64_t count = why->recompiles - explained;
    keel_write_counted(out, count, explained ? "more recompile" : "recompile");
    keel_buffer_text(
        out, count == 1 ? " is not explained in the journal; `keel stats` names its line."
                        : " are not explained in the journal; `keel stats` names their lines.");
}

static void totals(const keel_why_t *why, keel_flow_t *flow) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    bool any = false;
    total(&text, &why->again, "recompile", "", &any);
    total(&text, &why->known, "program", " known from earlier runs", &any);
    total(&text, &why->retraces, "retrace", "", &any);
    keel_buffer_text(&text, any ? ". " : "");
    if (why->refused) {
        keel_write_counted(&text, why->refused, "program");
        keel_buffer_text(&text, " refused. ");
    }
    if (why->run.reads.cut_count) {
        keel_buffer_text(&text, "Host reads split steps ");
        keel_reads_times(&why->run.reads, &text);
        keel_buffer_text(&text, ". ");
    }
    unexplained(&text, why, why->again.times);
    keel_flow_line(flow);
    keel_flow_buffer(flow, &text);
    keel_flow_end(flow);
}

// ---- the ledger --------------------------------------------------------------------------------

static void ledger(keel_flow_t *flow, const char *title, const keel_why_cost_t *costs, size_t count,
                   bool lines, bool all) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, title);
    size_t shown = 0;
    for (; shown < count && (all || shown < COSTS_SHOWN); ++shown) {
        const keel_why_cost_t *cost = &costs[shown];
        keel_buffer_text(&text, shown ? ", " : " ");
        if (lines)
            keel_buffer_text(&text, *cost->place.shown ? cost->place.shown : "unknown line");
        else
            keel_buffer_text(&text, keel_cause_facts(cost->kind)->word);
        keel_buffer_byte(&text, ' ');
        keel_write_took(&text, &cost->took);
    }
    if (shown < count)
        keel_buffer_format(&text, ", ... and %zu more; keel why --all", count - shown);
    keel_flow_line(flow);
    keel_flow_buffer(flow, &text);
    keel_flow_end(flow);
}

static void ledgers(const keel_why_t *why, bool all, keel_flow_t *flow) {
    if (why->shown.times < 2 || !keel_took_is_known(&why->shown)) return;
    keel_flow_end(flow);
    ledger(flow, "Seconds by cause:", why->by_cause, why->by_cause_count, false, all);
    ledger(flow, "Seconds by line:", why->by_line, why->by_line_count, true, all);
}

// ---- all together ------------------------------------------------------------------------------

static void nothing(const keel_why_t *why, keel_flow_t *flow) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "run %s: ", why->run.id);
    if (why->recompiles) {
        unexplained(&text, why, 0);
    } else if (why->run.compiles.times) {
        keel_buffer_text(&text, "nothing was recompiled (");
        keel_write_counted(&text, why->run.compiles.times, "compile");
        keel_buffer_text(&text, "); `keel stats` has the figures.");
    } else if (!*why->run.command) {
        keel_buffer_text(&text,
                         "no process has written to its journal, so nothing is known about it.");
    } else {
        keel_buffer_text(&text, "nothing was compiled; `keel stats` has the figures.");
    }
    if (why->run.unfinished)
        keel_buffer_format(&text,
                           " %" PRIu64
                           " process%s no end event in the journal (still running, killed, "
                           "or its journal could not be written).",
                           why->run.unfinished, why->run.unfinished == 1 ? " has" : "es have");
    keel_flow_buffer(flow, &text);
    keel_flow_end(flow);
}

static void left_out(keel_text_page_t *page, size_t count) {
    page->flow.indent = 0;
    if (count) keel_buffer_format(page->flow.out, "\n... and %zu more; keel why --all\n", count);
}

// A read that brought recompiles is shown with them.
static bool is_told_already(const items_t *items, const keel_reads_line_t *line) {
    for (size_t i = 0; i < items->count; ++i) {
        const keel_run_difference_t *cause = keel_why_cause(items->list[i].entry);
        if (cause && cause->kind == KEEL_CAUSE_HOST_READ && cause->place.line == line->line &&
            strcmp(cause->place.file, line->file) == 0)
            return true;
    }
    return false;
}

static size_t count_cuts(const keel_text_page_t *page, const items_t *items) {
    size_t count = 0;
    for (size_t i = 0; i < page->why->run.reads.cut_count; ++i)
        count += !is_told_already(items, &page->why->run.reads.lines[i]);
    return count;
}

// The most expensive first, up to `most` of them; prints or only measures (`print`).
static void print_cut_items(keel_text_page_t *page, const items_t *items, size_t most, bool print) {
    const keel_reads_t *reads = &page->why->run.reads;
    size_t number = 0;
    for (size_t i = 0; i < reads->cut_count && number < most; ++i) {
        if (is_told_already(items, &reads->lines[i])) continue;
        ++number;
        if (!print) {
            keel_text_measure_cut(page, &reads->lines[i], items->count + number);
            continue;
        }
        keel_flow_end(&page->flow);
        keel_text_print_cut(page, &reads->lines[i], items->count + number);
    }
}

static void print_items(keel_text_page_t *page, const items_t *items) {
    bool all = page->style->all;
    size_t shown = all || items->count <= ITEMS_SHOWN ? items->count : ITEMS_SHOWN;
    size_t cut_count = count_cuts(page, items);
    size_t cuts_shown = all || cut_count <= ITEMS_SHOWN ? cut_count : ITEMS_SHOWN;
    for (size_t i = 0; i < shown; ++i)
        keel_text_measure_item(page, &items->list[i], i + 1);
    print_cut_items(page, items, cuts_shown, false);
    for (size_t i = 0; i < shown; ++i) {
        keel_flow_end(&page->flow);
        keel_text_print_item(page, &items->list[i], i + 1);
    }
    left_out(page, items->count - shown);
    print_cut_items(page, items, cuts_shown, true);
    left_out(page, cut_count - cuts_shown);
}

// Without --lines, a difference has the line that asked for the program, and operations are
// compared by type.
static bool lacks_lines(const keel_why_t *why) {
    bool any = false;
    if (why->run.has_lines || strcmp(why->run.framework, "torch") != 0) return false;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        const keel_run_difference_t *cause = keel_why_cause(entry);
        if (!keel_why_is_shown(entry) || !cause || keel_why_is_of_run(cause->kind)) continue;
        if (why->run.is_torch_tpu && *entry->asked->site.file) continue; // a graph has its lines
        any = true;
        if (*cause->place.file && cause->place.line != entry->asked->site.line) return false;
    }
    return any;
}

static void print_page(keel_text_page_t *page, const items_t *items) {
    print_questions_head(page->why, &page->flow);
    target(page->why, page->flow.out);
    fixes(page->why, page->flow.out);
    keel_flow_end(&page->flow);
    questions(page->why, page->flow.out);
    keel_flow_end(&page->flow);
    totals(page->why, &page->flow);
    print_items(page, items);
    ledgers(page->why, page->style->all, &page->flow);
    if (!lacks_lines(page->why)) return;
    keel_flow_end(&page->flow);
    keel_flow_line(&page->flow);
    keel_flow_words(&page->flow,
                    page->why->run.is_torch_tpu
                        ? "TorchTPU keeps no lines of operations that run by themselves. Run with "
                          "`keel run --lines` to see them."
                        : "The lines above are where programs were requested: PyTorch/XLA recorded "
                          "no others. Run with `keel run --lines` to see the lines of operations, "
                          "and more certain causes.");
    keel_flow_end(&page->flow);
}

// Operations by themselves that stopped coming: usually the initialization of a model.
static void eager(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    if (!keel_eager_is_told(&why->eager, &why->run.compiles)) return;
    keel_flow_t flow = {.out = out, .width = width};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_eager_sentence(&why->eager, &text);
    keel_buffer_format(&text, ". %s keel explain eager", keel_eager_advice());
    keel_flow_end(&flow);
    keel_flow_buffer(&flow, &text);
    keel_flow_end(&flow);
}

// Nothing to do about them, so there is no advice.
static void sets(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    keel_flow_t flow = {.out = out, .width = width};
    if (why->set_count) keel_flow_end(&flow);
    for (size_t i = 0; i < why->set_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_set_sentence(&why->sets[i], &text);
        keel_flow_buffer(&flow, &text);
        keel_flow_end(&flow);
    }
}

// "At model.py:237, a sync in mid-step splits the step into 3 programs; 12 recompiles there cost 9
// s."
static void barriers(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    for (size_t i = 0; i < why->barrier_count; ++i) {
        const keel_why_barrier_t *barrier = &why->barriers[i];
        keel_flow_t flow = {.out = out, .width = width};
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_buffer_format(&text, "At %s, ", barrier->place->shown);
        keel_barrier_sentence(barrier, &text);
        keel_buffer_text(&text, "; ");
        keel_write_counted(&text, barrier->took.times, "recompile");
        keel_buffer_text(&text, " there");
        keel_write_cost(&text, &barrier->took);
        keel_buffer_format(&text, ". %s", keel_case_advice(KEEL_CASE_BARRIER));
        keel_flow_end(&flow);
        keel_flow_buffer(&flow, &text);
        keel_flow_end(&flow);
    }
}

static void summed(const keel_why_t *why, unsigned width, keel_buffer_t *out) {
    if (!why->run.summed) return;
    keel_flow_t flow = {.out = out, .width = width};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, "A long run: ");
    keel_summed_sentence(&why->run, &text);
    keel_buffer_text(&text, ", and not explained.");
    keel_flow_end(&flow);
    keel_flow_buffer(&flow, &text);
    keel_flow_end(&flow);
}

void keel_text_why(const keel_why_t *why, const keel_text_style_t *style, keel_buffer_t *out) {
    keel_text_page_t page = {
        .why = why, .style = style, .flow = {.out = out, .width = style->width}};
    items_t items = {0};
    keel_map_initialize(&items.index);
    keel_status_t status = gather_items(why, style->all, &items);
    if (status)
        out->failed = true;
    else if (items.count || why->run.reads.cut_count)
        print_page(&page, &items);
    else
        nothing(why, &page.flow);
    if (!status && !items.count) target(why, out);
    if (!status && !items.count) fixes(why, out);
    if (!status) sets(why, style->width, out);
    if (!status) eager(why, style->width, out);
    if (!status) barriers(why, style->width, out);
    keel_rehearsal_tell(&why->run, style->all, style->width, out);
    keel_asides_tell(why, style->all, style->width, out);
    keel_remotes_tell(&why->run, style->width, out);
    summed(why, style->width, out);
    keel_status_ignore(status);
    keel_map_deinitialize(&items.index);
    keel_free(items.list);
}

void keel_text_why_program(const keel_why_t *why, const char *program,
                           const keel_text_style_t *style, keel_buffer_t *out) {
    const keel_why_entry_t *entry = NULL;
    for (size_t i = 0; i < why->entry_count; ++i)
        if (strncmp(why->entries[i].asked->program, program, strlen(program)) == 0)
            entry = &why->entries[i];
    if (!entry) return;
    const keel_text_item_t item = {.entry = entry,
                                   .first_step = entry->asked->step,
                                   .last_step = entry->asked->last_step,
                                   .at_end = entry->asked->at_end,
                                   .took = entry->asked->took,
                                   .ops = entry->asked->ops};
    keel_text_page_t page = {
        .why = why, .style = style, .flow = {.out = out, .width = style->width}};
    keel_text_measure_item(&page, &item, 1);
    keel_text_print_item(&page, &item, 1);
}
