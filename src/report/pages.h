// pages: what `keel explain` tells: the pages of docs/causes, which are part of the program.
#ifndef KEEL_REPORT_PAGES_H_
#define KEEL_REPORT_PAGES_H_

#include "base/base.h"

// One cause, or one pattern.
typedef struct keel_page_t {
    const char *word; // "shape"
    keel_str_t text;  // Markdown
} keel_page_t;

// Made of the files by cmake/KeelPages.cmake; by word.
extern const keel_page_t keel_pages[];
extern const size_t keel_page_count;

// NULL where nothing has that word.
const keel_page_t *keel_page_by_word(const char *word);
// The word that is nearest to a mistyped one; NULL where none is near.
const char *keel_page_nearest(const char *word);

// The next line of a page; false behind the last.
bool keel_page_line(keel_str_t *rest, keel_str_t *out_line);

// The page for a terminal: paragraphs wrapped at `width` (0: as it stands), headings bold.
void keel_page_text(const keel_page_t *page, unsigned width, bool color, keel_buffer_t *out);
// All words with their sentences, by question.
void keel_page_list(keel_buffer_t *out);
// A JSON list of them; with a page: of that one alone, its text with it.
void keel_page_json(const keel_page_t *page, keel_buffer_t *out);

#endif // KEEL_REPORT_PAGES_H_
