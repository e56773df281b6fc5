// part: what the parts of the page share; see page.h.
#ifndef KEEL_PAGE_PART_H_
#define KEEL_PAGE_PART_H_

#include "page/page.h"
#include "page/timeline.h"
#include "program/program.h"
#include "text/facts.h"

// ---- program.c, source.c: files that are read once for several recompiles -------------

// Programs and sources that are open at a time.
enum { KEEL_PAGE_PROGRAMS = 4, KEEL_PAGE_SOURCES = 8 };

typedef struct keel_page_program_t {
    char *digest; // NULL: the slot is free
    uint8_t *data;
    keel_program_t program;
    char missing[256]; // why it cannot be shown; "" if it can
    uint64_t used;
} keel_page_program_t;

typedef struct keel_page_source_t {
    char *file; // NULL: the slot is free
    uint8_t *data;
    size_t size;
    const char *missing; // why it cannot be shown; NULL if it can
} keel_page_source_t;

// Tones of the charts and the ledger: each of the most expensive causes has its own, the others
// share one.
enum {
    KEEL_PAGE_OWN_TONES = 7,
    KEEL_PAGE_TONE_OTHER = KEEL_PAGE_OWN_TONES,
    KEEL_PAGE_TONE_FIRST,
    KEEL_PAGE_TONE_UNKNOWN, // unexplained
    KEEL_PAGE_TONE_COUNT,
};

typedef struct keel_page_t {
    const keel_page_input_t *input;
    keel_buffer_t *out;
    uint8_t tones[KEEL_CAUSE_COUNT];
    size_t *order;   // the entries that are shown, the most expensive first
    size_t count;    // of these
    bool *is_whole;  // of each entry: it has an article, "r<index>"
    uint64_t budget; // bytes of programs that may still be read
    keel_page_program_t programs[KEEL_PAGE_PROGRAMS];
    uint64_t uses;
    keel_page_source_t sources[KEEL_PAGE_SOURCES];
    size_t next_source;
    bool *is_cited; // of each of keel_topics
} keel_page_t;

// The program of that digest; out->missing says why there is none. Valid until KEEL_PAGE_PROGRAMS
// others were requested.
keel_status_t keel_page_program(keel_page_t *page, const char *digest,
                                const keel_page_program_t **out) KEEL_MUST_CHECK;
void keel_page_close_programs(keel_page_t *page);

// The lines around a place, or why they cannot be shown, or nothing.
keel_status_t keel_page_excerpt(keel_page_t *page, const keel_run_place_t *place) KEEL_MUST_CHECK;
void keel_page_close_sources(keel_page_t *page);

// ---- tone.c -------------------------------------------------------------------------------

void keel_page_choose_tones(keel_page_t *page);
// The tone of a cause; KEEL_CAUSE_COUNT: unexplained.
uint8_t keel_page_tone(const keel_page_t *page, keel_cause_t cause);

// ---- pages.c ------------------------------------------------------------------------------

keel_status_t keel_page_open_topics(keel_page_t *page) KEEL_MUST_CHECK;
void keel_page_close_topics(keel_page_t *page);
// "More: shape": a link to the page of that cause or pattern; the report will contain it.
void keel_page_more(const keel_page_t *page, const char *word);
// The pages that were linked.
keel_status_t keel_page_topics(keel_page_t *page) KEEL_MUST_CHECK;

// ---- escape.c -----------------------------------------------------------------------------

// Escaped: markup, control bytes, bytes that are not UTF-8, and what changes the order of letters.
void keel_page_str(keel_buffer_t *out, keel_str_t text);
void keel_page_text(keel_buffer_t *out, const char *text);
// The same, cut after `most` bytes with "...".
void keel_page_cut(keel_buffer_t *out, const char *text, size_t most);
// The beginning of a digest, as `keel show` and `keel diff` take it.
void keel_page_digest(keel_buffer_t *out, const char *hex);
void keel_page_seconds(keel_buffer_t *out, double seconds);
// "3.2 s", "at least 3.2 s"; "-" if nothing is known.
void keel_page_took(keel_buffer_t *out, const keel_took_t *took);
void keel_page_count(keel_buffer_t *out, uint64_t count, const char *noun);
// "2026-11-21 13:45:02 UTC" in a <time>; nothing if it is 0.
void keel_page_time(keel_buffer_t *out, double when);
// "train.py:88" with the whole path as its title; "unknown line" if there is none.
void keel_page_place(keel_buffer_t *out, const char *shown, const char *file);
// "and 12 more causes", as a paragraph; nothing if all are shown.
void keel_page_left(keel_buffer_t *out, uint64_t all, uint64_t shown, const char *noun);

// ---- table.c ------------------------------------------------------------------------------

// Begins a table. The columns are separated by commas; '#' ends the name of one with numbers.
void keel_page_open_table(keel_buffer_t *out, const char *columns);
void keel_page_close_table(keel_buffer_t *out);
void keel_page_number_cell(keel_buffer_t *out, uint64_t number);
void keel_page_seconds_cell(keel_buffer_t *out, double seconds);
void keel_page_took_cell(keel_buffer_t *out, const keel_took_t *took);
// Begins the row of a source line.
void keel_page_line_heading(keel_buffer_t *out, const char *shown, const char *file,
                            const char *function);

// ---- the parts ---------------------------------------------------------------------------------

extern const char keel_page_style[];  // page.css
extern const char keel_page_markup[]; // page.html

keel_status_t keel_page_charts(keel_page_t *page) KEEL_MUST_CHECK;
keel_status_t keel_page_ledger(keel_page_t *page) KEEL_MUST_CHECK;
keel_status_t keel_page_patterns(keel_page_t *page) KEEL_MUST_CHECK;
void keel_page_reads(keel_page_t *page);
void keel_page_rehearsal(keel_page_t *page);
keel_status_t keel_page_programs(keel_page_t *page) KEEL_MUST_CHECK;
// What remotes answered, if there were any.
void keel_page_remotes(keel_page_t *page);
// Fills order, count and is_whole; the caller frees the lists, also on failure.
keel_status_t keel_page_choose(keel_page_t *page) KEEL_MUST_CHECK;
keel_status_t keel_page_recompiles(keel_page_t *page) KEEL_MUST_CHECK;
// The cause of an entry; KEEL_CAUSE_COUNT if it has none.
keel_cause_t keel_page_cause(const keel_why_entry_t *entry);

// The two programs of an entry around what differs; nothing if no root shows in them.
keel_status_t keel_page_view(keel_page_t *page, const keel_why_entry_t *entry,
                             bool is_open) KEEL_MUST_CHECK;

// ---- lines of a view ---------------------------------------------------------------------------

// One line of a view. Lines of the same `kind` may be shown side by side.
typedef struct keel_page_line_t {
    keel_str_t text;
    uint64_t kind;
    uint32_t first_value, value_count; // that it defines: %first_value and on
    bool is_told;                      // a root names it
} keel_page_line_t;

typedef struct keel_page_lines_t {
    keel_page_line_t *items;
    size_t count;
} keel_page_lines_t;

// ---- side.c, signature.c -------------------------------------------------------------

enum {
    KEEL_PAGE_SOURCES_SHOWN = 6, // earlier operations that its values come from
    KEEL_PAGE_LARGEST_VALUE = 8, // elements of a constant
};

// One side of a view while its lines are collected.
typedef struct keel_page_side_t {
    const keel_program_t *program;
    keel_arena_t *arena;
    keel_page_lines_t lines;
    size_t capacity;
    uint32_t first, end; // operations that are shown
    keel_op_id_t told;   // the operation that the row is about; NONE: it is not on this side
    keel_op_id_t sources[2 * KEEL_PAGE_SOURCES_SHOWN]; // what is shown before them, in order
    uint32_t source_count;
} keel_page_side_t;

keel_status_t keel_page_begin(keel_page_side_t *side, size_t capacity) KEEL_MUST_CHECK;
// Takes the buffer's text as one line, cut where it is long, and empties the buffer.
keel_status_t keel_page_end_line(keel_page_side_t *side, keel_buffer_t *text,
                                 keel_page_line_t line) KEEL_MUST_CHECK;
// The operations within a function: [first, end); false if it has none.
bool keel_page_range(const keel_program_t *p, const keel_function_t *f, uint32_t *first,
                     uint32_t *end);
// The function that an operation is in; NULL if there is none.
const keel_function_t *keel_page_function(const keel_program_t *p, keel_op_id_t op);
// Equal for operations of one name, rank of the first result and constant value.
uint64_t keel_page_operation_kind(const keel_program_t *p, keel_op_id_t op);
// Fills `sources` with at most KEEL_PAGE_SOURCES_SHOWN operations before `first` that `told` takes
// its values from: a constant that differs is often far away.
void keel_page_find_sources(keel_page_side_t *side, const keel_function_t *f);
// Lines of the sources, then of the operations [first, end). `text` is empty before and after.
keel_status_t keel_page_operations(keel_page_side_t *side, const keel_function_t *f,
                                   keel_buffer_t *text) KEEL_MUST_CHECK;
// Lines of the arguments and results of the entry.
keel_status_t keel_page_signature(keel_page_side_t *side, keel_buffer_t *text) KEEL_MUST_CHECK;

// ---- align.c, rows.c -----------------------------------------------------------------

enum { KEEL_PAGE_ABSENT = UINT32_MAX };

// A row of a view: indices into the two lists, KEEL_PAGE_ABSENT if a side has none.
typedef struct keel_page_row_t {
    uint32_t old_line, new_line;
    bool differs;
    bool after_gap; // lines before it are left out
} keel_page_row_t;

typedef struct keel_page_rows_t {
    keel_page_row_t *items;
    size_t count;
} keel_page_rows_t;

// A part of two lists, given by their kinds.
typedef struct keel_page_stretch_t {
    const uint64_t *old_kinds, *new_kinds;
    uint32_t old_first, old_end, new_first, new_end;
} keel_page_stretch_t;

// Aligns the two and adds the rows, for which there is room. Old and new lines without a
// counterpart share rows.
keel_status_t keel_page_align(const keel_page_stretch_t *stretch, keel_arena_t *arena,
                              keel_page_rows_t *rows) KEEL_MUST_CHECK;
// The same for whole lists; *out lives in the arena.
keel_status_t keel_page_align_lines(const keel_page_lines_t *old_lines,
                                    const keel_page_lines_t *new_lines, keel_arena_t *arena,
                                    keel_page_rows_t *out) KEEL_MUST_CHECK;

// The rows as a table, keeping `around` equal rows next to each that differs; SIZE_MAX: all. Long
// tables are cut, with a count of the differing rows that are left out.
keel_status_t keel_page_table(const keel_page_lines_t *old_lines,
                              const keel_page_lines_t *new_lines, const keel_page_rows_t *rows,
                              size_t around, keel_arena_t *arena,
                              keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PAGE_PART_H_
