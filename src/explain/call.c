// What differs between two calls of one function for which JAX made the same program (the texts of
// keel_call_read): the first thing that is reason enough to trace again.
#include "explain/call.h"

#include <string.h>

#include "explain/explain.h"

// ---- values ------------------------------------------------------------------------------------

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

// ---- one difference ----------------------------------------------------------------------------

// The surest first; of one kind, the first in the call.
enum { FUNCTION, TREE, PART, STATIC, PASSED, CONFIG, UNCERTAIN, NOTHING };

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

static void compare_objects(found_t *found, const keel_column_t *column) {
    keel_str_t none = KEEL_STR(""), object;
    keel_apart_t apart = keel_column_compare(column->before, column->after, &object);
    bool is_plain =
        !keel_column_has_object(column->before) && !keel_column_has_object(column->after);
    keel_str_t before = is_plain ? column->before : none, after = is_plain ? column->after : none;
    int rank = column->kind == 'p' ? PART : STATIC;
    if (apart == KEEL_EQUAL) return;
    if (column->kind == 'f') {
        keep(found, apart == KEEL_APART ? FUNCTION : UNCERTAIN, KEEL_NOTE_COUNT, none, none, none);
    } else if (apart == KEEL_MAY_EQUAL) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, column->name, none, none);
    } else if (column->kind == 'x') {
        keep(found, TREE, is_plain ? KEEL_NOTE_METADATA : KEEL_NOTE_HELD, column->name, before,
             after);
    } else if (!object.size) {
        keep(found, rank, KEEL_NOTE_STATIC_VALUE, column->name, before, after);
    } else {
        keel_str_t class = class_of(column->after, object.data);
        bool is_first = found->rank > rank;
        keep(found, rank, is_function(class) ? KEEL_NOTE_STATIC_FUNCTION : KEEL_NOTE_STATIC_OBJECT,
             column->name, none, none);
        if (is_first && !is_function(class)) found->change.class = class;
    }
    found->change.is_part = found->rank == PART;
}

// "State" of "State 0x7f00".
static keel_str_t without_object(keel_str_t value) {
    keel_str_t rest = value;
    while (rest.size && !keel_column_begins_object(rest))
        rest = (keel_str_t){rest.data + 1, rest.size - 1};
    return (keel_str_t){value.data, value.size - rest.size};
}

static void compare_places(found_t *found, const keel_column_t *column) {
    bool is_listed = column->was != 'h' && column->kind != 'h';
    bool is_none = keel_str_is(column->before, "None") != keel_str_is(column->after, "None");
    keel_note_t note = KEEL_NOTE_CONTAINER;
    if (!is_listed) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, column->name, KEEL_STR(""), KEEL_STR(""));
        return;
    }
    keel_str_t before = without_object(column->before), after = without_object(column->after);
    if (keel_str_equal(before, after)) {
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, column->name, KEEL_STR(""), KEEL_STR(""));
        return;
    }
    if (is_none)
        note = KEEL_NOTE_OPTIONAL;
    else if (column->was == 'l' && column->kind == 'l')
        note = keel_str_equal(keel_column_strong(column->before), keel_column_strong(column->after))
                   ? KEEL_NOTE_NUMBER
                   : KEEL_NOTE_UNUSED;
    keep(found, TREE, note, column->name, before, after);
}

// An object of JAX's own, a mesh for example, means nothing to a reader.
static void compare_settings(found_t *found, const keel_column_t *column) {
    keel_str_t none = KEEL_STR(""), object;
    keel_apart_t apart = keel_column_compare(column->before, column->after, &object);
    if (apart == KEEL_EQUAL) return;
    if (apart == KEEL_MAY_EQUAL)
        keep(found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, none, none, none);
    else if (keel_column_has_object(column->before) || keel_column_has_object(column->after))
        keep(found, CONFIG, KEEL_NOTE_CONFIG, column->name, none, none);
    else
        keep(found, CONFIG, KEEL_NOTE_CONFIG, column->name, column->before, column->after);
}

static void compare_column(found_t *found, const keel_column_t *column) {
    if (keel_column_is_place(column->kind))
        compare_places(found, column);
    else if (column->kind == 'c')
        compare_settings(found, column);
    else if (!strchr("vai", column->kind)) // JAX does not compare what a function reads
        compare_objects(found, column);
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

// Only one of the two calls has it.
static void meet_alone(found_t *found, const keel_column_t *column, keel_str_t other) {
    bool is_before = column->before.data != NULL;
    keel_str_t value = is_before ? column->before : column->after;
    if (keel_column_is_place(column->kind) && is_hashed(other, column->name)) return;
    keel_str_t absent = keel_column_is_place(column->kind) ? KEEL_STR("absent") : KEEL_STR("unset");
    keel_str_t before = is_before ? value : absent, after = is_before ? absent : value;
    if (keel_column_is_place(column->kind))
        keep(found, TREE, KEEL_NOTE_OPTIONAL, column->name, before, after);
    else if (column->kind == 's' || column->kind == 'b')
        keep(found, PASSED, KEEL_NOTE_PASSING, column->name, KEEL_STR(""), KEEL_STR(""));
    else if (column->kind == 'c' && keel_column_has_object(value))
        keep(found, CONFIG, KEEL_NOTE_CONFIG, column->name, KEEL_STR(""), KEEL_STR(""));
    else if (column->kind == 'c')
        keep(found, CONFIG, KEEL_NOTE_CONFIG, column->name, before, after);
}

static bool has_line(keel_str_t call, char kind) {
    keel_call_line_t line;
    while (keel_call_next(&call, &line))
        if (line.kind == kind) return true;
    return false;
}

static found_t compare_calls(const keel_columns_t *columns, const char *before, const char *after) {
    found_t found = {.rank = NOTHING, .change = {.note = KEEL_NOTE_COUNT}};
    for (uint32_t i = 0; i < columns->count; ++i) {
        const keel_column_t *column = &columns->items[i];
        if (column->before.data && column->after.data)
            compare_column(&found, column);
        else
            meet_alone(&found, column, keel_str(column->before.data ? after : before));
    }
    // Neither keys nor what containers hold is hashed, so equal hashes prove nothing.
    if (has_line(keel_str(after), 'h'))
        keep(&found, UNCERTAIN, KEEL_NOTE_SAME_FUNCTION, KEEL_STR(""), KEEL_STR(""), KEEL_STR(""));
    return found;
}

static keel_str_t function_of(const char *call) {
    keel_str_t rest = keel_str(call ? call : "");
    keel_call_line_t line;
    while (keel_call_next(&rest, &line))
        if (line.kind == 'f') return line.value;
    return KEEL_STR("");
}

bool keel_explain_are_two_functions(const char *before, const char *after) {
    keel_str_t was = function_of(before), is = function_of(after), object;
    return was.size && is.size && keel_column_compare(was, is, &object) == KEEL_APART;
}

// ---- together ----------------------------------------------------------------------------------

static bool is_made_once(keel_str_t call) {
    return keel_str_starts(call, KEEL_STR("f \tone "));
}

keel_status_t keel_call_compare(const char *const *earlier, uint32_t count, const char *call,
                                keel_arena_t *arena, keel_call_change_t *out, bool *out_is_known) {
    found_t best = {.rank = NOTHING};
    *out_is_known = count && call && *call;
    if (!*out_is_known) return NULL;
    // The newest of those that are nearest: a call like it may have come before the last one.
    for (uint32_t i = count; i > 0; --i) {
        keel_columns_t columns;
        KEEL_TRY(keel_columns_find(earlier[i - 1], call, arena, &columns));
        found_t found = compare_calls(&columns, earlier[i - 1], call);
        if (i == count || found.count < best.count) best = found;
    }
    *out = best.change;
    // The address of a function that was made for one call may be that of the next one too.
    if (best.rank == NOTHING && is_made_once(keel_str(call)))
        out->note =
            count == 1 && has_line(keel_str(call), 'i') ? KEEL_NOTE_IMPORTED : KEEL_NOTE_CLEARED;
    else if (best.rank == NOTHING)
        out->note = KEEL_NOTE_COUNT;
    return NULL;
}
