#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool continues(keel_str_t text, size_t at, size_t count) {
    if (text.size - at < count + 1) return false;
    for (size_t i = 1; i <= count; ++i)
        if (((unsigned char)text.data[at + i] & 0xC0) != 0x80) return false;
    return true;
}

size_t keel_utf8_length(keel_str_t text, size_t at) {
    unsigned char c = (unsigned char)text.data[at];
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) return continues(text, at, 1) ? 2 : 0;
    if (c >= 0xE0 && c <= 0xEF) {
        if (!continues(text, at, 2)) return 0;
        unsigned char d = (unsigned char)text.data[at + 1];
        return (c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) ? 0 : 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        if (!continues(text, at, 3)) return 0;
        unsigned char d = (unsigned char)text.data[at + 1];
        return (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F) ? 0 : 4;
    }
    return 0;
}

bool keel_utf8_shows(keel_str_t text, size_t at, size_t *out_length) {
    const uint8_t *c = (const uint8_t *)text.data + at;
    size_t length = keel_utf8_length(text, at);
    *out_length = length ? length : 1;
    if (length == 1) return c[0] >= 0x20 && c[0] != 0x7f;
    if (length == 2) return !(c[0] == 0xc2 && c[1] < 0xa0) && !(c[0] == 0xd8 && c[1] == 0x9c);
    if (length != 3 || c[0] != 0xe2) return length;
    bool is_mark = c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae));
    return !is_mark && !(c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

size_t keel_utf8_mask(char *text, size_t size) {
    const keel_str_t whole = {text, size};
    size_t kept = 0, length;
    for (size_t at = 0; at < size; at += length) {
        bool shows = keel_utf8_shows(whole, at, &length);
        if (shows)
            memmove(text + kept, text + at, length);
        else
            text[kept] = '?';
        kept += shows ? length : 1;
    }
    return kept;
}

bool keel_parse_size(const char *text, uint64_t *out) {
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno) return false;
    static const char units[] = "kmgt";
    unsigned shift = 0;
    if (*end) {
        const char *unit = strchr(units, tolower((unsigned char)*end));
        if (!unit) return false;
        shift = 10 * (unsigned)(unit - units + 1);
        ++end;
        if (tolower((unsigned char)*end) == 'i') ++end;
        if (tolower((unsigned char)*end) == 'b') ++end;
    }
    if (*end || value > UINT64_MAX >> shift) return false;
    *out = value << shift;
    return true;
}

bool keel_parse_age(const char *text, uint64_t *out) {
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    *out = 0;
    if (errno || (value && !*end) || (*end && end[1])) return false;
    for (size_t i = 0; *end && i < sizeof units / sizeof *units; ++i) {
        if (tolower((unsigned char)*end) != units[i].unit) continue;
        *out = value * units[i].seconds;
        return value <= INT64_MAX / units[i].seconds;
    }
    return !*end;
}

void keel_format_size(uint64_t bytes, char out[16]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        ++unit;
    }
    snprintf(out, 16, value < 99.95 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void keel_format_seconds(double seconds, char out[24]) {
    if (seconds < 0) seconds = 0;
    if (seconds >= 119.95) {
        unsigned whole = seconds > 4e9 ? 4000000000u : (unsigned)(seconds + 0.5);
        snprintf(out, 24, "%u min %u s", whole / 60, whole % 60);
    } else if (seconds >= 0.9995) {
        snprintf(out, 24, "%.1f s", seconds);
    } else if (seconds >= 0.00995) {
        snprintf(out, 24, "%.0f ms", seconds * 1e3);
    } else {
        snprintf(out, 24, "%.1f ms", seconds * 1e3);
    }
}

void keel_hex(const uint8_t *data, size_t size, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; ++i) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * size] = 0;
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool keel_unhex(keel_str_t text, uint8_t *out, size_t size) {
    if (text.size != 2 * size) return false;
    for (size_t i = 0; i < size; ++i) {
        int high = digit(text.data[2 * i]), low = digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
