// What differs between two calls of one function for which JAX made the same program (the texts of
// keel_call_read): the first thing that is reason enough to trace again.
#include "explain/call.h"

#include <string.h>

// ---- lines -------------------------------------------------------------------------------------

bool keel_call_next(keel_str_t *inout, keel_call_line_t *out) {
    const char *tab = inout->size > 2 ? memchr(inout->data, '\t', inout->size) : NULL;
    const char *end = inout->data + inout->size;
    const char *stop = tab ? memchr(tab, '\n', (size_t)(end - tab)) : NULL;
    if (!stop || tab < inout->data + 2) return false;
    out->kind = *inout->data;
    out->name = (keel_str_t){inout->data + 2, (size_t)(tab - inout->data) - 2};
    out->value = (keel_str_t){tab + 1, (size_t)(stop - tab) - 1};
    *inout = (keel_str_t){stop + 1, (size_t)(end - stop) - 1};
    return true;
}

// A place in the arguments is a container, an array, or what was too large to be listed.
static bool is_place(char kind) {
    return kind == 'n' || kind == 'l' || kind == 'h';
}

static bool find_line(keel_str_t call, const keel_call_line_t *like, keel_call_line_t *out) {
    while (keel_call_next(&call, out)) {
        bool is_kind = out->kind == like->kind || (is_place(out->kind) && is_place(like->kind));
        if (is_kind && keel_str_equal(out->name, like->name)) return true;
    }
    return false;
}

// ---- values ------------------------------------------------------------------------------------

static bool begins_object(keel_str_t text) {
    return keel_str_starts(text, KEEL_STR(" 0x")) || keel_str_starts(text, KEEL_STR(" ~0x"));
}

static void skip(keel_str_t *text) {
    ++text->data;
    --text->size;
}

static bool is_digit_of_object(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == 'x' || c == '~' || c == ' ';
}

// The identity at the front.
static keel_str_t take_object(keel_str_t *text) {
    keel_str_t object = {text->data, 0};
    while (text->size && is_digit_of_object(*text->data)) {
        ++object.size;
        skip(text);
    }
    return object;
}

static bool has_object(keel_str_t text) {
    for (; text.size; skip(&text))
        if (begins_object(text)) return true;
    return false;
}

// Where two values differ. An object of a class with its own __eq__ may equal another one, so it
// only makes the answer uncertain.
typedef enum apart_t { EQUAL, MAY_EQUAL, APART } apart_t;

// *out_object: where an object without __eq__ stands in `b`; empty if they differ in something
// else.
static apart_t compare_values(keel_str_t a, keel_str_t b, keel_str_t *out_object) {
    apart_t apart = EQUAL;
    *out_object = KEEL_STR("");
    while (a.size && b.size) {
        if (begins_object(a) && begins_object(b)) {
            keel_str_t x = take_object(&a), y = take_object(&b);
            if (keel_str_equal(x, y)) continue;
            if (y.data[1] == '~') {
                apart = MAY_EQUAL;
                continue;
            }
            *out_object = y;
            return APART;
        }
        if (*a.data != *b.data) return APART;
        skip(&a);
        skip(&b);
    }
    return a.size || b.size ? APART : apart;
}

// The class before an object's identity.
static keel_str_t class_of(keel_str_t value, const char *object) {
    const char *begin = object;
    while (begin > value.data && begin[-1] != '(' && begin[-1] != ' ')
        --begin;
    return (keel_str_t){begin, (size_t)(object - begin)};
}

static bool is_function(keel_str_t class) {
    return keel_str_is(class, "function") || keel_str_is(class, "partial") ||
           keel_str_is(class, "PjitFunction") || keel_str_is(class, "builtin_function_or_method");
}

// "i32[] weak" is a Python number, or was computed from numbers alone.
static keel_str_t strong(keel_str_t type) {
    const keel_str_t weak = KEEL_STR(" weak");
    bool is_weak = type.size > weak.size &&
                   memcmp(type.data + type.size - weak.size, weak.data, weak.size) == 0;
    return is_weak ? (keel_str_t){type.data, type.size - weak.size} : type;
}

// ---- one difference ----------------------------------------------------------------------------

// The surest first; of one kind, the first in the call.
enum { FUNCTION, TREE, STATIC, PASSED, CONFIG, UNCERTAIN, NOTHING };

typedef struct found_t {
    int rank;
    unsigned count;
    keel_call_change_t change;
} found_t;

static void keep(found_t *found, int rank, keel_note_t note, keel_str_t subject, keel_str_t before,
                 keel_str_t after) {
    ++found->count;
    if (rank >= found->rank) return;
    found->rank = rank;
    found->change = (keel_call_change_t){
        .note = note, .subject = subject, .before = before, .after = after, .class = KEEL_STR("")};
}

static void compare_objects(found_t *found, const keel_call_line_t *a, const keel_call_line_t *b) {
    keel_str_t none = KEEL_STR(""), object;
    apart_t apart = compare_values(a->value, b->value, &object);
    if (apart == EQUAL) return;
    if (b->kind == 'f') {
        keep(found, apart == APART ? FUNCTION : UNCERTAIN, KEEL_NOTE_COUNT, none, none, none);
    } else if (apart == MAY_EQUAL) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, b->name, none, none);
    } else if (b->kind == 'x') {
        keep(found, TREE, KEEL_NOTE_HELD, b->name, none, none);
    } else if (!object.size) {
        bool is_plain = !has_object(a->value) && !has_object(b->value);
        keep(found, STATIC, KEEL_NOTE_STATIC_VALUE, b->name, is_plain ? a->value : none,
             is_plain ? b->value : none);
    } else {
        keel_str_t class = class_of(b->value, object.data);
        bool is_first = found->rank > STATIC;
        keep(found, STATIC,
             is_function(class) ? KEEL_NOTE_STATIC_FUNCTION : KEEL_NOTE_STATIC_OBJECT, b->name,
             none, none);
        if (is_first && !is_function(class)) found->change.class = class;
    }
}

// "State" of "State 0x7f00".
static keel_str_t without_object(keel_str_t value) {
    keel_str_t rest = value;
    while (rest.size && !begins_object(rest))
        skip(&rest);
    return (keel_str_t){value.data, value.size - rest.size};
}

static void compare_places(found_t *found, const keel_call_line_t *a, const keel_call_line_t *b) {
    bool is_listed = a->kind != 'h' && b->kind != 'h';
    bool is_none = keel_str_is(a->value, "None") != keel_str_is(b->value, "None");
    keel_note_t note = KEEL_NOTE_CONTAINER;
    bool is_equal = keel_str_equal(a->value, b->value);
    // Neither keys nor what containers hold is hashed, so equal hashes prove nothing.
    if (!is_listed) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, is_equal ? KEEL_STR("") : b->name,
             KEEL_STR(""), KEEL_STR(""));
        return;
    }
    if (is_equal) return;
    keel_str_t before = without_object(a->value), after = without_object(b->value);
    if (keel_str_equal(before, after)) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, b->name, KEEL_STR(""), KEEL_STR(""));
        return;
    }
    if (is_none)
        note = KEEL_NOTE_OPTIONAL;
    else if (a->kind == 'l' && b->kind == 'l')
        note = keel_str_equal(strong(a->value), strong(b->value)) ? KEEL_NOTE_NUMBER
                                                                  : KEEL_NOTE_UNUSED;
    keep(found, TREE, note, b->name, before, after);
}

// An object of JAX's own, a mesh for example, means nothing to a reader.
static void compare_settings(found_t *found, const keel_call_line_t *a, const keel_call_line_t *b) {
    keel_str_t none = KEEL_STR(""), object;
    apart_t apart = compare_values(a->value, b->value, &object);
    if (apart == EQUAL) return;
    if (apart == MAY_EQUAL)
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, none, none, none);
    else if (has_object(a->value) || has_object(b->value))
        keep(found, CONFIG, KEEL_NOTE_CONFIG, b->name, none, none);
    else
        keep(found, CONFIG, KEEL_NOTE_CONFIG, b->name, a->value, b->value);
}

static void compare_lines(found_t *found, const keel_call_line_t *a, const keel_call_line_t *b) {
    if (is_place(b->kind))
        compare_places(found, a, b);
    else if (b->kind != 'c')
        compare_objects(found, a, b);
    else
        compare_settings(found, a, b);
}

// Whether the other call has a container of this place as a hash.
static bool is_hashed(keel_str_t call, keel_str_t place) {
    keel_call_line_t line;
    while (keel_call_next(&call, &line))
        if (line.kind == 'h' && line.name.size < place.size && keel_str_starts(place, line.name) &&
            strchr("[.", place.data[line.name.size]))
            return true;
    return false;
}

static void meet_alone(found_t *found, const keel_call_line_t *one, keel_str_t other,
                       bool is_before) {
    if (is_place(one->kind) && is_hashed(other, one->name)) return;
    keel_str_t absent = is_place(one->kind) ? KEEL_STR("absent") : KEEL_STR("unset");
    keel_str_t before = is_before ? one->value : absent, after = is_before ? absent : one->value;
    if (is_place(one->kind))
        keep(found, TREE, KEEL_NOTE_OPTIONAL, one->name, before, after);
    else if (one->kind == 's' || one->kind == 'b')
        keep(found, PASSED, KEEL_NOTE_PASSING, one->name, KEEL_STR(""), KEEL_STR(""));
    else if (one->kind == 'c' && has_object(one->value))
        keep(found, CONFIG, KEEL_NOTE_CONFIG, one->name, KEEL_STR(""), KEEL_STR(""));
    else if (one->kind == 'c')
        keep(found, CONFIG, KEEL_NOTE_CONFIG, one->name, before, after);
}

static found_t compare_calls(keel_str_t before, keel_str_t after) {
    found_t found = {.rank = NOTHING, .change = {.note = KEEL_NOTE_COUNT}};
    keel_call_line_t line, other;
    for (keel_str_t rest = after; keel_call_next(&rest, &line);)
        if (find_line(before, &line, &other))
            compare_lines(&found, &other, &line);
        else
            meet_alone(&found, &line, before, false);
    for (keel_str_t rest = before; keel_call_next(&rest, &line);)
        if (!find_line(after, &line, &other)) meet_alone(&found, &line, after, true);
    return found;
}

// ---- together ----------------------------------------------------------------------------------

static bool is_made_once(keel_str_t call) {
    return keel_str_starts(call, KEEL_STR("f \tone "));
}

bool keel_call_compare(const char *const *earlier, uint32_t count, const char *call,
                       keel_call_change_t *out) {
    found_t best = {.rank = NOTHING};
    bool any = false;
    if (!call || !*call) return false;
    // The newest of those that are nearest: a call like it may have come before the last one.
    for (uint32_t i = count; i > 0; --i) {
        found_t found = compare_calls(keel_str(earlier[i - 1]), keel_str(call));
        if (!any || found.count < best.count) best = found;
        any = true;
    }
    *out = best.change;
    // The address of a function that was made for one call may be that of the next one too.
    if (any && best.rank == NOTHING)
        out->note = is_made_once(keel_str(call)) ? KEEL_NOTE_CLEARED : KEEL_NOTE_COUNT;
    return any;
}
