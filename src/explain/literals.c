#include "explain/literals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Returns where the number at `at` ends; `out` is 0 if there is none.
static size_t read_number(keel_str_t text, size_t at, double *out) {
    enum { LONGEST = 64 };
    char digits[LONGEST + 1];
    size_t count = 0;
    for (; at < text.size; ++at) {
        char c = text.data[at];
        bool is_sign = (c == '-' || c == '+') && count &&
                       (digits[count - 1] == 'e' || digits[count - 1] == 'E');
        if (!keel_is_of_name(c) && c != '.' && !is_sign) break;
        if (c != '_' && count < LONGEST) digits[count++] = c;
    }
    digits[count] = '\0';
    char *end;
    *out = strtod(digits, &end);
    if (*end || count == LONGEST || !isfinite(*out)) *out = 0;
    return at;
}

static void add_literal(keel_literals_t *literals, double value, uint32_t line, uint32_t file) {
    if (value == 0 || literals->count == KEEL_LITERALS_KEPT) return;
    literals->data[literals->count++] = (keel_literal_t){fabs(value), line, file};
}

void keel_literals_scan(keel_literals_t *literals, uint32_t file, keel_str_t text) {
    uint32_t line = 1;
    char quote = '\0';
    for (size_t at = 0; at < text.size;) {
        char c = text.data[at];
        bool begins = keel_is_digit(c) ||
                      (c == '.' && at + 1 < text.size && keel_is_digit(text.data[at + 1]));
        if (c == '\n') {
            ++line;
            quote = '\0';
        } else if (!quote && c == '#') {
            while (at + 1 < text.size && text.data[at + 1] != '\n')
                ++at;
        } else if (c == '"' || c == '\'') {
            if (!quote)
                quote = c;
            else if (quote == c)
                quote = '\0';
        } else if (begins || keel_is_of_name(c)) {
            double value = 0;
            if (begins)
                at = read_number(text, at, &value);
            else
                while (at < text.size && keel_is_of_name(text.data[at]))
                    ++at;
            add_literal(literals, value, line, file);
            continue;
        }
        ++at;
    }
}

static uint32_t index_of(const keel_literals_t *literals, const char *file) {
    uint32_t at = 0;
    while (at < literals->file_count && strcmp(literals->files[at], file) != 0)
        ++at;
    return at;
}

keel_status_t keel_literals_read(keel_literals_t *literals, const char *file, keel_arena_t *arena) {
    if (!literals->sources || !file || !*file || literals->file_count == KEEL_LITERAL_FILES ||
        index_of(literals, file) < literals->file_count)
        return NULL;
    uint32_t number = literals->file_count++;
    literals->files[number] = file;
    keel_str_t text;
    keel_status_t status = literals->sources->read(literals->sources->context, file, &text);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    bool is_known = !status;
    keel_status_ignore(status);
    if (!is_known) return NULL;
    if (!literals->data)
        KEEL_TRY(keel_arena_array(arena, KEEL_LITERALS_KEPT, sizeof *literals->data,
                                  (void **)&literals->data));
    keel_literals_scan(literals, number, text);
    return NULL;
}

bool keel_literals_have(const keel_literals_t *literals, double value) {
    for (uint32_t i = 0; i < literals->count; ++i)
        if (literals->data[i].value == fabs(value)) return true;
    return false;
}

bool keel_literals_have_at(const keel_literals_t *literals, double value, const char *file,
                           uint32_t line) {
    uint32_t number = file ? index_of(literals, file) : literals->file_count;
    for (uint32_t i = 0; i < literals->count; ++i) {
        const keel_literal_t *literal = &literals->data[i];
        if (literal->file == number && literal->line == line && literal->value == fabs(value))
            return true;
    }
    return false;
}
