#include "report/html.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/html_part.h"

enum { LONGEST = 1000 };

// All programs that one report may read.
#define PROGRAMS_READ ((uint64_t)256 << 20)

// ---- head --------------------------------------------------------------------------------------

static void head(const keel_html_page_t *page) {
    keel_buffer_t *out = page->out;
    keel_buffer_text(
        out, KEEL_HTML_MARK
        "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        // Nothing may be loaded, whatever a foreign name might have smuggled in.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"generator\" content=\"keel " KEEL_VERSION "\">\n<title>keel report: ");
    keel_html_cut(out, page->input->stats->command, 80);
    keel_buffer_text(out, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    keel_buffer_text(out, keel_html_style);
    keel_buffer_text(out, "</style>\n</head>\n<body>\n");
}

static void fact(keel_buffer_t *out, const char *name, const char *text) {
    if (!*text) return;
    keel_buffer_format(out, "<dt>%s</dt><dd>", name);
    keel_html_cut(out, text, LONGEST);
    keel_buffer_text(out, "</dd>\n");
}

static void fixes(const keel_stats_t *stats, keel_buffer_t *out) {
    for (size_t i = 0; i < stats->fixes.count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_fix_write(&stats->fixes.list[i], &text);
        fact(out, "fix", keel_buffer_cstr(&text));
        keel_buffer_deinitialize(&text);
    }
}

static void run_facts(const keel_html_page_t *page) {
    const keel_stats_t *stats = page->input->stats;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<dl class=\"run\">\n");
    fact(out, "run", stats->id);
    keel_buffer_text(out, "<dt>when</dt><dd>");
    keel_html_time(out, stats->started);
    keel_buffer_text(out, stats->started > 0 ? ", ran " : "it has no event");
    if (stats->started > 0) keel_html_seconds(out, stats->wall_seconds);
    if (stats->processes > 1) {
        keel_buffer_text(out, ", ");
        keel_buffer_format(out, "%" PRIu64 " processes", stats->processes);
    }
    if (stats->unfinished)
        keel_buffer_format(
            out, ", %" PRIu64 " without an end in the journal: figures may miss what came last",
            stats->unfinished);
    keel_buffer_text(out, "</dd>\n");
    fact(out, "folder", stats->cwd);
    if (*stats->plugin_path) {
        keel_buffer_text(out, "<dt>plugin</dt><dd>");
        keel_html_cut(out, stats->plugin_path, LONGEST);
        keel_buffer_text(out, " <span class=\"muted\">(platform ");
        keel_html_cut(out, stats->plugin_platform, 80);
        keel_buffer_text(out, ", PJRT ");
        keel_html_cut(out, stats->plugin_api, 80);
        keel_buffer_text(out, ")</span></dd>\n");
    }
    fact(out, "mode", stats->mode);
    fixes(stats, out);
    keel_buffer_text(out, "</dl>\n");
}

static void sum(keel_buffer_t *out, const keel_why_sum_t *sum, const char *noun, const char *more,
                bool *any) {
    if (!sum->times) return;
    keel_buffer_text(out, *any ? "; <strong>" : "<strong>");
    keel_html_count(out, sum->times, noun);
    keel_buffer_format(out, "</strong>%s cost <strong>", more);
    keel_html_seconds(out, sum->seconds);
    keel_buffer_text(out, "</strong>");
    *any = true;
}

// "7 recompiles cost 12.4 s; 1 retrace cost 3 ms: 41 % of the run. Most expensive cause: ..."
static void verdict(const keel_html_page_t *page) {
    const keel_why_t *why = page->input->why;
    double wall = page->input->stats->wall_seconds;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<p class=\"verdict\">");
    if (!why->shown) {
        keel_buffer_text(out, "Nothing was recompiled.</p>\n");
        return;
    }
    bool any = false;
    sum(out, &why->again, "recompile", "", &any);
    sum(out, &why->known, "program", " known from earlier runs", &any);
    sum(out, &why->retraces, "retrace", "", &any);
    if (wall > 0 && why->shown_seconds < wall)
        keel_buffer_format(out, ", %.0f&nbsp;%% of the run", why->shown_seconds / wall * 100);
    keel_buffer_text(out, ".");
    if (why->by_cause_count) {
        keel_buffer_format(out, " Most expensive cause: %s",
                           keel_cause_facts(why->by_cause[0].kind)->sentence);
        if (why->by_line_count && *why->by_line[0].place.shown) {
            keel_buffer_text(out, "; most expensive line: ");
            keel_html_place(out, why->by_line[0].place.shown, why->by_line[0].place.file);
        }
        keel_buffer_text(out, ".");
    }
    keel_buffer_text(out, "</p>\n");
}

static void questions(const keel_html_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"questions\"><h2 class=\"unseen\">Three questions</h2>\n"
                          "<ul class=\"cards\">\n");
    for (int i = 0; i < KEEL_QUESTION_NONE; ++i) {
        uint64_t times = why->questions[i].times;
        keel_buffer_format(out, "<li class=\"%s\"><h3>%s</h3><p class=\"answer\">%s",
                           times ? "yes" : "no", keel_question_sentence((keel_question_t)i),
                           times ? "Yes" : "No");
        if (times) {
            keel_buffer_text(out, ", ");
            keel_html_count(out, times, "time");
            keel_buffer_text(out, ": ");
            keel_html_seconds(out, why->questions[i].seconds);
        }
        keel_buffer_text(out, "</p></li>\n");
    }
    keel_buffer_text(out, "</ul>\n</section>\n");
}

// ---- totals ------------------------------------------------------------------------------------

static void figure(keel_buffer_t *out, uint64_t count, const char *noun) {
    keel_buffer_format(out, "<li><b>%" PRIu64 "</b> <span class=\"muted\">%s%s</span>", count, noun,
                       count == 1 ? "" : "s");
}

static void took(keel_buffer_t *out, double seconds, const char *words) {
    keel_buffer_text(out, "<br><span class=\"muted\">");
    keel_html_seconds(out, seconds);
    keel_buffer_format(out, "%s</span>", words);
}

static void totals(const keel_html_page_t *page) {
    const keel_stats_t *stats = page->input->stats;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"totals\"><h2 class=\"unseen\">Totals</h2>\n"
                          "<ul class=\"cards figures\">\n");
    figure(out, stats->steps, "step");
    if (keel_report_is_restless(stats))
        keel_buffer_text(out, "<br><span class=\"muted\">not flat yet</span>");
    else if (stats->steps && stats->settled_at_step <= stats->steps)
        keel_buffer_format(out, "<br><span class=\"muted\">flat since step&nbsp;%" PRIu64 "</span>",
                           stats->settled_at_step);
    keel_buffer_text(out, "</li>\n");
    figure(out, stats->program_count, "program");
    keel_buffer_text(out, "</li>\n");
    figure(out, stats->compiles, "compile");
    if (stats->compiles) took(out, stats->compile_seconds, "");
    keel_buffer_text(out, "</li>\n");
    figure(out, stats->loads, "load");
    if (stats->loads) took(out, stats->load_seconds, "");
    if (stats->spared_seconds > stats->load_seconds)
        took(out, stats->spared_seconds, " to compile them");
    keel_buffer_text(out, "</li>\n");
    const keel_why_t *why = page->input->why;
    figure(out, why->again.times, "recompile");
    if (why->again.times) took(out, why->again.seconds, "");
    keel_buffer_text(out, "</li>\n");
    figure(out, stats->executes, "execution");
    keel_buffer_text(out, "</li>\n</ul>\n");
    if (stats->store_errors) {
        keel_buffer_text(out, "<p>The cache failed ");
        keel_html_count(out, stats->store_errors, "time");
        keel_buffer_text(out, "; first: ");
        keel_html_cut(out, stats->first_store_error, LONGEST);
        keel_buffer_text(out, "</p>\n");
    }
    if (stats->damage.lines) {
        keel_buffer_text(out, "<p>The journal is damaged, and this page leaves out what cannot be "
                              "read: ");
        keel_html_count(out, stats->damage.lines, "line");
        keel_buffer_format(out, ", the first of them %" PRIu64 ": ", stats->damage.first_line);
        keel_html_text(out, stats->damage.why);
        keel_buffer_text(out, "</p>\n");
    }
    keel_buffer_text(out, "</section>\n");
}

// ---- all together ------------------------------------------------------------------------------

static void top(const keel_html_page_t *page) {
    const char *command = page->input->stats->command;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<header>\n<p class=\"brand\">keel report</p>\n<h1><code>");
    keel_html_cut(out, *command ? command : "(no process said what it runs)", LONGEST);
    keel_buffer_text(out, "</code></h1>\n");
    verdict(page);
    run_facts(page);
    keel_buffer_text(out, "<nav aria-label=\"Parts\"><a href=\"#timeline\">Timeline</a> "
                          "<a href=\"#ledger\">Ledger</a> <a href=\"#patterns\">Patterns</a> "
                          "<a href=\"#recompiles\">Recompiles</a> ");
    if (page->input->why->reads.from_device.count)
        keel_buffer_text(out, "<a href=\"#reads\">Host reads</a> ");
    keel_buffer_text(out, "<a href=\"#programs\">Programs</a></nav>\n</header>\n");
}

static keel_status_t body(keel_html_page_t *page) {
    top(page);
    keel_buffer_text(page->out, "<main>\n");
    questions(page);
    totals(page);
    KEEL_TRY(keel_html_charts(page));
    keel_html_ledger(page);
    keel_html_patterns(page);
    KEEL_TRY(keel_html_recompiles(page));
    if (page->input->why->reads.from_device.count) keel_html_reads(page);
    keel_html_programs(page);
    keel_html_pages(page);
    keel_buffer_text(page->out, "</main>\n<footer>keel " KEEL_VERSION ", from ");
    keel_html_text(page->out, page->input->stats->path ? page->input->stats->path : "");
    keel_buffer_text(page->out, "</footer>\n</body>\n</html>\n");
    return NULL;
}

keel_status_t keel_html_page(const keel_html_input_t *input, keel_buffer_t *out) {
    keel_html_page_t page = {.input = input, .out = out, .budget = PROGRAMS_READ};
    keel_html_choose_tones(&page);
    keel_status_t status = keel_html_choose(&page);
    if (!status) status = keel_html_open_pages(&page);
    if (!status) {
        head(&page);
        status = body(&page);
    }
    keel_html_close_programs(&page);
    keel_html_close_sources(&page);
    keel_html_close_pages(&page);
    keel_free(page.is_whole);
    keel_free(page.order);
    return status ? status : keel_buffer_status(out);
}
