// page: a run's report as one page that needs nothing else: no network, no script, no font.
//
//   page.html    the page's frame, with a {{name}} for each part; page.css: its style sheet
//   page.c       the frame filled in: verdict, facts of the run, questions, totals
//   tone.c       which tone a cause has
//   escape.c     escaping; every name comes from a foreign file
//   timeline.c   the compiles and loads in the order of their steps; chart.c: their charts
//   ledger.c     time lost by cause, by line and by pattern; the programs
//   rehearsal.c  what a rehearsal has shown, and what it does not show
//   table.c      what tables share
//   recompile.c  one recompile
//   view.c       the old and the new program side by side
//   side.c       lines of one of them: operations; signature.c: arguments
//   align.c      aligns two lists of lines; rows.c: as a table
//   program.c    kept programs, read when needed
//   source.c     lines of the user's source
//   topics.c     the pages of the causes that the report names
//
// The page is bounded: long lists are cut with a count, and a view that would take long is left
// out.
//
// Ownership: everything is borrowed for the call. Threads: no shared state.
#ifndef KEEL_PAGE_PAGE_H_
#define KEEL_PAGE_PAGE_H_

#include "base/base.h"
#include "why/why.h"

typedef struct keel_page_input_t {
    const keel_why_t *why; // of a run with KEEL_RUN_DETAILS
    const char *run_dir;   // where the programs are kept; NULL: no program is shown side by side
} keel_page_input_t;

// The page mentions files that the report cannot read (a program that is gone, a source that
// changed); they are not an error.
keel_status_t keel_page_write(const keel_page_input_t *input, keel_buffer_t *out) KEEL_MUST_CHECK;

// How a report begins: a file that begins differently is not one.
#define KEEL_PAGE_MARK "<!DOCTYPE html>\n<!-- keel report -->\n"

#endif // KEEL_PAGE_PAGE_H_
