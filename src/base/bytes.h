// A span of bytes that someone else owns. Text is a span too: it may lack a final zero byte and may
// not be UTF-8.
#ifndef KEEL_BASE_BYTES_H_
#define KEEL_BASE_BYTES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// An absent index, in every table.
#define KEEL_NONE UINT32_MAX

typedef struct keel_bytes_t {
    const uint8_t *data;
    size_t size;
} keel_bytes_t;

typedef struct keel_str_t {
    const char *data;
    size_t size;
} keel_str_t;

#define KEEL_STR(literal) ((keel_str_t){(literal), sizeof(literal) - 1})
// For printf's "%.*s".
#define KEEL_STR_ARGS(s) (int)((s).size > 4096 ? 4096 : (s).size), (s).data ? (s).data : ""

static inline keel_bytes_t keel_bytes(const void *data, size_t size) {
    return (keel_bytes_t){(const uint8_t *)data, size};
}

static inline keel_str_t keel_str(const char *text) {
    return (keel_str_t){text, text ? strlen(text) : 0};
}

static inline keel_bytes_t keel_str_bytes(keel_str_t s) {
    return (keel_bytes_t){(const uint8_t *)s.data, s.size};
}

static inline keel_str_t keel_bytes_str(keel_bytes_t b) {
    return (keel_str_t){(const char *)b.data, b.size};
}

static inline bool keel_bytes_equal(keel_bytes_t a, keel_bytes_t b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool keel_str_equal(keel_str_t a, keel_str_t b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool keel_str_is(keel_str_t a, const char *text) {
    return keel_str_equal(a, keel_str(text));
}

static inline bool keel_str_is_among(keel_str_t a, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if ((!a.size || *a.data == *list[i]) && keel_str_is(a, list[i])) return true;
    return false;
}

// The list ends with NULL.
static inline bool keel_str_is_one_of(keel_str_t a, const char *const *list) {
    for (; *list; ++list)
        if (keel_str_is(a, *list)) return true;
    return false;
}

static inline bool keel_str_starts(keel_str_t a, keel_str_t prefix) {
    return a.size >= prefix.size &&
           (prefix.size == 0 || memcmp(a.data, prefix.data, prefix.size) == 0);
}

static inline bool keel_str_ends(keel_str_t a, keel_str_t end) {
    return a.size >= end.size &&
           (end.size == 0 || memcmp(a.data + a.size - end.size, end.data, end.size) == 0);
}

static inline bool keel_is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A character that begins a name in a Python source, or is in one. What is not ASCII is taken for a
// letter.
static inline bool keel_begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static inline bool keel_is_of_name(char c) {
    return keel_begins_name(c) || keel_is_digit(c);
}

// Takes the next line, without its newline, off `rest`; false at the end.
static inline bool keel_str_line(keel_str_t *rest, keel_str_t *out) {
    if (!rest->size) return false;
    const char *end = (const char *)memchr(rest->data, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->data) : rest->size, taken = size + (end ? 1 : 0);
    *out = (keel_str_t){rest->data, size};
    *rest = (keel_str_t){rest->data + taken, rest->size - taken};
    return true;
}

bool keel_str_contains(keel_str_t text, const char *part);

// A name without the separator and the digits that end it: "helper_0" without '_' is "helper". A
// name that begins with the separator, or does not end like that, is unchanged.
keel_str_t keel_str_without_number(keel_str_t name, char separator);

// Orders by bytes, a prefix first: -1, 0 or 1.
static inline int keel_str_compare(keel_str_t a, keel_str_t b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    if (order) return order < 0 ? -1 : 1;
    return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

#endif // KEEL_BASE_BYTES_H_
