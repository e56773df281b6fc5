// topics: what `keel explain` prints: the pages of docs/causes, which are part of the program.
#ifndef KEEL_TEXT_TOPICS_H_
#define KEEL_TEXT_TOPICS_H_

#include "base/base.h"

// One cause, or one pattern.
typedef struct keel_topic_t {
    const char *word; // "shape"
    keel_str_t text;  // Markdown
} keel_topic_t;

// Made from the files by cmake/KeelPages.cmake; ordered by word.
extern const keel_topic_t keel_topics[];
extern const size_t keel_topic_count;

// NULL if there is no such word.
const keel_topic_t *keel_topic_by_word(const char *word);
// The word nearest to a mistyped one; NULL if none is near.
const char *keel_topic_nearest(const char *word);

// The next line of a page; false after the last.
bool keel_topic_line(keel_str_t *rest, keel_str_t *out_line);

// The page for a terminal: paragraphs wrapped at `width` (0: as it is), headings bold.
void keel_topic_text(const keel_topic_t *page, unsigned width, bool color, keel_buffer_t *out);
// All words with their sentences, by question.
void keel_topic_list(keel_buffer_t *out);
// A JSON list of them; with a page: of that one alone, its text with it.
void keel_topic_json(const keel_topic_t *page, keel_buffer_t *out);

#endif // KEEL_TEXT_TOPICS_H_
