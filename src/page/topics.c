// The pages of the causes that a report names, so that the file needs no network. It reads only the
// Markdown that Keel's own pages use.
#include "text/topics.h"
#include "page/part.h"

void keel_page_more(const keel_page_t *page, const char *word) {
    const keel_topic_t *cited = keel_topic_by_word(word);
    if (!cited) return;
    page->is_cited[cited - keel_topics] = true;
    keel_buffer_format(
        page->out, " <span class=\"muted\">More: <a href=\"#cause-%s\">%s</a></span>", word, word);
}

keel_status_t keel_page_open_topics(keel_page_t *page) {
    void *memory;
    KEEL_TRY(keel_calloc(keel_topic_count + 1, sizeof *page->is_cited, &memory));
    page->is_cited = memory;
    return NULL;
}

void keel_page_close_topics(keel_page_t *page) {
    keel_free(page->is_cited);
    page->is_cited = NULL;
}

// ---- within a line -----------------------------------------------------------------------------

// Where `mark` comes next; the text's size if it does not.
static size_t find_mark(keel_str_t text, size_t from, const char *mark) {
    size_t size = strlen(mark);
    for (size_t at = from; at + size <= text.size; ++at)
        if (memcmp(text.data + at, mark, size) == 0) return at;
    return text.size;
}

static keel_str_t part(keel_str_t text, size_t from, size_t to) {
    return (keel_str_t){text.data + from, to - from};
}

static void write_words(const keel_page_t *page, keel_str_t text);

// Wraps the text between two marks in an element; returns the byte after it, or `at` if the second
// mark is missing.
static size_t between(const keel_page_t *page, keel_str_t text, size_t at, const char *mark,
                      const char *element) {
    size_t first = at + strlen(mark), end = find_mark(text, first, mark);
    if (end == text.size || end == first) return at;
    keel_buffer_format(page->out, "<%s>", element);
    keel_page_str(page->out, part(text, first, end));
    keel_buffer_format(page->out, "</%s>", element);
    return end + strlen(mark);
}

// "[retrace](retrace.md)": a link if that page is in the report.
static size_t link_to(const keel_page_t *page, keel_str_t text, size_t at) {
    size_t middle = find_mark(text, at, "]"), end = find_mark(text, middle, ")");
    if (end == text.size || text.data[middle + 1] != '(') return at;
    char word[32];
    keel_str_t target = part(text, middle + 2, end), shown = part(text, at + 1, middle);
    size_t size = find_mark(target, 0, ".md");
    bool is_page = size < sizeof word;
    if (is_page) memcpy(word, target.data, size);
    word[is_page ? size : 0] = '\0';
    const keel_topic_t *other = keel_topic_by_word(word);
    bool is_there = other && page->is_cited[other - keel_topics];
    if (is_there) keel_buffer_format(page->out, "<a href=\"#cause-%s\">", word);
    write_words(page, shown);
    if (is_there) keel_buffer_text(page->out, "</a>");
    return end + 1;
}

static void write_words(const keel_page_t *page, keel_str_t text) {
    size_t plain = 0, at = 0;
    while (at < text.size) {
        char c = text.data[at];
        if (c != '`' && c != '[' && c != '*') {
            ++at;
            continue;
        }
        keel_page_str(page->out, part(text, plain, at));
        bool strong = c == '*' && at + 1 < text.size && text.data[at + 1] == '*';
        size_t end = c == '`'   ? between(page, text, at, "`", "code")
                     : c == '[' ? link_to(page, text, at)
                     : strong   ? between(page, text, at, "**", "strong")
                                : between(page, text, at, "*", "em");
        plain = end > at ? end : at;
        at = end > at ? end : at + 1;
    }
    keel_page_str(page->out, part(text, plain, text.size));
}

// ---- lines -------------------------------------------------------------------------------------

typedef enum block { NO_BLOCK, LIST, CODE } block_t;

static void change_to(const keel_page_t *page, block_t *block, block_t next) {
    static const char *const opens[] = {"", "<ul>\n",
                                        "<div class=\"source sample\" tabindex=\"0\"><code>"},
                             *const closes[] = {"", "</ul>\n", "</code></div>\n"};
    if (*block == next) return;
    keel_buffer_text(page->out, closes[*block]);
    keel_buffer_text(page->out, opens[next]);
    *block = next;
}

static void element(const keel_page_t *page, const char *name, keel_str_t text) {
    keel_buffer_format(page->out, "<%s>", name);
    write_words(page, text);
    keel_buffer_format(page->out, "</%s>\n", name);
}

static void code_line(const keel_page_t *page, keel_str_t line) {
    keel_buffer_text(page->out, "<span class=\"line\">");
    keel_page_str(page->out, line);
    keel_buffer_text(page->out, line.size ? "</span>" : "&nbsp;</span>");
}

static void line_of(const keel_page_t *page, keel_str_t line, block_t *block) {
    bool is_fence = keel_str_starts(line, KEEL_STR("```"));
    if (is_fence || *block == CODE) {
        if (is_fence)
            change_to(page, block, *block == CODE ? NO_BLOCK : CODE);
        else
            code_line(page, line);
        return;
    }
    bool is_item = keel_str_starts(line, KEEL_STR("- "));
    change_to(page, block, is_item ? LIST : NO_BLOCK);
    if (is_item)
        element(page, "li", part(line, 2, line.size));
    else if (keel_str_starts(line, KEEL_STR("## ")))
        element(page, "h3", part(line, 3, line.size));
    else if (line.size)
        element(page, "p", line);
}

// Only the heading of a folded page shows; a link leads to the folded part, which opens it.
static void write_topic(const keel_page_t *page, const keel_topic_t *cause) {
    keel_buffer_t *out = page->out;
    keel_str_t rest = cause->text, line = KEEL_STR("");
    block_t block = NO_BLOCK;
    keel_topic_line(&rest, &line);
    size_t mark = keel_str_starts(line, KEEL_STR("# ")) ? 2 : 0;
    keel_buffer_text(out, "<details class=\"page\"><summary>");
    write_words(page, part(line, mark, line.size));
    keel_buffer_format(out, "</summary>\n<div id=\"cause-%s\">\n", cause->word);
    while (keel_topic_line(&rest, &line))
        line_of(page, line, &block);
    change_to(page, &block, NO_BLOCK);
    keel_buffer_text(out, "</div></details>\n");
}

keel_status_t keel_page_topics(keel_page_t *page) {
    bool any = false;
    for (size_t i = 0; i < keel_topic_count; ++i) {
        if (!page->is_cited[i]) continue;
        if (!any) keel_buffer_text(page->out, "<section id=\"causes\"><h2>Causes</h2>\n");
        any = true;
        write_topic(page, &keel_topics[i]);
    }
    if (any) keel_buffer_text(page->out, "</section>\n");
    return NULL;
}
