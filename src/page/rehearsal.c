// What a rehearsal has shown besides its programs, and what it does not show.
#include "page/part.h"
#include "text/rehearsed.h"

enum { REFUSALS = 50, LIMITS = 100, LONGEST = 4000 };

// Takes the text.
static void item(void *context, keel_buffer_t *text) {
    keel_buffer_t *out = context;
    keel_buffer_text(out, "<li>");
    keel_page_cut(out, keel_buffer_cstr(text), LONGEST);
    keel_buffer_text(out, "</li>\n");
    out->failed |= text->failed;
    keel_buffer_deinitialize(text);
}

// A sentence as a paragraph; takes it.
static void sentence(keel_buffer_t *out, keel_buffer_t *text) {
    if (text->size) {
        keel_buffer_text(out, "<p>");
        keel_page_cut(out, keel_buffer_cstr(text), LONGEST);
        keel_buffer_text(out, "</p>\n");
    }
    out->failed |= text->failed;
    keel_buffer_deinitialize(text);
    keel_buffer_initialize(text, 0);
}

static void refusals(const keel_run_t *run, keel_buffer_t *out) {
    const keel_run_rehearsal_t *rehearsal = &run->rehearsal;
    if (!rehearsal->refusal_count) return;
    keel_buffer_text(out, "<ul>\n");
    for (size_t i = 0; i < rehearsal->refusal_count && i < REFUSALS; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_refusal_sentence(run, &rehearsal->refusals[i], true, &text);
        item(out, &text);
    }
    keel_buffer_text(out, "</ul>\n");
    keel_page_left(out, rehearsal->refusal_count, REFUSALS, "program");
}

static void drifts(const keel_run_t *run, keel_buffer_t *out) {
    const keel_run_rehearsal_t *rehearsal = &run->rehearsal;
    if (!rehearsal->drift_count) return;
    keel_buffer_text(out, "<ul>\n");
    for (size_t i = 0; i < rehearsal->drift_count && i < REFUSALS; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_drift_sentence(run, &rehearsal->drifts[i], &text);
        item(out, &text);
    }
    keel_buffer_text(out, "</ul>\n");
    keel_page_left(out, rehearsal->drift_count, REFUSALS, "program");
}

static void limits(const keel_run_t *run, keel_buffer_t *out) {
    keel_buffer_t text;
    if (!keel_rehearsal_has_limits(run)) return;
    keel_buffer_initialize(&text, 0);
    keel_rehearsal_limits_head(run, &text);
    sentence(out, &text);
    keel_buffer_deinitialize(&text);
    keel_buffer_text(out, "<ul>\n");
    size_t count = keel_rehearsal_limits(run, LIMITS, item, out);
    keel_buffer_text(out, "</ul>\n");
    keel_page_left(out, count, LIMITS, "limit");
}

void keel_page_rehearsal(keel_page_t *page) {
    const keel_run_t *run = &page->input->why->run;
    keel_buffer_t *out = page->out;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(out, "<section id=\"rehearsal\"><h2>Rehearsal</h2>\n");
    keel_buffer_text(&text, "On ");
    keel_target_sentence(&run->rehearsal.target, &text);
    keel_buffer_text(&text, ": ");
    keel_fates_sentence(run, &text);
    sentence(out, &text);
    keel_fit_sentence(run, &text);
    sentence(out, &text);
    keel_buffer_deinitialize(&text);
    refusals(run, out);
    drifts(run, out);
    limits(run, out);
    keel_buffer_text(out, "</section>\n");
}
