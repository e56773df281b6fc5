#include <inttypes.h>
#include <stdlib.h>

#include "page/part.h"
#include "text/write.h"

enum {
    WHOLE = 200,                 // recompiles with an article, the most expensive
    VIEWS = 60,                  // of those, with programs side by side
    LARGEST_ARTICLES = 24 << 20, // bytes of the page that articles may fill
    OPEN = 10,                   // of those, unfolded
    ROWS = 500,                  // of the table of the others
    ROOTS = 8,                   // of one recompile
    FOLDED = 64,                 //
    FRAMES = 64,                 //
    LONGEST = 400                // bytes of a name or a value
};

keel_cause_t keel_page_cause(const keel_why_entry_t *entry) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    if (cause) return cause->kind;
    return *entry->asked->against_program ? KEEL_CAUSE_COUNT : KEEL_CAUSE_FIRST;
}

static const char *sentence_of(const keel_why_entry_t *entry) {
    if (entry->asked->unrelated) return "the programs have almost nothing in common";
    keel_cause_t cause = keel_page_cause(entry);
    return cause == KEEL_CAUSE_COUNT ? "nothing explains it" : keel_cause_facts(cause)->sentence;
}

static void code(keel_buffer_t *out, const char *text, const char *kind) {
    keel_buffer_format(out, "<code%s>", kind);
    keel_page_cut(out, text, LONGEST);
    keel_buffer_text(out, "</code>");
}

// ---- differences -------------------------------------------------------------------------------

static void change(keel_buffer_t *out, const keel_run_difference_t *d) {
    if (*d->subject) {
        code(out, d->subject, " class=\"subject\"");
        keel_buffer_text(out, *d->old_value || *d->new_value ? " " : "");
    }
    if (*d->old_value || *d->new_value) {
        code(out, *d->old_value ? d->old_value : "nothing", " class=\"old\"");
        keel_buffer_text(out, " <span class=\"arrow\" aria-label=\"became\">&rarr;</span> ");
        code(out, *d->new_value ? d->new_value : "nothing", " class=\"new\"");
    }
    if (*d->note) {
        keel_buffer_text(out, " <span class=\"muted\">(");
        keel_page_cut(out, d->note, LONGEST);
        keel_buffer_text(out, ")</span>");
    }
}

// `asker`: the line that asked for the program.
static void where(keel_buffer_t *out, const keel_run_place_t *place,
                  const keel_run_place_t *asker) {
    keel_page_place(out, place->shown, place->file);
    if (*place->function) {
        keel_buffer_text(out, " <span class=\"muted\">in</span> ");
        code(out, place->function, "");
    }
    if (*place->call_shown && strcmp(place->call_shown, place->shown) != 0) {
        keel_buffer_text(out, " <span class=\"muted\">called from</span> ");
        keel_page_place(out, place->call_shown, place->call_file);
    }
    if (place->library_file && *place->library_file) {
        keel_buffer_text(out, " <span class=\"muted\">through</span> ");
        keel_page_place(out, place->library_shown, place->library_file);
    }
    bool has_script = asker->script_shown && *asker->script_shown;
    if (has_script && strcmp(asker->script_shown, place->call_shown) != 0) {
        keel_buffer_text(out, " <span class=\"muted\">for</span> ");
        keel_page_place(out, asker->script_shown, asker->script_file);
    }
    if (place->scope && *place->scope) {
        keel_buffer_text(out, " <span class=\"muted\">in scope</span> ");
        code(out, place->scope, "");
    }
}

static void advice(const keel_page_t *page, const keel_why_entry_t *entry, size_t index) {
    keel_buffer_t *out = page->out;
    const keel_why_t *why = page->input->why;
    const keel_cause_facts_t *facts = keel_cause_facts(entry->roots[index].kind);
    keel_framework_t framework;
    bool is_known = keel_why_framework(why, &framework);
    const char *its = keel_why_advice(why, entry, &entry->roots[index], framework),
               *for_torch = keel_why_advice(why, entry, &entry->roots[index], KEEL_FRAMEWORK_TORCH);
    keel_buffer_text(out, "<p class=\"advice\"><strong>What to do:</strong> ");
    keel_page_text(out, its);
    if (!is_known && strcmp(its, for_torch) != 0) {
        keel_buffer_text(out, " <span class=\"muted\">PyTorch/XLA:</span> ");
        keel_page_text(out, for_torch);
    }
    keel_page_more(page, facts->word);
    keel_buffer_text(out, "</p>\n");
}

static keel_status_t root(keel_page_t *page, const keel_why_entry_t *entry, size_t index) {
    const keel_run_difference_t *d = &entry->roots[index];
    keel_buffer_t *out = page->out;
    const keel_run_place_t *place = *d->place.shown ? &d->place : &entry->asked->site;
    keel_buffer_format(out,
                       "<div class=\"root\">\n<p><span class=\"chip\"><span class=\"swatch "
                       "t%d\"></span>%s</span> ",
                       keel_page_tone(page, d->kind), keel_cause_facts(d->kind)->word);
    change(out, d);
    keel_buffer_text(out, "</p>\n<p>");
    where(out, place, &entry->asked->site);
    if (d->folds) {
        keel_buffer_text(out, " <span class=\"muted\">and ");
        keel_page_count(out, d->folds, "difference");
        keel_buffer_text(out, d->folds == 1 ? " that follows" : " that follow");
        keel_buffer_text(out, "</span>");
    }
    keel_buffer_text(out, "</p>\n");
    // One excerpt for all roots of a line.
    bool again = false;
    for (size_t i = 0; i < index && i < ROOTS; ++i)
        again = again || strcmp(entry->roots[i].place.shown, place->shown) == 0;
    if (!again) KEEL_TRY(keel_page_excerpt(page, place));
    bool told = false;
    for (size_t i = 0; i < index; ++i)
        told = told || entry->roots[i].kind == d->kind;
    if (!told) advice(page, entry, index);
    keel_buffer_text(out, "</div>\n");
    return NULL;
}

static void folded(keel_buffer_t *out, const keel_why_entry_t *entry) {
    if (!entry->folded_total) return;
    keel_buffer_text(out, "<details><summary>");
    keel_page_count(out, entry->folded_total, "difference");
    keel_buffer_text(out, entry->folded_total == 1 ? " that follows" : " that follow");
    keel_buffer_text(out, "</summary>\n<ul class=\"folded\">\n");
    size_t shown = 0;
    for (; shown < entry->folded_count && shown < FOLDED; ++shown) {
        const keel_run_difference_t *d = &entry->folded[shown];
        keel_buffer_format(out, "<li><span class=\"muted\">%s</span> ",
                           keel_cause_facts(d->kind)->word);
        change(out, d);
        if (*d->place.shown) {
            keel_buffer_text(out, " <span class=\"muted\">at</span> ");
            keel_page_place(out, d->place.shown, d->place.file);
        }
        keel_buffer_text(out, "</li>\n");
    }
    keel_buffer_text(out, "</ul>\n");
    keel_page_left(out, entry->folded_total, shown, "difference");
    keel_buffer_text(out, "</details>\n");
}

static void add_stack(keel_buffer_t *out, const keel_why_entry_t *entry) {
    if (!entry->asked->stack_count && !*entry->asked->stack_skipped) return;
    keel_buffer_text(out, "<details><summary>Host stack</summary>\n");
    if (*entry->asked->stack_skipped) {
        keel_buffer_text(out, "<p class=\"muted\">None: ");
        keel_page_cut(out, entry->asked->stack_skipped, LONGEST);
        keel_buffer_text(out, "</p>\n");
    }
    if (entry->asked->stack_count) keel_buffer_text(out, "<ol class=\"stack\">\n");
    size_t shown = 0;
    for (; shown < entry->asked->stack_count && shown < FRAMES; ++shown) {
        const keel_run_frame_t *frame = &entry->asked->stack[shown];
        keel_buffer_text(out, "<li>");
        keel_page_place(out, frame->shown, frame->file);
        if (*frame->function) {
            keel_buffer_text(out, " <span class=\"muted\">in</span> ");
            code(out, frame->function, "");
        }
        keel_buffer_text(out, "</li>\n");
    }
    if (entry->asked->stack_count) keel_buffer_text(out, "</ol>\n");
    keel_page_left(out, entry->asked->stack_count, shown, "frame");
    keel_buffer_text(out, "</details>\n");
}

// ---- one recompile -----------------------------------------------------------------------------

static void against(keel_buffer_t *out, const keel_why_entry_t *entry) {
    if (!*entry->asked->against_program) return;
    keel_buffer_text(out, "<p class=\"muted\">Compared with ");
    if (*entry->asked->against_name) {
        code(out, entry->asked->against_name, "");
        keel_buffer_byte(out, ' ');
    }
    keel_page_digest(out, entry->asked->against_program);
    if (entry->asked->against_is_ours) {
        keel_buffer_text(out, " of the same process");
    } else if (*entry->asked->against_run) {
        keel_buffer_text(out, " of run ");
        code(out, entry->asked->against_run, "");
    }
    if (entry->asked->against_when > 0) {
        keel_buffer_text(out, ", ");
        keel_page_time(out, entry->asked->against_when);
    }
    if (!entry->asked->unrelated && entry->asked->alike > 0)
        keel_buffer_format(out, "; %.0f&nbsp;%% of the operations have a counterpart",
                           entry->asked->alike > 1 ? 100 : entry->asked->alike * 100);
    keel_buffer_text(out, "</p>\n");
}

static void heading(keel_page_t *page, const keel_why_entry_t *entry, size_t index) {
    keel_buffer_t *out = page->out;
    keel_buffer_format(out,
                       "<article class=\"recompile\" id=\"r%zu\" aria-labelledby=\"h%zu\">\n"
                       "<header><h3 id=\"h%zu\">",
                       index, index, index);
    code(out, *entry->asked->name ? entry->asked->name : "a program without a name", "");
    keel_buffer_format(out, ": %s</h3>\n<p class=\"cost\">", sentence_of(entry));
    bool is_timed = keel_took_is_known(&entry->asked->took);
    if (is_timed) keel_page_took(out, &entry->asked->took);
    char steps[48];
    keel_format_steps(entry->asked->step, entry->asked->last_step, entry->asked->at_end, steps);
    keel_buffer_text(out, "<span class=\"muted\">");
    keel_buffer_text(out, !is_timed                                 ? ""
                          : entry->asked->is_compile                ? " to compile"
                          : strcmp(entry->asked->what, "load") == 0 ? " to load"
                          : keel_run_is_retrace(entry->asked)       ? " to load again"
                                                                    : "");
    if (entry->asked->took.times > 1)
        keel_buffer_format(out, " %" PRIu64 " times", entry->asked->took.times);
    keel_buffer_format(out, " %s%s%s", strncmp(steps, "after", 5) == 0 ? "" : "at ", steps,
                       *entry->pattern ? ", part of the pattern " : "");
    keel_page_text(out, entry->pattern);
    keel_buffer_text(out, "</span></p></header>\n");
}

static keel_status_t article(keel_page_t *page, size_t index, size_t rank) {
    const keel_why_entry_t *entry = &page->input->why->entries[index];
    keel_buffer_t *out = page->out;
    heading(page, entry, index);
    for (size_t i = 0; i < entry->root_count && i < ROOTS; ++i)
        KEEL_TRY(root(page, entry, i));
    keel_page_left(out, entry->root_total, entry->root_count < ROOTS ? entry->root_count : ROOTS,
                   "cause");
    if (!entry->root_count) {
        keel_buffer_text(out, "<p>");
        where(out, &entry->asked->site, &entry->asked->site);
        keel_buffer_text(out, "</p>\n");
    }
    if (rank < VIEWS) KEEL_TRY(keel_page_view(page, entry, rank < OPEN));
    folded(out, entry);
    add_stack(out, entry);
    against(out, entry);
    keel_buffer_text(out, "</article>\n");
    return keel_buffer_status(out);
}

// ---- the rest ----------------------------------------------------------------------------------

static void add_recompile_row(keel_buffer_t *out, const keel_why_entry_t *entry) {
    uint64_t first = entry->asked->step, last = entry->asked->last_step - entry->asked->at_end;
    keel_buffer_format(out, "<tr><td class=\"number\">%s%" PRIu64, first > last ? "after " : "",
                       first > last ? last : first);
    if (first < last) keel_buffer_format(out, "-%" PRIu64, last);
    keel_buffer_text(out, "</td>");
    keel_page_took_cell(out, &entry->asked->took);
    keel_buffer_text(out, "<td><code>");
    keel_page_cut(out, entry->asked->name, 120);
    keel_cause_t cause = keel_page_cause(entry);
    keel_buffer_format(out, "</code></td><td>%s</td><td>",
                       cause == KEEL_CAUSE_COUNT ? "not explained" : keel_cause_facts(cause)->word);
    const keel_run_difference_t *d = keel_why_cause(entry);
    if (d) change(out, d);
    const keel_run_place_t *place = keel_why_place(entry);
    keel_buffer_text(out, "</td><td>");
    keel_page_place(out, place->shown, place->file);
    keel_buffer_text(out, "</td></tr>\n");
}

static void others(keel_page_t *page, size_t first) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    if (first == page->count) return;
    keel_buffer_text(out, "<h3>Less expensive ones</h3>\n");
    keel_page_open_table(out, "step#,time#,name,cause,what changed,line");
    size_t all = first + ROWS, end = page->count < all ? page->count : all;
    for (size_t i = first; i < end; ++i)
        add_recompile_row(out, &why->entries[page->order[i]]);
    keel_page_close_table(out);
    keel_page_left(out, page->count, end, "recompile");
}

static void not_listed(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    uint64_t count = 0;
    for (size_t i = 0; i < why->entry_count; ++i)
        count += !keel_why_is_shown(&why->entries[i]);
    if (!count) return;
    keel_buffer_text(page->out, "<p class=\"muted\">Not listed: ");
    keel_page_count(page->out, count, "program");
    keel_buffer_text(page->out,
                     count == 1
                         ? " that was the first of its kind or was loaded from the cache; "
                         : " that were the first of their kind or were loaded from the cache; ");
    keel_buffer_text(page->out, "<code>keel why --all</code> lists all.</p>\n");
}

keel_status_t keel_page_recompiles(keel_page_t *page) {
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"recompiles\"><h2>Recompiles</h2>\n");
    if (page->count)
        keel_buffer_format(out, "<p class=\"muted\">%s first.</p>\n",
                           keel_took_is_known(&page->input->why->shown) ? "Most expensive"
                                                                        : "Largest");
    else
        keel_buffer_text(out, "<p>No recompiles.</p>\n");
    size_t whole = 0;
    for (; whole < page->count && whole < WHOLE && out->size < LARGEST_ARTICLES; ++whole)
        KEEL_TRY(article(page, page->order[whole], whole));
    others(page, whole);
    not_listed(page);
    keel_buffer_text(out, "</section>\n");
    return NULL;
}

// ---- which ones --------------------------------------------------------------------------------

typedef struct rank_t {
    const keel_run_entry_t *asked;
    bool ruins;
    size_t index;
} rank_t;

static int dearer(const void *a, const void *b) {
    const rank_t *x = a, *y = b;
    if (x->ruins != y->ruins) return x->ruins ? -1 : 1;
    int order = keel_took_order(&x->asked->took, x->asked->ops, &y->asked->took, y->asked->ops);
    if (order) return order;
    return x->index < y->index ? -1 : 1;
}

static void put_in_order(keel_page_t *page, rank_t *ranks) {
    const keel_why_t *why = page->input->why;
    size_t count = 0;
    for (size_t i = 0; i < why->entry_count; ++i)
        if (keel_why_is_shown(&why->entries[i]))
            ranks[count++] = (rank_t){why->entries[i].asked, keel_why_ruins(&why->entries[i]), i};
    qsort(ranks, count, sizeof *ranks, dearer);
    for (size_t i = 0; i < count; ++i) {
        page->order[i] = ranks[i].index;
        page->is_whole[ranks[i].index] = i < WHOLE;
    }
    page->count = count;
}

keel_status_t keel_page_choose(keel_page_t *page) {
    size_t count = page->input->why->entry_count + 1;
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof(bool), &memory));
    page->is_whole = memory;
    KEEL_TRY(keel_calloc(count, sizeof *page->order, &memory));
    page->order = memory;
    KEEL_TRY(keel_calloc(count, sizeof(rank_t), &memory));
    put_in_order(page, memory);
    keel_free(memory);
    return NULL;
}
