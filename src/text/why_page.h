// why_page: what the files of `keel why`'s text share.
#ifndef KEEL_TEXT_WHY_PAGE_H_
#define KEEL_TEXT_WHY_PAGE_H_

#include "text/facts.h"
#include "text/flow.h"
#include "text/text.h"

// Recompiles that are shown together: those of one pattern, retraces of one program at one line, or
// all that one change outside the programs caused.
typedef struct keel_text_item_t {
    const keel_why_entry_t *entry;     // the first of them that has the pattern's cause
    const keel_why_pattern_t *pattern; // NULL: none
    uint64_t first_step, last_step;
    bool at_end; // of last_step
    keel_took_t took;
    uint64_t ops; // of their programs
    size_t order; // of the first one in the journal
} keel_text_item_t;

// The widths of the columns.
typedef struct keel_text_columns_t {
    unsigned number, step, cost, kind, place;
} keel_text_columns_t;

typedef struct keel_text_page_t {
    const keel_why_t *why;
    const keel_text_style_t *style;
    keel_flow_t flow;
    keel_text_columns_t columns;
    const keel_why_entry_t *item; // being printed
} keel_text_page_t;

// why_item.c: widens the columns so that the item fits; prints it.
void keel_text_measure_item(keel_text_page_t *page, const keel_text_item_t *item, size_t number);
void keel_text_print_item(keel_text_page_t *page, const keel_text_item_t *item, size_t number);

// The same for a line whose reads cut steps.
void keel_text_measure_cut(keel_text_page_t *page, const keel_reads_line_t *line, size_t number);
void keel_text_print_cut(keel_text_page_t *page, const keel_reads_line_t *line, size_t number);

#endif // KEEL_TEXT_WHY_PAGE_H_
