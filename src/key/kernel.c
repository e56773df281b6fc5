// The configuration of a Mosaic kernel on TPU is JSON:
//   {"custom_call_config": {"body": "...", ..., "debug_locations": "..."}, ...}
// debug_locations contains source paths and is read only by debuggers. It is cut out as text, so
// that no other byte changes; JSON in any other form is kept unchanged.
#include "key/form.h"

typedef struct json_scan_t {
    keel_str_t text;
    size_t at;
    unsigned depth;
    bool bad;
} json_scan_t;

static void skip_space(json_scan_t *scan) {
    while (scan->at < scan->text.size && memchr(" \t\r\n", scan->text.data[scan->at], 4))
        ++scan->at;
}

static bool at_byte(const json_scan_t *scan, char byte) {
    return scan->at < scan->text.size && scan->text.data[scan->at] == byte;
}

// Skips a string; returns the text between its quotes.
static keel_str_t take_string(json_scan_t *scan) {
    size_t begin = ++scan->at;
    while (scan->at < scan->text.size && scan->text.data[scan->at] != '"')
        scan->at += scan->text.data[scan->at] == '\\' ? 2 : 1;
    if (scan->at >= scan->text.size) {
        scan->bad = true;
        scan->at = scan->text.size;
        return KEEL_STR("");
    }
    return (keel_str_t){scan->text.data + begin, scan->at++ - begin};
}

// Widens [*from, *to) by the comma that belongs to a member of an object.
static bool take_comma(keel_str_t text, size_t *from, size_t *to) {
    size_t before = *from, after = *to;
    while (before && memchr(" \t\r\n", text.data[before - 1], 4))
        --before;
    if (before && text.data[before - 1] == ',') {
        *from = before - 1;
        return true;
    }
    while (after < text.size && memchr(" \t\r\n", text.data[after], 4))
        ++after;
    if (after < text.size && text.data[after] == ',') *to = after + 1;
    return after < text.size && (text.data[after] == ',' || text.data[after] == '}');
}

// At a member's colon in the outermost object: whether its value begins custom_call_config.
static bool begins_config(const json_scan_t *scan, keel_str_t name) {
    json_scan_t value = *scan;
    if (scan->depth != 1 || !at_byte(scan, ':') || !keel_str_is(name, "custom_call_config"))
        return false;
    ++value.at;
    skip_space(&value);
    return at_byte(&value, '{');
}

static bool find_debug(keel_str_t json, size_t *from, size_t *to) {
    json_scan_t scan = {.text = json};
    bool found = false, in_config = false;
    skip_space(&scan);
    if (!at_byte(&scan, '{')) return false;
    while (scan.at < json.size && !scan.bad) {
        char byte = json.data[scan.at];
        if (byte == '{' || byte == '[') ++scan.depth;
        if ((byte == '}' || byte == ']') && scan.depth-- == 0) return false;
        if (byte != '"') {
            ++scan.at;
            continue;
        }
        size_t begin = scan.at;
        keel_str_t name = take_string(&scan);
        skip_space(&scan);
        if (scan.depth == 1) in_config = begins_config(&scan, name);
        if (!in_config || scan.depth != 2 || !at_byte(&scan, ':') ||
            !keel_str_is(name, "debug_locations"))
            continue;
        ++scan.at;
        skip_space(&scan);
        if (found || !at_byte(&scan, '"')) return false;
        take_string(&scan);
        *from = begin;
        *to = scan.at;
        found = take_comma(json, from, to);
    }
    return found && !scan.bad && scan.depth == 0;
}

void keel_form_kernel(keel_canon_t *canon, keel_str_t json) {
    size_t from = 0, to = 0;
    if (!find_debug(json, &from, &to)) {
        keel_form_str(canon, json);
        return;
    }
    keel_str_t rest = {json.data + to, json.size - to};
    size_t size = from + rest.size;
    if (size <= KEEL_CANON_INLINE) {
        keel_form_number(canon, size << 1);
        keel_form_bytes(canon, json.data, from);
        keel_form_bytes(canon, rest.data, rest.size);
        return;
    }
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, json.data, from);
    keel_hasher_update(&hasher, rest.data, rest.size);
    keel_digest_t digest = keel_hasher_finish(&hasher);
    keel_form_digest(canon, &digest);
}
