#include <inttypes.h>

#include "page/part.h"
#include "text/remotes.h"

enum { ROWS = 50, PROGRAMS = 100, PATTERNS = 50, LONGEST = 300 };

// ---- what was lost -----------------------------------------------------------------------------

static void bar(keel_buffer_t *out, double seconds, double most, int tone) {
    double share = most > 0 ? seconds / most * 100 : 0;
    keel_buffer_format(out,
                       "<td class=\"share\" aria-hidden=\"true\"><div class=\"bar t%d\" "
                       "style=\"width:%.1f%%\"></div></td>",
                       tone,
                       share < 0     ? 0
                       : share > 100 ? 100
                                     : share);
}

static void open_table(keel_buffer_t *out, const char *caption, const char *first) {
    keel_buffer_format(
        out,
        "<div class=\"wide\" tabindex=\"0\"><table class=\"ledger\"><caption>%s</caption>"
        "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"number\">"
        "times</th><th scope=\"col\" class=\"number\">time</th>"
        "<td class=\"share\" aria-hidden=\"true\"></td></tr></thead><tbody>\n",
        caption, first);
}

static void add_cost_cells(keel_buffer_t *out, const keel_why_cost_t *cost, double most, int tone) {
    keel_page_number_cell(out, cost->took.times);
    keel_page_took_cell(out, &cost->took);
    bar(out, cost->took.seconds, most, tone);
    keel_buffer_text(out, "</tr>\n");
}

static void by_cause(const keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    open_table(out, "By cause", "cause");
    for (size_t i = 0; i < why->by_cause_count && i < ROWS; ++i) {
        const keel_why_cost_t *cost = &why->by_cause[i];
        const keel_cause_facts_t *facts = keel_cause_facts(cost->kind);
        keel_buffer_format(out,
                           "<tr><th scope=\"row\"><code>%s</code> <span class=\"muted "
                           "said\">%s</span></th>",
                           facts->word, facts->sentence);
        add_cost_cells(out, cost, why->by_cause[0].took.seconds, keel_page_tone(page, cost->kind));
    }
    keel_page_close_table(out);
    keel_page_left(out, why->by_cause_count, ROWS, "cause");
}

static void by_line(const keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    open_table(out, "By source line", "line");
    for (size_t i = 0; i < why->by_line_count && i < ROWS; ++i) {
        const keel_why_cost_t *cost = &why->by_line[i];
        keel_page_line_heading(out, cost->place.shown, cost->place.file, cost->place.function);
        add_cost_cells(out, cost, why->by_line[0].took.seconds, keel_page_tone(page, cost->kind));
    }
    keel_page_close_table(out);
    keel_page_left(out, why->by_line_count, ROWS, "line");
}

keel_status_t keel_page_ledger(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_text(page->out, "<section id=\"ledger\"><h2>Ledger</h2>\n");
    if (why->by_cause_count) {
        keel_buffer_text(page->out, "<div class=\"pair\">\n<div>");
        by_cause(page);
        keel_buffer_text(page->out, "</div>\n<div>");
        by_line(page);
        keel_buffer_text(page->out, "</div></div>\n");
    } else {
        keel_buffer_text(page->out, "<p>No time was lost to recompiles.</p>\n");
    }
    keel_buffer_text(page->out, "</section>\n");
    return NULL;
}

// ---- patterns ----------------------------------------------------------------------------------

static void pattern(const keel_page_t *page, const keel_why_pattern_t *p) {
    keel_buffer_t *out = page->out;
    keel_buffer_format(out, "<li><p><strong>%s</strong>", keel_why_sentence(p));
    if (*p->name) {
        keel_buffer_text(out, " <span class=\"muted\">in</span> <code>");
        keel_page_cut(out, p->name, LONGEST);
        keel_buffer_text(out, "</code>");
    }
    if (*p->place.shown) {
        keel_buffer_text(out, " <span class=\"muted\">at</span> ");
        keel_page_place(out, p->place.shown, p->place.file);
    }
    keel_buffer_text(out, "</p>\n<p>");
    if (*p->subject) {
        keel_buffer_text(out, "<code>");
        keel_page_cut(out, p->subject, LONGEST);
        keel_buffer_text(out, "</code>");
    }
    if (*p->values) {
        keel_buffer_text(out, *p->subject ? ": " : "");
        keel_page_cut(out, p->values, LONGEST);
    }
    keel_buffer_text(out, *p->subject || *p->values ? "; " : "");
    keel_page_count(out, p->took.times, "time");
    if (keel_took_is_known(&p->took)) keel_buffer_text(out, ", ");
    if (keel_took_is_known(&p->took)) keel_page_took(out, &p->took);
    keel_buffer_byte(out, '.');
    keel_page_more(page, keel_pattern_word(p->kind));
    keel_buffer_text(out, "</p></li>\n");
}

keel_status_t keel_page_patterns(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"patterns\"><h2>Patterns</h2>\n");
    if (why->pattern_count)
        keel_buffer_text(out, "<ul class=\"patterns\">\n");
    else
        keel_buffer_text(out, "<p>No recompiles make a pattern.</p>\n");
    for (size_t i = 0; i < why->pattern_count && i < PATTERNS; ++i)
        pattern(page, &why->patterns[i]);
    if (why->pattern_count) keel_buffer_text(out, "</ul>\n");
    keel_page_left(out, why->pattern_count, PATTERNS, "pattern");
    keel_buffer_text(out, "</section>\n");
    return NULL;
}

// ---- programs ----------------------------------------------------------------------------------

static void duration(keel_buffer_t *out, const keel_took_t *took) {
    if (took->times)
        keel_page_took_cell(out, took);
    else
        keel_buffer_text(out, "<td class=\"number\">-</td>");
}

static void sentence(keel_buffer_t *out, const char *before, keel_buffer_t *text,
                     const char *after) {
    if (text->size) {
        keel_buffer_text(out, before);
        keel_page_cut(out, keel_buffer_cstr(text), LONGEST);
        keel_buffer_text(out, after);
    }
    out->failed |= text->failed;
    keel_buffer_deinitialize(text);
}

static void tier(keel_buffer_t *out, const keel_run_t *run, const keel_run_program_t *p) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_program_tier(run, p, &text);
    sentence(out, " (", &text, ")");
}

void keel_page_remotes(keel_page_t *page) {
    const keel_run_t *run = &page->input->why->run;
    keel_buffer_t text;
    if (!run->remotes.count) return;
    keel_buffer_initialize(&text, 0);
    keel_tiers_sentence(run, &text);
    sentence(page->out, "<p>Loaded: ", &text, ".</p>\n");
    for (size_t i = 0; i < run->remotes.count; ++i) {
        keel_buffer_initialize(&text, 0);
        keel_remote_sentence(&run->remotes.list[i], &text);
        sentence(page->out, "<p>Remote ", &text, ".</p>\n");
    }
}

static void program(keel_buffer_t *out, const keel_run_t *run, const keel_run_program_t *p) {
    keel_buffer_text(out, "<tr><th scope=\"row\"><code>");
    keel_page_cut(out, p->name, 120);
    keel_buffer_text(out, "</code></th><td>");
    keel_page_digest(out, p->program);
    keel_buffer_text(out, "</td>");
    duration(out, &p->compiles);
    duration(out, &p->loads);
    keel_page_number_cell(out, p->executes);
    keel_page_number_cell(out, p->ops);
    keel_buffer_text(out, "<td>");
    keel_page_place(out, p->site.shown, p->site.file);
    tier(out, run, p);
    keel_buffer_text(out, p->uncacheable ? " (uncacheable)</td></tr>\n" : "</td></tr>\n");
}

keel_status_t keel_page_programs(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"programs\"><h2>Programs</h2>\n");
    if (!why->run.program_count) {
        keel_buffer_text(out, "<p>No program was compiled or loaded.</p></section>\n");
        return NULL;
    }
    keel_buffer_text(out, "<details><summary>");
    keel_page_count(out, why->run.program_count, "program");
    keel_buffer_text(out, ", most expensive first</summary>\n");
    keel_page_open_table(out, "name,program,compiled#,loaded#,executed#,operations#,line");
    for (size_t i = 0; i < why->run.program_count && i < PROGRAMS; ++i)
        program(out, &why->run, &why->run.programs[i]);
    keel_page_close_table(out);
    keel_page_left(out, why->run.program_count, PROGRAMS, "program");
    keel_buffer_text(out, "</details></section>\n");
    return NULL;
}
