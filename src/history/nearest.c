#include <string.h>

#include "history/internal.h"

// In order of preference.
typedef enum kin_t { SAME_PROGRAM, OURS, EARLIER, LOOKALIKE, STRANGER } kin_t;

typedef struct candidate_t {
    const record_t *record;
    kin_t kin;
    double alike;
    unsigned moved;
    bool in_place; // the function is on the same line
} candidate_t;

// The query.
typedef struct asker_t {
    const keel_history_query_t *query;
    uint64_t who, function;
    bool is_traced;
    const value_t *program; // that records with the same program have; NULL: none has
} asker_t;

// A component that is unknown on either side is not a difference.
static bool has_moved(const keel_key_t *key, const record_t *record, keel_component_t component) {
    static const keel_digest_t unknown;
    const value_t *value = record->values[component];
    return value && !keel_digest_equal(&key->components[component], &unknown) &&
           !keel_digest_equal(&key->components[component], &value->digest);
}

static unsigned moved_components(const keel_key_t *key, const record_t *record) {
    unsigned moved = 0;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        moved += i != KEEL_COMPONENT_PROGRAM && has_moved(key, record, (keel_component_t)i);
    return moved;
}

static bool is_same_program(const asker_t *asker, const record_t *record) {
    return asker->program && record->values[KEEL_COMPONENT_PROGRAM] == asker->program;
}

static bool has_key(const keel_history_query_t *query, const record_t *record) {
    return keel_digest_equal(&query->key->digest, &record->key);
}

// history.h says which records of other runs are compared with.
static bool is_comparable(const keel_history_query_t *query, const record_t *record) {
    static const keel_component_t backend[] = {KEEL_COMPONENT_PLATFORM, KEEL_COMPONENT_PLUGIN_BUILD,
                                               KEEL_COMPONENT_TOPOLOGY};
    bool is_rehearsal = query->target && *query->target, was_rehearsal = *record->target;
    if (!is_rehearsal && !was_rehearsal) return true;
    if (has_moved(query->key, record, KEEL_COMPONENT_DEVICE_KINDS)) return false;
    if (!is_rehearsal) return record->seconds > 0;
    for (size_t i = 0; i < sizeof backend / sizeof *backend; ++i)
        if (has_moved(query->key, record, backend[i])) return false;
    return !has_key(query, record);
}

// ---- lookalikes --------------------------------------------------------------------------------

// The functions that this process has shown so far. Hash collisions add a few too many: then a
// lookalike is missed.
typedef struct seen_t {
    uint64_t bits[64];
} seen_t;

static void note_seen(seen_t *seen, uint64_t function) {
    seen->bits[function / 64 % 64] |= (uint64_t)1 << function % 64;
}

static bool has(const seen_t *seen, uint64_t function) {
    return seen->bits[function / 64 % 64] >> function % 64 & 1;
}

// Also tells whether an earlier run had the very program, and all that it did with it was a
// rehearsal, or this is one. Then nothing is to be said about what else it had.
static bool note_ours(const table_t *table, const keel_history_query_t *query, seen_t *out) {
    bool is_known = false, is_compared = false;
    for (const record_t *record = table->newest; record; record = record->older) {
        if (record->is_ours)
            note_seen(out, record->function);
        else if (!record->is_of_now && has_key(query, record))
            *(is_comparable(query, record) ? &is_compared : &is_known) = true;
    }
    return is_known && !is_compared;
}

// Within one process functions are not renamed, unless the client counts them up; and a function
// that this run has shown under its own name was not renamed since the last run.
static bool may_be_renamed(const asker_t *asker, const record_t *record, const seen_t *seen) {
    if (record->is_ours) return !record->is_traced || !asker->is_traced;
    return !has(seen, record->function);
}

// A function under another name, or in another place. Programs of a few operations look alike by
// chance.
static bool is_lookalike(const asker_t *asker, const record_t *record, double alike) {
    const keel_sketch_t *sketch = asker->query->sketch;
    enum { FEW = 8, MANY = 24 };
    uint32_t a = sketch->operations, b = record->sketch.operations, fewer = a < b ? a : b;
    bool same_names = sketch->names == record->sketch.names;
    if (record->is_ours) return fewer >= MANY && alike >= 0.9 && same_names;
    if (fewer < FEW) return alike > 0.949;
    if (fewer < MANY) return alike >= (same_names ? 0.75 : 0.9);
    return alike >= (same_names ? 0.6 : 0.75);
}

// ---- ranking -----------------------------------------------------------------------------------

// Within a process a function stays on its line. Since an earlier run it may have moved: which one
// of that name it was is decided by similarity.
static candidate_t judge(const record_t *record, const asker_t *asker, const seen_t *seen) {
    const keel_history_query_t *query = asker->query;
    candidate_t c = {.record = record, .kin = STRANGER, .in_place = record->who == asker->who};
    if (is_same_program(asker, record))
        c.kin = SAME_PROGRAM;
    else if (record->is_ours && c.in_place)
        c.kin = OURS;
    else if (!record->is_ours && record->function == asker->function)
        c.kin = EARLIER;
    if (c.kin == STRANGER && !may_be_renamed(asker, record, seen)) return c;
    c.alike = keel_sketch_alike(query->sketch, &record->sketch);
    if (c.kin == STRANGER && is_lookalike(asker, record, c.alike)) c.kin = LOOKALIKE;
    if (c.kin != STRANGER) c.moved = moved_components(query->key, record);
    return c;
}

// Identical programs differ only in their names, and that does not make one nearer. The line tells
// the functions of one run apart; of two runs the newer is nearer, as edits move lines.
static bool is_nearer(const candidate_t *a, const candidate_t *b) {
    if (a->kin != b->kin) return a->kin < b->kin;
    if (a->kin != SAME_PROGRAM && a->alike != b->alike) return a->alike > b->alike;
    if (a->moved != b->moved) return a->moved < b->moved;
    return a->kin == EARLIER && a->in_place && !b->in_place &&
           strcmp(a->record->run, b->record->run) == 0;
}

// The nearest records, in order; among equals the newer first.
typedef struct best_t {
    candidate_t list[KEEL_HISTORY_CANDIDATES];
    size_t count;
} best_t;

static void enter_candidate(best_t *best, const candidate_t *c) {
    size_t at = best->count;
    while (at > 0 && is_nearer(c, &best->list[at - 1]))
        --at;
    if (at == KEEL_HISTORY_CANDIDATES) return;
    if (best->count < KEEL_HISTORY_CANDIDATES) ++best->count;
    memmove(&best->list[at + 1], &best->list[at], (best->count - at - 1) * sizeof *c);
    best->list[at] = *c;
}

static bool is_of_one_kind(const candidate_t *nearest, const candidate_t *next) {
    return next->kin == nearest->kin &&
           (next->kin == OURS || strcmp(next->record->run, nearest->record->run) == 0);
}

// The nearest; for this process and function also the most recent; for any function the next
// nearest of that process or run. Only the comparison shows which of them explains most: several
// things may have changed between them.
static size_t choose_nearest(const best_t *best, const record_t *newest, const record_t **out) {
    size_t count = 0;
    if (!best->count) return 0;
    out[count++] = best->list[0].record;
    bool is_ours = best->list[0].kin == OURS;
    if (!is_ours && best->list[0].kin != EARLIER) return count;
    if (is_ours && newest != out[0]) out[count++] = newest;
    for (size_t i = 1; i < best->count && count < KEEL_HISTORY_CANDIDATES; ++i) {
        const record_t *next = best->list[i].record;
        if (is_of_one_kind(&best->list[0], &best->list[i]) && !(is_ours && next == newest))
            out[count++] = next;
    }
    return count;
}

size_t nearest_records(const table_t *table, const keel_history_query_t *query,
                       const record_t **out) {
    const asker_t asker = {.query = query,
                           .who = who_of(query->name, query->origin),
                           .function = function_of(query->name, query->origin),
                           .is_traced = names_function(query->origin),
                           .program = table_find_value(
                               table, value_id(KEEL_COMPONENT_PROGRAM,
                                               &query->key->components[KEEL_COMPONENT_PROGRAM]))};
    const record_t *newest = NULL;
    best_t best = {.count = 0};
    seen_t seen = {0};
    bool only_ours = false, is_noted = false;
    for (const record_t *record = table->newest; record; record = record->older) {
        // What this process has matters to the records of others only, and often there are none.
        if (!record->is_ours && !is_noted) only_ours = note_ours(table, query, &seen);
        is_noted = is_noted || !record->is_ours;
        if (record->is_of_now && !record->is_ours) continue;
        if (query->is_refused && has_key(query, record)) continue;
        if (!record->is_ours && (only_ours || !is_comparable(query, record))) continue;
        candidate_t c = judge(record, &asker, &seen);
        if (c.kin == OURS && !newest) newest = record;
        if (c.kin != STRANGER) enter_candidate(&best, &c);
    }
    return choose_nearest(&best, newest, out);
}
