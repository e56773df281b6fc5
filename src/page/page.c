#include "page/page.h"

#include <inttypes.h>
#include <stdio.h>

#include "page/part.h"
#include "text/rehearsed.h"

enum { LONGEST = 1000 };

// All programs that one report may read.
#define PROGRAMS_READ ((uint64_t)256 << 20)

// ---- the run ------------------------------------------------------------------------------------

static void fact(keel_buffer_t *out, const char *name, const char *text) {
    if (!*text) return;
    keel_buffer_format(out, "<dt>%s</dt><dd>", name);
    keel_page_cut(out, text, LONGEST);
    keel_buffer_text(out, "</dd>\n");
}

static void fixes(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->run.fixes.count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_fix_write(&why->run.fixes.list[i], &text);
        fact(out, "fix", keel_buffer_cstr(&text));
        keel_buffer_deinitialize(&text);
    }
}

static void target(const keel_why_t *why, keel_buffer_t *out) {
    if (!keel_is_rehearsal(&why->run)) return;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, "on ");
    keel_target_sentence(&why->run.rehearsal.target, &text);
    fact(out, "rehearsed", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
}

static void eager(const keel_why_t *why, keel_buffer_t *out) {
    if (!keel_eager_is_told(&why->eager, &why->run.compiles)) return;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_eager_sentence(&why->eager, &text);
    keel_buffer_format(&text, ". %s", keel_eager_advice());
    fact(out, "outside jit", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
}

static void sets(const keel_why_t *why, keel_buffer_t *out) {
    for (size_t i = 0; i < why->set_count; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_set_sentence(&why->sets[i], &text);
        fact(out, "warm-up", keel_buffer_cstr(&text));
        keel_buffer_deinitialize(&text);
    }
}

static keel_status_t run_facts(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<dl class=\"run\">\n");
    fact(out, "run", why->run.id);
    keel_buffer_text(out, "<dt>when</dt><dd>");
    keel_page_time(out, why->run.started);
    keel_buffer_text(out, why->run.started > 0 ? ", ran " : "it has no event");
    if (why->run.started > 0) keel_page_seconds(out, why->run.wall_seconds);
    if (why->run.processes > 1) {
        keel_buffer_text(out, ", ");
        keel_buffer_format(out, "%" PRIu64 " processes", why->run.processes);
    }
    if (why->run.unfinished)
        keel_buffer_format(
            out, ", %" PRIu64 " with no end event in the journal: figures may miss what came last",
            why->run.unfinished);
    keel_buffer_text(out, "</dd>\n");
    fact(out, "folder", why->run.cwd);
    if (*why->run.plugin_path) {
        keel_buffer_text(out, "<dt>plugin</dt><dd>");
        keel_page_cut(out, why->run.plugin_path, LONGEST);
        keel_buffer_text(out, " <span class=\"muted\">(platform ");
        keel_page_cut(out, why->run.plugin_platform, 80);
        keel_buffer_text(out, ", PJRT ");
        keel_page_cut(out, why->run.plugin_api, 80);
        keel_buffer_text(out, ")</span></dd>\n");
    }
    target(why, out);
    fact(out, "mode", why->run.mode);
    fixes(why, out);
    eager(why, out);
    sets(why, out);
    keel_buffer_text(out, "</dl>\n");
    return NULL;
}

static void sum(keel_buffer_t *out, const keel_took_t *sum, const char *noun, const char *more,
                bool *any) {
    if (!sum->times) return;
    keel_buffer_text(out, *any ? "; <strong>" : "<strong>");
    keel_page_count(out, sum->times, noun);
    keel_buffer_format(out, "</strong>%s", more);
    if (keel_took_is_known(sum)) {
        keel_buffer_text(out, " cost <strong>");
        keel_page_took(out, sum);
        keel_buffer_text(out, "</strong>");
    }
    *any = true;
}

// "7 recompiles cost 12.4 s; 1 retrace cost 3 ms: 41 % of the run. Most expensive cause: ..."
static keel_status_t verdict(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    double wall = page->input->why->run.wall_seconds;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<p class=\"verdict\">");
    if (!why->shown.times) {
        keel_buffer_text(out, "Nothing was recompiled.</p>\n");
        return NULL;
    }
    bool any = false;
    sum(out, &why->again, "recompile", "", &any);
    sum(out, &why->known, "program", " known from earlier runs", &any);
    sum(out, &why->retraces, "retrace", "", &any);
    if (wall > 0 && !why->shown.unknown && why->shown.seconds < wall)
        keel_buffer_format(out, ", %.0f&nbsp;%% of the run", why->shown.seconds / wall * 100);
    keel_buffer_text(out, ".");
    if (why->by_cause_count && keel_took_is_known(&why->shown)) {
        keel_buffer_format(out, " Most expensive cause: %s",
                           keel_cause_facts(why->by_cause[0].kind)->sentence);
        if (why->by_line_count && *why->by_line[0].place.shown) {
            keel_buffer_text(out, "; most expensive line: ");
            keel_page_place(out, why->by_line[0].place.shown, why->by_line[0].place.file);
        }
        keel_buffer_text(out, ".");
    }
    keel_buffer_text(out, "</p>\n");
    return NULL;
}

static keel_status_t questions(keel_page_t *page) {
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
            keel_page_count(out, times, "time");
            if (keel_took_is_known(&why->questions[i])) keel_buffer_text(out, ": ");
            if (keel_took_is_known(&why->questions[i])) keel_page_took(out, &why->questions[i]);
        }
        keel_buffer_text(out, "</p></li>\n");
    }
    keel_buffer_text(out, "</ul>\n</section>\n");
    return NULL;
}

// ---- totals ------------------------------------------------------------------------------------

static void figure(keel_buffer_t *out, uint64_t count, const char *noun) {
    keel_buffer_format(out, "<li><b>%" PRIu64 "</b> <span class=\"muted\">%s%s</span>", count, noun,
                       count == 1 ? "" : "s");
}

static void took(keel_buffer_t *out, const keel_took_t *all, const char *words) {
    if (!all->times || !keel_took_is_known(all)) return;
    keel_buffer_text(out, "<br><span class=\"muted\">");
    keel_page_took(out, all);
    keel_buffer_format(out, "%s</span>", words);
}

static keel_status_t totals(keel_page_t *page) {
    const keel_why_t *why = page->input->why;
    const keel_took_t waited = keel_run_waited(&why->run);
    const keel_took_t spared = {.times = why->run.loads.times, .seconds = why->run.spared_seconds};
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"totals\"><h2 class=\"unseen\">Totals</h2>\n"
                          "<ul class=\"cards figures\">\n");
    figure(out, why->run.steps, "step");
    if (keel_run_is_restless(&why->run))
        keel_buffer_text(out, "<br><span class=\"muted\">not flat yet</span>");
    else if (why->run.steps && why->run.settled_at_step <= why->run.steps)
        keel_buffer_format(out, "<br><span class=\"muted\">flat since step&nbsp;%" PRIu64 "</span>",
                           why->run.settled_at_step);
    keel_buffer_text(out, "</li>\n");
    figure(out, why->run.program_count, "program");
    keel_buffer_text(out, "</li>\n");
    figure(out, why->run.compiles.times, "compile");
    took(out, &why->run.compiles, "");
    keel_buffer_text(out, "</li>\n");
    figure(out, why->run.loads.times, "load");
    took(out, &waited, "");
    if (why->run.spared_seconds > waited.seconds) took(out, &spared, " or less to compile them");
    keel_buffer_text(out, "</li>\n");
    figure(out, why->again.times, "recompile");
    took(out, &why->again, "");
    keel_buffer_text(out, "</li>\n");
    figure(out, why->run.executes, "execution");
    keel_buffer_text(out, "</li>\n</ul>\n");
    if (why->run.store_errors) {
        keel_buffer_text(out, "<p>The cache failed ");
        keel_page_count(out, why->run.store_errors, "time");
        keel_buffer_text(out, "; first: ");
        keel_page_cut(out, why->run.first_store_error, LONGEST);
        keel_buffer_text(out, "</p>\n");
    }
    keel_page_remotes(page);
    if (why->run.summed) {
        keel_buffer_text(out, "<p>A long run: ");
        keel_summed_sentence(&why->run, out);
        keel_buffer_text(out, ".</p>\n");
    }
    if (why->run.damage.lines) {
        keel_buffer_text(out, "<p>The journal is damaged, and this page leaves out what cannot be "
                              "read: ");
        keel_page_count(out, why->run.damage.lines, "line");
        keel_buffer_format(out, ", the first of them %" PRIu64 ": ", why->run.damage.first_line);
        keel_page_text(out, why->run.damage.why);
        keel_buffer_text(out, "</p>\n");
    }
    keel_buffer_text(out, "</section>\n");
    return NULL;
}

// ---- the frame ---------------------------------------------------------------------------------

static keel_status_t version(keel_page_t *page) {
    keel_buffer_text(page->out, KEEL_VERSION);
    return NULL;
}

static keel_status_t title(keel_page_t *page) {
    keel_page_cut(page->out, page->input->why->run.command, 80);
    return NULL;
}

static keel_status_t style(keel_page_t *page) {
    keel_buffer_text(page->out, keel_page_style);
    return NULL;
}

static keel_status_t command(keel_page_t *page) {
    const char *text = page->input->why->run.command;
    keel_page_cut(page->out, *text ? text : "(command unknown)", LONGEST);
    return NULL;
}

static bool has_reads(const keel_page_t *page) {
    return page->input->why->run.reads.from_device.count;
}

static keel_status_t to_reads(keel_page_t *page) {
    if (has_reads(page)) keel_buffer_text(page->out, "<a href=\"#reads\">Host reads</a> ");
    return NULL;
}

static keel_status_t reads(keel_page_t *page) {
    if (has_reads(page)) keel_page_reads(page);
    return NULL;
}

static bool has_rehearsal(const keel_page_t *page) {
    return keel_is_rehearsal(&page->input->why->run);
}

static keel_status_t to_rehearsal(keel_page_t *page) {
    if (has_rehearsal(page)) keel_buffer_text(page->out, "<a href=\"#rehearsal\">Rehearsal</a> ");
    return NULL;
}

static keel_status_t rehearsal(keel_page_t *page) {
    if (has_rehearsal(page)) keel_page_rehearsal(page);
    return NULL;
}

static keel_status_t journal(keel_page_t *page) {
    keel_page_text(page->out, page->input->why->run.path ? page->input->why->run.path : "");
    return NULL;
}

// The parts that page.html names.
static const struct {
    const char *name;
    keel_status_t (*write)(keel_page_t *page);
} slots[] = {
    {"version", version},
    {"title", title},
    {"style", style},
    {"command", command},
    {"verdict", verdict},
    {"run", run_facts},
    {"to_reads", to_reads},
    {"questions", questions},
    {"totals", totals},
    {"charts", keel_page_charts},
    {"ledger", keel_page_ledger},
    {"patterns", keel_page_patterns},
    {"recompiles", keel_page_recompiles},
    {"reads", reads},
    {"to_rehearsal", to_rehearsal},
    {"rehearsal", rehearsal},
    {"programs", keel_page_programs},
    {"topics", keel_page_topics},
    {"journal", journal},
};

static keel_status_t fill_slot(keel_page_t *page, keel_str_t name) {
    for (size_t i = 0; i < sizeof slots / sizeof *slots; ++i)
        if (keel_str_is(name, slots[i].name)) return slots[i].write(page);
    return keel_status_make(KEEL_INTERNAL, "page.html names a part that does not exist: %.*s",
                            (int)name.size, name.data);
}

static keel_status_t frame(keel_page_t *page) {
    const char *at = keel_page_markup, *open;
    for (; (open = strstr(at, "{{")); at += 2) {
        const char *name = open + 2, *end = strstr(name, "}}");
        keel_buffer_append(page->out, at, (size_t)(open - at));
        at = end ? end : name + strlen(name);
        KEEL_TRY(fill_slot(page, (keel_str_t){name, (size_t)(at - name)}));
    }
    keel_buffer_text(page->out, at);
    return NULL;
}

keel_status_t keel_page_write(const keel_page_input_t *input, keel_buffer_t *out) {
    keel_page_t page = {.input = input, .out = out, .budget = PROGRAMS_READ};
    keel_page_choose_tones(&page);
    keel_status_t status = keel_page_choose(&page);
    if (!status) status = keel_page_open_topics(&page);
    if (!status) status = frame(&page);
    keel_page_close_programs(&page);
    keel_page_close_sources(&page);
    keel_page_close_topics(&page);
    keel_free(page.is_whole);
    keel_free(page.order);
    return status ? status : keel_buffer_status(out);
}
