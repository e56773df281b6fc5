// Cuts what a reader does not use from a line before it is parsed. Parsing takes most of the time
// of reading a journal, and most of a journal is lists that few readers want.
#define _GNU_SOURCE // memmem
#include <stdio.h>
#include <string.h>

#include "journal/journal.h"

static const char begin[] = "{\"event\":\"";
enum { BEGIN = sizeof begin - 1 };

bool keel_journal_is_event(keel_str_t line, const char *const *kinds) {
    if (line.size <= BEGIN || memcmp(line.data, begin, BEGIN) != 0) return false;
    if (line.data[line.size - 1] != '}') return false; // truncated: the parser reports it
    keel_str_t rest = {line.data + BEGIN, line.size - BEGIN};
    for (; *kinds; ++kinds) {
        size_t size = strlen(*kinds);
        if (rest.size > size && memcmp(rest.data, *kinds, size) == 0 && rest.data[size] == '"')
            return true;
    }
    return false;
}

// Past the quote that ends a string; `at` is just after the opening quote. NULL if the text ends
// first.
static const char *end_of_string(const char *at, const char *end) {
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return at < end ? at + 1 : NULL;
}

// Past the bracket that closes the one at `at`; NULL if none does.
static const char *end_of_list(const char *at, const char *end) {
    size_t depth = 0;
    while (at && at < end) {
        char c = *at++;
        if (c == '"')
            at = end_of_string(at, end);
        else if (c == '[' || c == '{')
            ++depth;
        else if ((c == ']' || c == '}') && --depth == 0)
            return at;
    }
    return NULL;
}

// The member of that name with its comma; size 0 if there is none. A quote inside a string follows
// a backslash, so this never matches inside a text.
static keel_str_t find_list(keel_str_t line, const char *name) {
    char key[64];
    int size = snprintf(key, sizeof key, ",\"%s\":", name);
    const char *end = line.data + line.size,
               *found = memmem(line.data, line.size, key, (size_t)size);
    const char *value = found ? found + size : end;
    bool is_list = value < end && (*value == '[' || *value == '{');
    const char *behind = is_list ? end_of_list(value, end) : NULL;
    return behind ? (keel_str_t){found, (size_t)(behind - found)} : (keel_str_t){line.data, 0};
}

keel_str_t keel_journal_without(keel_str_t line, const char *const *lists, keel_buffer_t *scratch) {
    for (; *lists; ++lists) {
        keel_str_t found = find_list(line, *lists);
        if (!found.size) continue;
        size_t before = (size_t)(found.data - line.data), behind = before + found.size;
        bool is_copy = line.data == (const char *)scratch->data;
        if (!is_copy) scratch->size = 0;
        if (!is_copy) keel_buffer_append(scratch, line.data, line.size);
        if (scratch->failed) return line;
        memmove(scratch->data + before, scratch->data + behind, line.size - behind);
        scratch->size = line.size - found.size;
        line = keel_bytes_str(keel_buffer_bytes(scratch));
    }
    return line;
}

// ---- long strings ------------------------------------------------------------------------------

// The quote that ends a string; NULL if none does.
static const char *closing_quote(const char *at, const char *end) {
    const char *begin_at = at;
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        const char *slash = at;
        while (slash > begin_at && slash[-1] == '\\')
            --slash;
        if ((at - slash) % 2 == 0) return at;
        ++at;
    }
    return NULL;
}

// Bytes of what stands for one character of a string: an escape is not cut, nor is a pair of
// surrogates.
static size_t unit_at(const char *at, const char *end) {
    unsigned char c = (unsigned char)*at;
    size_t left = (size_t)(end - at);
    if (c < 0x80 && c != '\\') return 1;
    if (c >= 0x80) {
        size_t length = keel_utf8_length((keel_str_t){at, left}, 0);
        return length ? length : 1;
    }
    if (left < 6 || at[1] != 'u') return 2;
    bool is_pair = (at[2] | 0x20) == 'd' && strchr("89abAB", at[3]) && left >= 12 && at[6] == '\\';
    return is_pair ? 12 : 6;
}

static size_t cut_at(const char *text, const char *end, size_t longest) {
    size_t at = 0;
    for (size_t unit; at < longest; at += unit) {
        unit = unit_at(text + at, end);
        if (at + unit > longest) break;
    }
    return at;
}

keel_str_t keel_journal_cut(keel_str_t line, size_t longest, keel_buffer_t *scratch) {
    if (!longest || line.size <= longest) return line;
    const char *at = line.data, *end = line.data + line.size, *copied = at;
    scratch->size = 0;
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        const char *text = at + 1, *close = closing_quote(text, end);
        if (!close) break; // truncated: the parser reports it
        at = close + 1;
        if ((size_t)(close - text) <= longest) continue;
        size_t kept = cut_at(text, close, longest);
        keel_buffer_append(scratch, copied, (size_t)(text - copied) + kept);
        keel_buffer_text(scratch, "...");
        copied = close;
    }
    if (copied == line.data || scratch->failed) return line;
    keel_buffer_append(scratch, copied, (size_t)(end - copied));
    return scratch->failed ? line : keel_bytes_str(keel_buffer_bytes(scratch));
}
