// why_internal: what the files of why share.
#ifndef KEEL_REPORT_WHY_INTERNAL_H_
#define KEEL_REPORT_WHY_INTERNAL_H_

#include "report/flow.h"
#include "report/steps.h"
#include "report/why.h"

// why_read.c: as keel_why_parse, without what follows from each cause and without stacks.
keel_status_t keel_why_parse_brief(keel_bytes_t bytes, keel_why_t *out) KEEL_MUST_CHECK;

// why_patterns.c: fills out->patterns and names each entry's pattern. Entries are complete.
keel_status_t keel_why_find_patterns(keel_why_t *why) KEEL_MUST_CHECK;

// why_follows.c: makes host reads the cause of what follows from them. The entries and reads are
// complete, patterns are not found yet.
keel_status_t keel_why_follow_reads(keel_why_t *why) KEEL_MUST_CHECK;
// why_eager.c: operations that ran by themselves and have new programs for as long as the run goes
// on make a pattern, and are recompiles. Before the other patterns.
keel_status_t keel_why_find_eager(keel_why_t *why, const keel_steps_t *steps) KEEL_MUST_CHECK;

// why_advice.c: a Python number is no reason for what is asked for time and again. The entries are
// complete.
keel_status_t keel_why_settle_numbers(keel_why_t *why) KEEL_MUST_CHECK;

// why_costs.c: questions, ledgers, totals.
keel_status_t keel_why_sum_up(keel_why_t *why) KEEL_MUST_CHECK;

// ---- text --------------------------------------------------------------------------------------

// Recompiles that are shown together: those of one pattern, retraces of one program at one line, or
// all that one change outside the programs caused.
typedef struct keel_why_item_t {
    const keel_why_entry_t *entry;     // the first of them that has the pattern's cause
    const keel_why_pattern_t *pattern; // NULL: none
    uint64_t first_step, last_step, times;
    bool at_end; // of last_step
    double seconds;
    size_t order; // of the first one in the journal
} keel_why_item_t;

// Widths of what stands in columns.
typedef struct keel_why_columns_t {
    unsigned number, step, cost, kind, place;
} keel_why_columns_t;

typedef struct keel_why_page_t {
    const keel_why_t *why;
    const keel_why_style_t *style;
    keel_flow_t flow;
    keel_why_columns_t columns;
    const keel_why_entry_t *item; // being printed
} keel_why_page_t;

// True for what belongs to the whole run and to no line: flags, the plugin, the devices.
bool keel_why_is_of_run(keel_cause_t kind);

// why_item.c: widens the columns so that the item fits; prints it.
void keel_why_measure(keel_why_page_t *page, const keel_why_item_t *item, size_t number);
void keel_why_print(keel_why_page_t *page, const keel_why_item_t *item, size_t number);

// The same for a line whose reads cut steps.
void keel_why_measure_cut(keel_why_page_t *page, const keel_reads_line_t *line, size_t number);
void keel_why_print_cut(keel_why_page_t *page, const keel_reads_line_t *line, size_t number);

#endif // KEEL_REPORT_WHY_INTERNAL_H_
