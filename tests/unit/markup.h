// Markup that a browser takes as it is meant: what is opened is closed, in order, and stands where
// HTML allows it.
#ifndef KEEL_TESTS_MARKUP_H_
#define KEEL_TESTS_MARKUP_H_

#include "place.h"

enum { MARKUP_DEPTH = 64, MARKUP_NAME = 24 };

typedef struct markup_open_t {
    char name[MARKUP_NAME];
    unsigned cells; // of a row, or of the first row of a table
} markup_open_t;

typedef struct markup_t {
    const char *text;
    markup_open_t open[MARKUP_DEPTH];
    size_t depth;
} markup_t;

static inline bool markup_is_among(const char *name, const char *const *list) {
    for (; *list; ++list)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

#define MARKUP_FAIL(markup, at, ...)                                                               \
    do {                                                                                           \
        const char *from = (at) - (markup)->text > 80 ? (at)-80 : (markup)->text;                  \
        print_error("... %.160s ...\n", from);                                                     \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

// What an element may stand in directly; others may stand anywhere but in these lists.
static inline void markup_check_parent(const markup_t *markup, const char *name, const char *at) {
    static const struct {
        const char *child, *parents[5];
    } rules[] = {
        {"li", {"ul", "ol", NULL}},     {"dt", {"dl", NULL}},
        {"dd", {"dl", NULL}},           {"tr", {"table", "thead", "tbody", NULL}},
        {"td", {"tr", NULL}},           {"th", {"tr", NULL}},
        {"thead", {"table", NULL}},     {"tbody", {"table", NULL}},
        {"summary", {"details", NULL}},
    };
    static const char *const holders[] = {"ul", "ol", "dl", "tr", "table", "thead", "tbody", NULL};
    static const char *const blocks[] = {"p",       "div",     "ul", "ol", "dl",
                                         "table",   "h1",      "h2", "h3", "section",
                                         "article", "details", NULL};
    static const char *const phrases[] = {"p",    "h1",   "h2", "h3",     "h4",
                                          "code", "span", "em", "strong", NULL};
    const char *parent = markup->depth ? markup->open[markup->depth - 1].name : "";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        if (strcmp(name, rules[i].child) != 0) continue;
        if (!markup_is_among(parent, rules[i].parents))
            MARKUP_FAIL(markup, at, "<%s> stands in <%s>", name, parent);
        return;
    }
    if (markup_is_among(parent, holders) && strcmp(name, "caption") != 0)
        MARKUP_FAIL(markup, at, "<%s> stands in <%s>", name, parent);
    for (size_t i = 0; i < markup->depth && markup_is_among(name, blocks); ++i)
        if (markup_is_among(markup->open[i].name, phrases))
            MARKUP_FAIL(markup, at, "<%s> stands in <%s>", name, markup->open[i].name);
}

// All rows of a table are as wide as its first.
static inline void markup_count_cell(markup_t *markup, const char *name, const char *tag) {
    if (strcmp(name, "td") != 0 && strcmp(name, "th") != 0) return;
    const char *end = strchr(tag, '>'), *spans = strstr(tag, "colspan=\"");
    unsigned more = spans && spans < end ? (unsigned)strtoul(spans + 9, NULL, 10) : 1;
    markup->open[markup->depth - 1].cells += more;
}

static inline void markup_end_row(markup_t *markup, const markup_open_t *row, const char *at) {
    for (size_t i = markup->depth; i-- > 0;) {
        markup_open_t *table = &markup->open[i];
        if (strcmp(table->name, "table") != 0) continue;
        if (table->cells && table->cells != row->cells)
            MARKUP_FAIL(markup, at, "a row of %u cells in a table of %u", row->cells, table->cells);
        table->cells = row->cells;
        return;
    }
}

// The attributes of a tag are NAME="VALUE", NAME alone, or none; returns where the tag ends.
static inline const char *markup_attributes(const markup_t *markup, const char *at) {
    for (;;) {
        at += strspn(at, " \n");
        if (*at == '>' || *at == '/') return at;
        size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        if (!size) MARKUP_FAIL(markup, at, "no attribute: %.20s", at);
        at += size;
        if (*at != '=') continue;
        const char *end = at[1] == '"' ? strchr(at + 2, '"') : NULL;
        if (!end) MARKUP_FAIL(markup, at, "a value without quotes: %.20s", at);
        at = end + 1;
    }
}

static inline void markup_begin(markup_t *markup, const char *name, const char *tag,
                                const char *end) {
    static const char *const empty[] = {"meta", "link", "br", "hr", "img", "input", NULL};
    markup_check_parent(markup, name, tag);
    if (markup->depth) markup_count_cell(markup, name, tag);
    if (*end == '/' || markup_is_among(name, empty)) return;
    if (markup->depth == MARKUP_DEPTH) MARKUP_FAIL(markup, tag, "too deep");
    markup_open_t *open = &markup->open[markup->depth++];
    *open = (markup_open_t){.cells = 0};
    snprintf(open->name, sizeof open->name, "%s", name);
}

static inline void markup_end(markup_t *markup, const char *name, const char *tag) {
    if (!markup->depth) MARKUP_FAIL(markup, tag, "</%s> closes nothing", name);
    const markup_open_t closed = markup->open[--markup->depth];
    if (strcmp(closed.name, name) != 0)
        MARKUP_FAIL(markup, tag, "</%s> closes <%s>", name, closed.name);
    if (strcmp(name, "tr") == 0) markup_end_row(markup, &closed, tag);
}

// A whole page, or a part of one.
static inline void assert_well_formed(const char *text) {
    markup_t markup = {.text = text};
    for (const char *at = text; (at = strchr(at, '<'));) {
        char name[MARKUP_NAME];
        bool is_end = at[1] == '/';
        const char *tag = at, *first = at + 1 + is_end;
        if (strncmp(at, "<!--", 4) == 0 || strncmp(at, "<!DOCTYPE", 9) == 0) {
            at = strstr(at, at[2] == '-' ? "-->" : ">");
            assert_non_null(at);
            continue;
        }
        size_t size = strcspn(first, " \n/>");
        if (!size || size >= sizeof name) MARKUP_FAIL(&markup, tag, "no tag: %.20s", tag);
        snprintf(name, sizeof name, "%.*s", (int)size, first);
        at = markup_attributes(&markup, first + size);
        if (is_end)
            markup_end(&markup, name, tag);
        else
            markup_begin(&markup, name, tag, at);
        if (!is_end && strcmp(name, "style") == 0) at = strstr(at, "</style>");
        assert_non_null(at);
    }
    if (markup.depth) fail_msg("<%s> is not closed", markup.open[markup.depth - 1].name);
}

#endif // KEEL_TESTS_MARKUP_H_
