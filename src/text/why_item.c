#include <inttypes.h>
#include <stdio.h>

#include "text/remotes.h"
#include "text/why_page.h"
#include "text/write.h"

enum {
    CAUSES_SHOWN = 3, // of one recompile, or one pattern
    CAUSES_MET = 32,  // of one pattern
    INDENT = 5,
    PLACE_COLUMNS = 36, // columns reserved for it; a longer one takes what it needs
};

// ---- columns -----------------------------------------------------------------------------------

static void step_text(const keel_text_item_t *item, char out[48]) {
    keel_format_steps(item->first_step, item->last_step, item->at_end, out);
}

// The cause that represents an item.
static const keel_run_difference_t *cause_of(const keel_text_item_t *item) {
    return keel_why_told(item->entry, item->pattern);
}

static bool is_eager_item(const keel_text_item_t *item) {
    return item->pattern && item->pattern->kind == KEEL_PATTERN_EAGER;
}

static const char *kind_text(const keel_text_item_t *item) {
    if (is_eager_item(item)) return keel_pattern_word(KEEL_PATTERN_EAGER);
    const keel_run_difference_t *cause = cause_of(item);
    if (cause) return keel_cause_facts(cause->kind)->word;
    return item->entry->asked->unrelated ? "unrelated" : "unknown";
}

static const keel_run_place_t *place_of_cause(const keel_text_item_t *item) {
    if (is_eager_item(item)) return &item->pattern->place;
    const keel_run_difference_t *cause = cause_of(item);
    return cause && *cause->place.file ? &cause->place : &item->entry->asked->site;
}

static const char *place_text(const keel_run_place_t *place) {
    return *place->shown ? place->shown : "unknown line";
}

// Several programs that one change outside of them made necessary.
static bool is_of_run(const keel_text_item_t *item) {
    const keel_run_difference_t *cause = keel_why_cause(item->entry);
    return item->took.times > 1 && !item->pattern && cause && keel_why_is_of_run(cause->kind);
}

static const char *item_place_text(const keel_text_item_t *item, char scratch[40]) {
    if (!is_of_run(item)) return place_text(place_of_cause(item));
    snprintf(scratch, 40, "%" PRIu64 " programs", item->took.times);
    return scratch;
}

static void widen(unsigned *width, const char *text) {
    unsigned columns = keel_flow_columns(text);
    if (columns > *width) *width = columns;
}

void keel_text_measure_item(keel_text_page_t *page, const keel_text_item_t *item, size_t number) {
    keel_text_columns_t *columns = &page->columns;
    char text[48], cost[32], scratch[40];
    snprintf(text, sizeof text, "%zu", number);
    widen(&columns->number, text);
    step_text(item, text);
    widen(&columns->step, text);
    keel_format_took(&item->took, cost);
    widen(&columns->cost, cost);
    widen(&columns->kind, kind_text(item));
    widen(&columns->place, item_place_text(item, scratch));
    if (columns->place > PLACE_COLUMNS) columns->place = PLACE_COLUMNS;
}

static void kind_cell(keel_text_page_t *page, const char *kind, unsigned width) {
    keel_flow_t *flow = &page->flow;
    unsigned columns = keel_flow_columns(kind);
    if (page->style->color) keel_buffer_text(flow->out, "\x1b[1m");
    keel_flow_text(flow, kind);
    if (page->style->color) keel_buffer_text(flow->out, "\x1b[0m");
    keel_flow_blanks(flow, columns < width ? width - columns : 0);
}

// Never cut, because people open the path: on a line of its own if it does not fit.
static void place_cell(keel_text_page_t *page, const char *text, unsigned width) {
    keel_flow_t *flow = &page->flow;
    unsigned used = keel_flow_columns(text);
    if (flow->width && flow->column > flow->indent && flow->column + used > flow->width)
        keel_flow_break(flow);
    keel_flow_text(flow, text);
    keel_flow_blanks(flow, used < width ? width - used : 0);
}

// ---- what changed ------------------------------------------------------------------------------

// On this line if it fits; otherwise on a line of its own, cut to the width.
static void change(keel_text_page_t *page, const keel_run_difference_t *cause) {
    keel_flow_t *flow = &page->flow;
    unsigned subject = keel_flow_columns(cause->subject),
             values = keel_flow_change_columns(cause->old_value, cause->new_value),
             gap = subject && values ? 2 : 0, needed = subject + gap + values;
    if (!needed) return;
    if (flow->width && flow->column + 2 + needed > flow->width)
        keel_flow_break(flow);
    else
        keel_flow_blanks(flow, 2);
    unsigned room = flow->width > flow->column + gap ? flow->width - flow->column - gap : 0;
    bool cut = room && subject + values > room;
    unsigned began = flow->column;
    keel_flow_around(flow, cause->subject, 0, !cut ? 0 : values ? room / 3 : room);
    unsigned used = flow->column - began;
    keel_flow_blanks(flow, gap);
    keel_flow_change(flow, cause->old_value, cause->new_value,
                     cut && room > used ? room - used : 0);
}

static void pattern_values(keel_text_page_t *page, const keel_why_pattern_t *pattern) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, pattern->subject);
    keel_buffer_text(&text, *pattern->subject ? ": " : "");
    keel_buffer_text(&text, pattern->values);
    keel_flow_blanks(&page->flow, 2);
    keel_flow_buffer(&page->flow, &text);
}

static void unrelated(keel_text_page_t *page, const keel_why_entry_t *entry) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s has almost nothing in common with %s", entry->asked->name,
                       *entry->asked->against_name ? entry->asked->against_name : "any other");
    if (*entry->asked->against_run && !entry->asked->against_is_ours)
        keel_buffer_format(&text, " of run %s", entry->asked->against_run);
    keel_flow_blanks(&page->flow, 2);
    keel_flow_buffer(&page->flow, &text);
}

static void first_line(keel_text_page_t *page, const keel_text_item_t *item, size_t number) {
    keel_flow_t *flow = &page->flow;
    const keel_text_columns_t *columns = &page->columns;
    const keel_why_entry_t *entry = item->entry;
    const keel_run_difference_t *cause = cause_of(item);
    char text[48], cost[32], scratch[40];
    flow->column = 0;
    snprintf(text, sizeof text, "%zu", number);
    keel_flow_cell(flow, text, columns->number, true);
    keel_flow_blanks(flow, 2);
    step_text(item, text);
    keel_flow_cell(flow, text, columns->step, false);
    keel_flow_blanks(flow, 2);
    keel_format_took(&item->took, cost);
    keel_flow_cell(flow, cost, columns->cost, true);
    keel_flow_blanks(flow, 2);
    kind_cell(page, kind_text(item), columns->kind);
    keel_flow_blanks(flow, 2);
    bool more = item->pattern || entry->asked->unrelated ||
                (cause && (*cause->subject || *cause->old_value || *cause->new_value));
    place_cell(page, item_place_text(item, scratch), more ? columns->place : 0);
    if (item->pattern)
        pattern_values(page, item->pattern);
    else if (cause)
        change(page, cause);
    else if (entry->asked->unrelated)
        unrelated(page, entry);
    keel_flow_end(flow);
}

// ---- the lines below ---------------------------------------------------------------------------

// The line of the user's own that led to a line of an application.
static void add_script(keel_buffer_t *text, const keel_run_place_t *site, const char *called) {
    bool is_known = site->script_shown && *site->script_shown;
    if (is_known && strcmp(site->script_shown, called) != 0)
        keel_buffer_format(text, ", for %s", site->script_shown);
}

// The place and the program.
static void add_place(keel_buffer_t *text, const keel_text_item_t *item) {
    const keel_why_entry_t *entry = item->entry;
    const keel_run_place_t *place = place_of_cause(item);
    keel_buffer_text(text, *entry->asked->name ? entry->asked->name : "a program without a name");
    if (*place->function && strcmp(place->function, "<module>") != 0)
        keel_buffer_format(text, " in %s", place->function);
    if (*place->call_shown && strcmp(place->call_shown, place->shown) != 0)
        keel_buffer_format(text, ", called at %s", place->call_shown);
    if (place->library_file && *place->library_file)
        keel_buffer_format(text, ", through %s", place->library_shown);
    add_script(text, &entry->asked->site, place->call_shown);
    if (place->scope && *place->scope) keel_buffer_format(text, ", in scope %s", place->scope);
}

// What it was compared with, unless that is the same program of this run.
static void add_against(keel_buffer_t *text, const keel_why_entry_t *entry) {
    bool named =
        *entry->asked->against_name && strcmp(entry->asked->against_name, entry->asked->name) != 0;
    bool elsewhere = *entry->asked->against_run && !entry->asked->against_is_ours;
    if (!*entry->asked->against_program || (!named && !elsewhere)) return;
    keel_buffer_text(text, "; compared with ");
    keel_buffer_text(text, named ? entry->asked->against_name : "");
    keel_buffer_text(text, named && elsewhere ? " of " : "");
    if (elsewhere) keel_buffer_format(text, "run %s", entry->asked->against_run);
}

// How the read behind a recompile cuts steps, and how much it read.
static void add_cut(keel_buffer_t *text, const keel_text_page_t *page,
                    const keel_run_difference_t *cause) {
    const keel_reads_t *reads = &page->why->run.reads;
    for (size_t i = 0; i < reads->count; ++i) {
        const keel_reads_line_t *line = &reads->lines[i];
        if (line->line != cause->place.line || strcmp(line->file, cause->place.file) != 0) continue;
        keel_buffer_text(text, "; ");
        if (line->cuts && !line->endless) {
            keel_reads_sentence(line, text);
            keel_buffer_text(text, "; ");
        }
        keel_reads_moved(&line->moved, text);
        return;
    }
}

static void add_tier(keel_buffer_t *text, const keel_text_page_t *page,
                     const keel_why_entry_t *entry) {
    keel_buffer_t tier;
    keel_buffer_initialize(&tier, 0);
    keel_asked_tier(&page->why->run, entry->asked, &tier);
    if (tier.size) keel_buffer_format(text, "; %s", keel_buffer_cstr(&tier));
    text->failed |= tier.failed;
    keel_buffer_deinitialize(&tier);
}

static void second_line(keel_text_page_t *page, const keel_text_item_t *item) {
    const keel_why_entry_t *entry = item->entry;
    const keel_run_difference_t *cause = cause_of(item);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (is_of_run(item))
        keel_buffer_format(&text, "%s at %s and %" PRIu64 " more", entry->asked->name,
                           place_text(place_of_cause(item)), item->took.times - 1);
    else if (is_eager_item(item))
        keel_buffer_format(&text, "%" PRIu64 " programs", item->took.times);
    else
        add_place(&text, item);
    if (item->took.times > 1 && !is_of_run(item) && !is_eager_item(item))
        keel_buffer_format(&text, "; %" PRIu64 " times", item->took.times);
    if (*entry->asked->miss)
        keel_buffer_format(&text, "%s (%s)",
                           item->took.times > 1 ? ", compiled each time" : "; compiled again",
                           entry->asked->miss);
    if (page->why->run.remotes.count && item->took.times == 1) add_tier(&text, page, entry);
    if (item->pattern) keel_buffer_format(&text, "; %s", keel_why_sentence(item->pattern));
    if (cause && *cause->note && !item->pattern) keel_buffer_format(&text, "; %s", cause->note);
    if (cause && cause->kind == KEEL_CAUSE_HOST_READ) add_cut(&text, page, cause);
    if (entry->folded_total && item->took.times == 1)
        keel_buffer_format(&text, "; %" PRIu64 " difference%s from %s", entry->folded_total,
                           entry->folded_total == 1 ? " follows" : "s follow",
                           entry->root_total == 1 ? "it" : "them");
    if (item->took.times == 1 || is_of_run(item)) add_against(&text, entry);
    keel_flow_line(&page->flow);
    keel_flow_buffer(&page->flow, &text);
    keel_flow_end(&page->flow);
}

static void difference_line(keel_text_page_t *page, const char *word,
                            const keel_run_difference_t *one) {
    keel_flow_t *flow = &page->flow;
    keel_flow_line(flow);
    keel_flow_text(flow, word);
    kind_cell(page, keel_cause_facts(one->kind)->word, 0);
    keel_flow_blanks(flow, 2);
    place_cell(page, place_text(*one->place.shown ? &one->place : &page->item->asked->site), 0);
    change(page, one);
    keel_flow_end(flow);
    if (!keel_note_advice(one->note)) return;
    keel_flow_line(flow);
    keel_flow_words(flow, one->note);
    keel_flow_end(flow);
}

static void more_causes(keel_text_page_t *page, uint64_t count, const char *where) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "... and %" PRIu64 " more cause%s%s", count, count == 1 ? "" : "s",
                       where);
    keel_flow_line(&page->flow);
    keel_flow_buffer(&page->flow, &text);
    keel_flow_end(&page->flow);
}

// Further root causes.
static void causes(keel_text_page_t *page, const keel_why_entry_t *entry) {
    size_t shown = 1;
    for (; shown < entry->root_count && (page->style->all || shown < CAUSES_SHOWN); ++shown)
        difference_line(page, "also ", &entry->roots[shown]);
    if (entry->root_total > shown)
        more_causes(page, entry->root_total - shown,
                    page->style->all ? " that the journal leaves out" : "; keel why --all");
}

static bool is_same_difference(const keel_run_difference_t *a, const keel_run_difference_t *b) {
    if (a->kind != b->kind) return false;
    return strcmp(a->place.shown, b->place.shown) == 0 || strcmp(a->subject, b->subject) == 0;
}

// Other causes in the recompiles of a pattern: the first of each.
static void besides(keel_text_page_t *page, const keel_text_item_t *item) {
    const keel_why_t *why = page->why;
    const keel_run_difference_t *told[CAUSES_MET] = {cause_of(item)};
    size_t count = 1;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        bool is_of_it = entry->pattern_index == item->entry->pattern_index;
        for (size_t j = 0; is_of_it && keel_why_is_shown(entry) && j < entry->root_count; ++j) {
            const keel_run_difference_t *root = &entry->roots[j];
            size_t known = 0;
            while (known < count && !is_same_difference(told[known], root))
                ++known;
            if (known < count || count == CAUSES_MET || root->kind == KEEL_CAUSE_RETRACE) continue;
            told[count++] = root;
        }
    }
    for (size_t i = 1; i < count && i < CAUSES_SHOWN; ++i)
        difference_line(page, "also ", told[i]);
    if (count > CAUSES_SHOWN) more_causes(page, count - CAUSES_SHOWN, "; keel why --all");
}

static void advice_line(keel_text_page_t *page, const char *who, const char *advice) {
    keel_flow_line(&page->flow);
    keel_flow_text(&page->flow, who);
    keel_flow_words(&page->flow, advice);
}

// For the client of the run, or for both if that is unknown.
static void advice(keel_text_page_t *page, const keel_text_item_t *item,
                   const keel_run_difference_t *cause) {
    keel_flow_t *flow = &page->flow;
    const keel_cause_facts_t *facts = keel_cause_facts(cause->kind);
    char where[64];
    snprintf(where, sizeof where, "keel explain %s",
             item->pattern ? keel_pattern_word(item->pattern->kind) : facts->word);
    keel_framework_t framework;
    bool is_known = keel_why_framework(page->why, &framework);
    const char *its = keel_why_advice(page->why, item->entry, cause, framework),
               *torch = keel_why_advice(page->why, item->entry, cause, KEEL_FRAMEWORK_TORCH);
    if (is_known || strcmp(its, torch) == 0) {
        advice_line(page, "", its);
    } else {
        advice_line(page, "JAX: ", its);
        keel_flow_end(flow);
        advice_line(page, "PyTorch/XLA: ", torch);
    }
    keel_flow_edge(flow, where);
    keel_flow_end(flow);
}

// ---- a whole item ------------------------------------------------------------------------------

static void print_stack(keel_text_page_t *page, const keel_why_entry_t *entry) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, "stack: ");
    for (size_t i = 0; i < entry->asked->stack_count; ++i) {
        const keel_run_frame_t *frame = &entry->asked->stack[i];
        keel_buffer_format(&text, "%s%s", i ? ", " : "", *frame->shown ? frame->shown : "?");
        if (*frame->function) keel_buffer_format(&text, " %s", frame->function);
    }
    if (!entry->asked->stack_count)
        keel_buffer_format(&text, "none: %s", entry->asked->stack_skipped);
    keel_flow_line(&page->flow);
    keel_flow_buffer(&page->flow, &text);
    keel_flow_end(&page->flow);
}

static void details(keel_text_page_t *page, const keel_why_entry_t *entry) {
    if (entry->asked->stack_count || *entry->asked->stack_skipped) print_stack(page, entry);
    for (size_t i = 0; i < entry->folded_count; ++i)
        difference_line(page, "follows: ", &entry->folded[i]);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (entry->folded_total > entry->folded_count)
        keel_buffer_format(&text, "... and %" PRIu64 " more follow; ",
                           entry->folded_total - entry->folded_count);
    if (*entry->asked->against_program &&
        strcmp(entry->asked->against_program, entry->asked->program) != 0)
        keel_buffer_format(&text, "keel diff %.12s %.12s", entry->asked->against_program,
                           entry->asked->program);
    else
        keel_buffer_format(&text, "keel show %.12s", entry->asked->program);
    keel_flow_line(&page->flow);
    keel_flow_buffer(&page->flow, &text);
    keel_flow_end(&page->flow);
}

void keel_text_print_item(keel_text_page_t *page, const keel_text_item_t *item, size_t number) {
    const keel_why_entry_t *entry = page->item = item->entry;
    const keel_run_difference_t *cause = cause_of(item);
    page->flow.indent = INDENT;
    first_line(page, item, number);
    if (cause) second_line(page, item);
    if (is_eager_item(item))
        ; // the differences of each one help nobody
    else if (cause && item->pattern)
        besides(page, item);
    else if (cause)
        causes(page, entry);
    if (cause) advice(page, item, cause);
    if (page->style->all) details(page, entry);
}

// ---- host reads that cut steps -----------------------------------------------------------------

static void times_text(const keel_reads_line_t *line, char out[48]) {
    snprintf(out, 48, "%" PRIu64 " time%s", line->cuts, line->cuts == 1 ? "" : "s");
}

static void moved_text(const keel_moved_t *moved, char out[24]) {
    if (moved->is_untimed)
        snprintf(out, 24, "-");
    else
        keel_format_seconds(moved->seconds, out);
}

static const char *line_text(const keel_reads_line_t *line) {
    return *line->shown ? line->shown : "unknown line";
}

void keel_text_measure_cut(keel_text_page_t *page, const keel_reads_line_t *line, size_t number) {
    keel_text_columns_t *columns = &page->columns;
    char text[48], cost[24];
    snprintf(text, sizeof text, "%zu", number);
    widen(&columns->number, text);
    times_text(line, text);
    widen(&columns->step, text);
    moved_text(&line->moved, cost);
    widen(&columns->cost, cost);
    widen(&columns->kind, keel_cause_facts(KEEL_CAUSE_HOST_READ)->word);
    widen(&columns->place, line_text(line));
    if (columns->place > PLACE_COLUMNS) columns->place = PLACE_COLUMNS;
}

static void cut_line(keel_text_page_t *page, const keel_reads_line_t *line, size_t number) {
    keel_flow_t *flow = &page->flow;
    const keel_text_columns_t *columns = &page->columns;
    char text[48];
    flow->column = 0;
    snprintf(text, sizeof text, "%zu", number);
    keel_flow_cell(flow, text, columns->number, true);
    keel_flow_blanks(flow, 2);
    times_text(line, text);
    keel_flow_cell(flow, text, columns->step, false);
    keel_flow_blanks(flow, 2);
    moved_text(&line->moved, text);
    keel_flow_cell(flow, text, columns->cost, true);
    keel_flow_blanks(flow, 2);
    kind_cell(page, keel_cause_facts(KEEL_CAUSE_HOST_READ)->word, columns->kind);
    keel_flow_blanks(flow, 2);
    place_cell(page, line_text(line), columns->place);
    keel_buffer_t sentence;
    keel_buffer_initialize(&sentence, 0);
    keel_reads_sentence(line, &sentence);
    keel_flow_blanks(flow, 2);
    keel_flow_buffer(flow, &sentence);
    keel_flow_end(flow);
}

// What is executed for it, and what that costs.
static void add_read(keel_buffer_t *text, const keel_reads_line_t *line) {
    keel_buffer_text(text, *line->name ? line->name : "a program without a name");
    if (*line->function && strcmp(line->function, "<module>") != 0)
        keel_buffer_format(text, " in %s", line->function);
    if (*line->call_shown && strcmp(line->call_shown, line->shown) != 0)
        keel_buffer_format(text, ", called at %s", line->call_shown);
    if (*line->library_file) keel_buffer_format(text, ", through %s", line->library_shown);
    keel_buffer_text(text, "; ");
    keel_reads_moved(&line->moved, text);
}

void keel_text_print_cut(keel_text_page_t *page, const keel_reads_line_t *line, size_t number) {
    keel_flow_t *flow = &page->flow;
    flow->indent = INDENT;
    cut_line(page, line, number);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    add_read(&text, line);
    keel_flow_line(flow);
    keel_flow_buffer(flow, &text);
    keel_flow_end(flow);
    advice_line(page, "", keel_reads_advice(page->why, line));
    keel_flow_edge(flow, "keel explain host_read");
    keel_flow_end(flow);
}
