#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "key/content.h"
#include "key/dump_flags.h"
#include "key/key.h"

// ---- splitting ---------------------------------------------------------------------------------

typedef struct flag_t {
    keel_str_t name;
    keel_str_t value;
    uint32_t at; // index among all
} flag_t;

typedef struct flags_t {
    keel_arena_t arena;
    flag_t *items;
    uint32_t count, capacity;
    keel_dumps_t dumps;
    bool as_given;     // all of them, with their values only
    keel_str_t wanted; // the flag whose value is asked for
    keel_str_t value;  // its latest value
} flags_t;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static keel_status_t add_flag(flags_t *flags, keel_str_t name, keel_str_t value) {
    if (flags->count == flags->capacity) {
        uint32_t capacity = flags->capacity ? flags->capacity * 2 : 32;
        KEEL_TRY(keel_realloc_array(capacity, sizeof *flags->items, (void **)&flags->items));
        flags->capacity = capacity;
    }
    flags->items[flags->count] = (flag_t){name, value, flags->count};
    ++flags->count;
    return NULL;
}

// The text between quotes; inside double quotes, a backslash escapes the next character.
static keel_status_t unquote(flags_t *flags, keel_str_t text, size_t *at, keel_str_t *out) {
    char quote = text.data[(*at)++];
    void *copy = NULL;
    KEEL_TRY(keel_arena_alloc(&flags->arena, text.size - *at + 1, &copy));
    size_t size = 0;
    for (; *at < text.size && text.data[*at] != quote; ++*at) {
        if (quote == '"' && text.data[*at] == '\\' && *at + 1 < text.size) ++*at;
        ((char *)copy)[size++] = text.data[*at];
    }
    if (*at < text.size) ++*at;
    *out = (keel_str_t){copy, size};
    return NULL;
}

static bool is_name(char c) {
    return c == '-' || c == '_' || isalnum((unsigned char)c);
}

// One flag at *at, in XLA's syntax: "--name=value" up to a space, with the value possibly in
// quotes; "--name" alone means true.
static keel_status_t split_one(flags_t *flags, keel_str_t text, size_t *at) {
    size_t begin = *at, end = begin;
    while (end < text.size && is_name(text.data[end]))
        ++end;
    keel_str_t name = {text.data + begin, end - begin}, value = KEEL_STR("true");
    if (end + 1 < text.size && text.data[end] == '=' &&
        (text.data[end + 1] == '"' || text.data[end + 1] == '\'')) {
        ++end;
        KEEL_TRY(unquote(flags, text, &end, &value));
    } else {
        size_t rest = end;
        while (end < text.size && !is_space(text.data[end]))
            ++end;
        if (rest < end && text.data[rest] == '=')
            value = (keel_str_t){text.data + rest + 1, end - rest - 1};
        else if (rest < end)
            name.size = end - begin; // not in XLA's syntax; kept unchanged
    }
    *at = end;
    if (name.size > 2 && memcmp(name.data, "--", 2) == 0)
        name = (keel_str_t){name.data + 2, name.size - 2};
    if (keel_str_equal(name, flags->wanted)) flags->value = value;
    const keel_dump_flag_t *dump = keel_dump_flag_by_name(name);
    if (!dump || flags->as_given || keel_dump_flag_names_cache(dump))
        return add_flag(flags, name, value);
    keel_dumps_note(&flags->dumps, dump, value);
    return NULL;
}

static keel_status_t split(flags_t *flags, keel_str_t text) {
    for (size_t at = 0;;) {
        while (at < text.size && is_space(text.data[at]))
            ++at;
        if (at == text.size) return NULL;
        // XLA stops at the first word that is not a flag; the rest is kept unchanged.
        if (text.data[at] != '-')
            return add_flag(flags, KEEL_STR("@rest"), (keel_str_t){text.data + at, text.size - at});
        KEEL_TRY(split_one(flags, text, &at));
    }
}

// ---- output ------------------------------------------------------------------------------------

static int by_flag_name(const void *left, const void *right) {
    const flag_t *a = left, *b = right;
    int order = keel_str_compare(a->name, b->name);
    if (order) return order;
    return a->at < b->at ? -1 : a->at > b->at;
}

// A bool or a number replaces an earlier value; lists and maps may accumulate.
static bool is_scalar(keel_str_t value) {
    if (keel_str_is(value, "true") || keel_str_is(value, "false")) return true;
    bool digit = false;
    for (size_t i = 0; i < value.size; ++i) {
        char c = value.data[i];
        bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && c != '.' && !(c == '-' && i == 0)) return false;
        digit |= is_digit;
    }
    return digit;
}

static void put_escaped(keel_buffer_t *out, keel_str_t text) {
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i];
        if (c == '\n' || c == '\\') keel_buffer_byte(out, '\\');
        keel_buffer_byte(out, c == '\n' ? 'n' : (uint8_t)c);
    }
}

static keel_status_t put_cache(const flags_t *flags, keel_buffer_t *out, const flag_t *flag,
                               const keel_dump_flag_t *cache) {
    size_t begin = out->size;
    keel_buffer_str(out, flag->name);
    keel_buffer_byte(out, '=');
    size_t head = out->size;
    KEEL_TRY(keel_dump_flag_put_cache(cache, flag->value, flags->dumps.only_reads, out));
    if (out->size == head)
        out->size = begin;
    else
        keel_buffer_byte(out, '\n');
    return NULL;
}

static keel_status_t put_flag(const flags_t *flags, keel_buffer_t *out, const flag_t *flag) {
    const keel_dump_flag_t *cache = keel_dump_flag_by_name(flag->name);
    if (cache && !flags->as_given) return put_cache(flags, out, flag, cache);
    put_escaped(out, flag->name);
    keel_buffer_byte(out, '=');
    put_escaped(out, flag->value);
    if (!flags->as_given && !is_scalar(flag->value)) KEEL_TRY(keel_key_content(flag->value, out));
    keel_buffer_byte(out, '\n');
    return NULL;
}

static keel_status_t put_all(flags_t *flags, keel_buffer_t *out) {
    if (flags->count) qsort(flags->items, flags->count, sizeof *flags->items, by_flag_name);
    for (uint32_t i = 0, end; i < flags->count; i = end) {
        bool scalars = true;
        for (end = i;
             end < flags->count && keel_str_equal(flags->items[i].name, flags->items[end].name);
             ++end)
            scalars &= is_scalar(flags->items[end].value);
        for (uint32_t k = scalars ? end - 1 : i; k < end; ++k)
            KEEL_TRY(put_flag(flags, out, &flags->items[k]));
    }
    return NULL;
}

// XLA has already read it, so it is empty, and its other end may never return.
static keel_status_t read_once(const char *path) {
    return keel_status_make(KEEL_UNSUPPORTED,
                            "XLA's flags come from %s, which can be read only once; put them into "
                            "a regular file",
                            path);
}

// A text that does not begin with a dash is the name of a file with the flags.
static keel_status_t load_flags(flags_t *flags, keel_str_t *text) {
    size_t begin = 0;
    while (begin < text->size && is_space(text->data[begin]))
        ++begin;
    if (begin == text->size || text->data[begin] == '-') return NULL;
    char *path = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    KEEL_TRY(keel_strdup(*text, &path));
    keel_file_facts_t facts = {.is_file = true};
    keel_status_t status = keel_file_read_with_facts(path, 1 << 20, &bytes, &size, &facts);
    if (keel_status_code(status) == KEEL_INVALID && !facts.is_file && !facts.is_directory) {
        keel_status_ignore(status);
        status = read_once(path);
    }
    keel_free(path);
    keel_code_t code = keel_status_code(status);
    if (code == KEEL_NO_MEMORY || code == KEEL_UNSUPPORTED) return status;
    if (status) {
        keel_status_ignore(status);
        status = add_flag(flags, KEEL_STR("@file"), *text);
        *text = KEEL_STR("");
        return status;
    }
    status = keel_arena_str(&flags->arena, (keel_str_t){(const char *)bytes, size}, text);
    keel_free(bytes);
    return status;
}

static keel_status_t read_flags(flags_t *out, const char *flags) {
    keel_arena_initialize(&out->arena, 0);
    keel_str_t text = keel_str(flags);
    KEEL_TRY(load_flags(out, &text));
    return split(out, text);
}

static void release_flags(flags_t *flags) {
    keel_free(flags->items);
    keel_arena_deinitialize(&flags->arena);
}

static keel_status_t put_flags(const char *flags, bool as_given, keel_buffer_t *out) {
    if (!flags) return NULL;
    flags_t split_flags = {.as_given = as_given};
    keel_status_t status = read_flags(&split_flags, flags);
    if (!status) status = put_all(&split_flags, out);
    if (!status) status = keel_buffer_status(out);
    release_flags(&split_flags);
    return status;
}

keel_status_t keel_key_flags(const char *flags, keel_buffer_t *canonical) {
    return put_flags(flags, false, canonical);
}

keel_status_t keel_key_flags_given(const char *flags, keel_buffer_t *out) {
    return put_flags(flags, true, out);
}

const char *keel_key_dumps_of_flags(const char *flags) {
    if (!flags) return NULL;
    flags_t split_flags = {0};
    keel_status_t status = read_flags(&split_flags, flags);
    keel_status_ignore(status); // then there is no key either
    release_flags(&split_flags);
    return keel_dumps_asked(&split_flags.dumps);
}

keel_status_t keel_key_flag_text(const char *flags, const char *name, keel_buffer_t *out) {
    if (!flags) return NULL;
    flags_t split_flags = {.wanted = keel_str(name)};
    keel_status_t status = read_flags(&split_flags, flags);
    if (!status) keel_buffer_str(out, split_flags.value);
    release_flags(&split_flags);
    return status ? status : keel_buffer_status(out);
}

bool keel_key_flag_number(const char *flags, const char *name, int64_t *out) {
    if (!flags) return false;
    flags_t split_flags = {.wanted = keel_str(name)};
    char text[24] = "", *end = text;
    keel_status_t status = read_flags(&split_flags, flags);
    keel_status_ignore(status);
    keel_str_t value = split_flags.value;
    if (!status && value.size < sizeof text)
        snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(value));
    *out = strtoll(text, &end, 10);
    release_flags(&split_flags);
    return end != text && !*end;
}
