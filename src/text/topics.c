#include "text/topics.h"

#include "base/json.h"

#include <stdio.h>

#include "text/flow.h"
#include "text/text.h"
#include "text/write.h"

const keel_topic_t *keel_topic_by_word(const char *word) {
    for (size_t i = 0; i < keel_topic_count; ++i)
        if (strcmp(keel_topics[i].word, word) == 0) return &keel_topics[i];
    return NULL;
}

// ---- a mistyped word ---------------------------------------------------------------------------

enum { WORD = 32 }; // how many bytes of a word are compared

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

// How many letters must be added, dropped or replaced to turn one word into the other.
static unsigned distance(const char *a, const char *b) {
    unsigned row[WORD + 1];
    size_t width = strlen(b) < WORD ? strlen(b) : WORD;
    for (size_t j = 0; j <= width; ++j)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i] && i < WORD; ++i) {
        unsigned corner = row[0]++;
        for (size_t j = 0; j < width; ++j) {
            unsigned replaced = corner + (a[i] != b[j]);
            corner = row[j + 1];
            row[j + 1] = least(replaced, least(corner, row[j]) + 1);
        }
    }
    return row[width];
}

static bool begins(const char *text, const char *start) {
    return *start && strncmp(text, start, strlen(start)) == 0;
}

const char *keel_topic_nearest(const char *word) {
    const char *nearest = NULL;
    unsigned best = 3; // more letters than a typo
    for (size_t i = 0; i < keel_topic_count; ++i) {
        const char *other = keel_topics[i].word;
        unsigned far = begins(other, word) || begins(word, other) ? 0 : distance(word, other);
        if (far >= best || far >= strlen(other)) continue;
        best = far;
        nearest = other;
    }
    return nearest;
}

// ---- for a terminal ----------------------------------------------------------------------------

static bool is_fence(keel_str_t line) {
    return keel_str_starts(line, KEEL_STR("```"));
}

// True for text that wraps: not a table, a program or a program's output.
static bool is_prose(keel_str_t line) {
    return line.size && line.data[0] != '|' && line.data[0] != '#';
}

static void prose(keel_str_t line, unsigned width, keel_buffer_t *out) {
    keel_buffer_t words;
    keel_buffer_initialize(&words, 0);
    keel_buffer_append(&words, line.data, line.size);
    bool is_item = keel_str_starts(line, KEEL_STR("- "));
    keel_flow_t flow = {.out = out, .width = width, .indent = is_item ? 2 : 0};
    // The bullet of an item hangs to its left.
    if (is_item) keel_buffer_text(out, "- ");
    if (is_item) flow.column = 2;
    keel_buffer_byte(&words, '\0');
    if (words.failed)
        out->failed = true;
    else
        keel_flow_words(&flow, (const char *)words.data + (is_item ? 2 : 0));
    keel_flow_end(&flow);
    keel_buffer_deinitialize(&words);
}

static void heading(keel_str_t line, keel_buffer_t *out) {
    keel_buffer_text(out, "\x1b[1m");
    keel_buffer_append(out, line.data, line.size);
    keel_buffer_text(out, "\x1b[0m\n");
}

static void as_it_stands(keel_str_t line, keel_buffer_t *out) {
    keel_buffer_append(out, line.data, line.size);
    keel_buffer_byte(out, '\n');
}

void keel_topic_text(const keel_topic_t *page, unsigned width, bool color, keel_buffer_t *out) {
    bool fenced = false;
    keel_str_t rest = page->text, line;
    while (keel_topic_line(&rest, &line)) {
        bool fence = is_fence(line);
        if (color && !fenced && keel_str_starts(line, KEEL_STR("#")))
            heading(line, out);
        else if (width && !fenced && !fence && is_prose(line))
            prose(line, width, out);
        else
            as_it_stands(line, out);
        fenced ^= fence;
    }
}

bool keel_topic_line(keel_str_t *rest, keel_str_t *out_line) {
    if (!rest->size) return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    *out_line = (keel_str_t){rest->data, size};
    size += end != NULL;
    *rest = (keel_str_t){rest->data + size, rest->size - size};
    return true;
}

// ---- all of them -------------------------------------------------------------------------------

enum { WORD_COLUMNS = 12 };

static void print_topic_row(const char *word, const char *sentence, keel_buffer_t *out) {
    keel_buffer_format(out, "  %-*s %s\n", WORD_COLUMNS, word, sentence);
}

void keel_topic_list(keel_buffer_t *out) {
    for (int question = 0; question <= KEEL_QUESTION_NONE; ++question) {
        bool none = question == KEEL_QUESTION_NONE;
        keel_buffer_format(out, "%s\n",
                           none ? "None of these"
                                : keel_question_sentence((keel_question_t)question));
        for (int i = 0; i < KEEL_CAUSE_COUNT; ++i) {
            const keel_cause_facts_t *facts = keel_cause_facts((keel_cause_t)i);
            if ((int)facts->question == question)
                print_topic_row(facts->word, facts->sentence, out);
        }
        keel_buffer_byte(out, '\n');
    }
    keel_buffer_text(out, "Patterns, over several recompiles of one function\n");
    for (int i = 0; i < KEEL_PATTERN_COUNT; ++i)
        print_topic_row(keel_pattern_word((keel_pattern_kind_t)i),
                        keel_pattern_sentence((keel_pattern_kind_t)i), out);
}

// The other fields of a page: those of a cause, or of a pattern.
static void open_object(keel_json_t *json, const char *word, const char *kind,
                        const char *sentence) {
    keel_json_object(json, NULL);
    keel_json_string(json, "word", word);
    keel_json_string(json, "kind", kind);
    keel_json_string(json, "sentence", sentence);
}

static void cause_object(keel_json_t *json, const keel_cause_facts_t *facts) {
    open_object(json, facts->word, "cause", facts->sentence);
    keel_json_string(
        json, "question",
        facts->question == KEEL_QUESTION_NONE ? "" : keel_question_sentence(facts->question));
    keel_json_object(json, "advice");
    keel_json_string(json, "jax", facts->advice[KEEL_FRAMEWORK_JAX]);
    keel_json_string(json, "torch", facts->advice[KEEL_FRAMEWORK_TORCH]);
    keel_json_string(json, "c", facts->advice[KEEL_FRAMEWORK_C]);
    keel_json_end_object(json);
}

static void close_object(keel_json_t *json, const keel_topic_t *page) {
    if (page) keel_json_str(json, "page", page->text);
    keel_json_end_object(json);
}

void keel_topic_json(const keel_topic_t *page, keel_buffer_t *out) {
    bool any = false;
    keel_json_t writer = keel_json(out, KEEL_JSON_SPACED), *json = &writer;
    keel_json_array(json, NULL);
    for (int i = 0; i < KEEL_CAUSE_COUNT + KEEL_PATTERN_COUNT; ++i) {
        bool is_cause = i < KEEL_CAUSE_COUNT;
        keel_pattern_kind_t pattern = (keel_pattern_kind_t)(is_cause ? 0 : i - KEEL_CAUSE_COUNT);
        const keel_cause_facts_t *facts = is_cause ? keel_cause_facts((keel_cause_t)i) : NULL;
        const char *word = facts ? facts->word : keel_pattern_word(pattern);
        if (page && strcmp(page->word, word) != 0) continue;
        if (any) keel_json_break(json, "\n ");
        any = true;
        if (facts)
            cause_object(json, facts);
        else
            open_object(json, word, "pattern", keel_pattern_sentence(pattern));
        close_object(json, page);
    }
    keel_json_end_array(json);
}
