// html: a run's report as one page that needs nothing else: no network, no script, no font.
//
//   html.c            the page: head, questions, totals, and the rest in order
//   html_style.c      its style sheet
//   html_tone.c       which tone a cause has
//   html_text.c       escaping; every name comes from a foreign file
//   html_chart.c      compiles and programs over steps
//   html_ledger.c     what was lost, by cause, by line and by pattern; the programs
//   html_recompile.c  one recompile
//   html_view.c       the old and the new program side by side
//   html_side.c       lines of one of them: operations; html_signature.c: arguments
//   html_align.c      two lists of lines brought side by side; html_rows.c: as a table
//   html_program.c    kept programs, read when they are wanted
//   html_source.c     lines of the user's source
//
// The page is bounded: lists are cut with a count, and a view that would take long is left out.
//
// Ownership: all is borrowed for the call. Threads: no shared state.
#ifndef KEEL_REPORT_HTML_H_
#define KEEL_REPORT_HTML_H_

#include "base/base.h"
#include "report/report.h"
#include "report/timeline.h"
#include "report/why.h"

typedef struct keel_html_input_t {
    const keel_why_t *why;
    const keel_stats_t *stats;
    const keel_timeline_t *timeline;
    const char *run_dir; // where the programs are kept; NULL: no program is shown side by side
} keel_html_input_t;

// The page mentions files that the report cannot read (a program that is gone, a source that
// changed); they are not an error.
keel_status_t keel_html_page(const keel_html_input_t *input, keel_buffer_t *out) KEEL_MUST_CHECK;

// How a report begins: a file that begins otherwise is none.
#define KEEL_HTML_MARK "<!DOCTYPE html>\n<!-- keel report -->\n"

#endif // KEEL_REPORT_HTML_H_
