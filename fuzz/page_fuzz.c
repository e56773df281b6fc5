// The page of a run: whatever names and numbers a journal contains, the page has only its own tags,
// they nest, and it contains no script, no event handler and no byte that is not text.
#include <stdlib.h>
#include <string.h>

#include "page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static const char *const names[] = {
    "html", "head", "meta",  "title",   "link",       "style",   "body",    "header", "p",
    "h1",   "h2",   "h3",    "code",    "strong",     "dl",      "dt",      "dd",     "span",
    "nav",  "a",    "main",  "section", "ul",         "ol",      "li",      "b",      "br",
    "time", "div",  "table", "caption", "thead",      "tbody",   "tr",      "th",     "td",
    "svg",  "path", "rect",  "g",       "figure",     "details", "summary", "pre",    "article",
    "i",    "del",  "ins",   "footer",  "figcaption", "em",
};
enum { NAMES = sizeof names / sizeof *names, DEEPEST = 64 };

static size_t name_at(const char *at, size_t length) {
    size_t which = 0;
    while (which < NAMES && (strlen(names[which]) != length || memcmp(names[which], at, length)))
        ++which;
    check(which < NAMES);
    return which;
}

static bool is_void(size_t name) {
    return strcmp(names[name], "meta") == 0 || strcmp(names[name], "link") == 0 ||
           strcmp(names[name], "br") == 0;
}

// Skips the attributes: each is a word, or a word and a quoted value. *ends: "/>".
static const char *attributes(const char *at, bool *ends) {
    *ends = false;
    for (;;) {
        while (*at == ' ')
            ++at;
        if (*at == '>') return at + 1;
        if (*at == '/') {
            check(at[1] == '>');
            *ends = true;
            return at + 2;
        }
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        check(length && !(at[0] == 'o' && at[1] == 'n'));
        at += length;
        if (*at != '=') continue;
        check(at[1] == '"');
        at = strchr(at + 2, '"');
        check(at);
        ++at;
    }
}

static void check_tags(const char *page) {
    size_t open[DEEPEST], depth = 0;
    check(strncmp(page, KEEL_PAGE_MARK, strlen(KEEL_PAGE_MARK)) == 0);
    const char *at = page + strlen(KEEL_PAGE_MARK);
    while ((at = strchr(at, '<'))) {
        bool closes = at[1] == '/', ends;
        at += closes ? 2 : 1;
        size_t length = strcspn(at, " />"), name = name_at(at, length);
        at = attributes(at + length, &ends);
        if (closes)
            check(depth && open[--depth] == name);
        else if (!ends && !is_void(name)) {
            check(depth < DEEPEST);
            open[depth++] = name;
        }
    }
    check(depth == 0);
}

static void check_page(const keel_page_input_t *input) {
    keel_buffer_t page;
    keel_buffer_initialize(&page, 0);
    check(keel_page_write(input, &page) == NULL);
    keel_str_t text = keel_bytes_str(keel_buffer_bytes(&page));
    for (size_t i = 0; i < text.size;) {
        size_t length = keel_utf8_length(text, i);
        check(length && (length > 1 || (uint8_t)text.data[i] >= 0x20 || text.data[i] == '\n'));
        i += length;
    }
    check_tags(keel_buffer_cstr(&page));
    keel_buffer_deinitialize(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_bytes_t bytes = keel_bytes(data, size);
    keel_why_t why;
    check(keel_why_parse(bytes, "run", "", KEEL_RUN_DETAILS, &why) == NULL);
    for (size_t i = 0; i < why.run.request_count; ++i)
        check(why.run.requests[i].index < why.run.program_count);
    check_page(&(keel_page_input_t){.why = &why});
    keel_why_deinitialize(&why);
    return 0;
}
