// Lists of arguments from which some were taken, or to which some were added, before the others: an
// optimizer's leaves once a layer is frozen, the weights of a model with another layer in front.
// What is behind has another index then, and is the same. Paired by index, each would seem to have
// changed its shape.
#include <stdlib.h>
#include <string.h>

#include "explain/diff.h"

enum { ITEMS = 256, LISTS = 64, ARGUMENTS = 4096, DIGITS = 6 };

typedef struct list_t {
    keel_str_t stem; // "state[0]" of "state[0][3].bias"
    uint32_t counts[2];
    uint64_t items[2][ITEMS]; // what each holds: the rest of the names, and types
} list_t;

// The next index in a name from *inout on: "[3]". False if there is none.
static bool next_index(keel_str_t name, size_t *inout, size_t *out_stem, uint32_t *out_index) {
    for (size_t at = *inout; at < name.size; ++at) {
        if (name.data[at] != '[') continue;
        size_t digit = at + 1;
        uint32_t index = 0;
        for (; digit < name.size && digit - at <= DIGITS && name.data[digit] >= '0' &&
               name.data[digit] <= '9';
             ++digit)
            index = index * 10 + (uint32_t)(name.data[digit] - '0');
        if (digit == at + 1 || digit == name.size || name.data[digit] != ']') continue;
        *out_stem = at;
        *out_index = index;
        *inout = digit + 1;
        return true;
    }
    return false;
}

// The index that a name has in the list, and where its rest begins. False if it is not in it.
static bool index_in(keel_str_t stem, keel_str_t name, uint32_t *out_index, size_t *out_rest) {
    size_t at = stem.size, begin;
    return name.size > stem.size && memcmp(name.data, stem.data, stem.size) == 0 &&
           next_index(name, &at, &begin, out_index) && begin == stem.size && (*out_rest = at, true);
}

static bool read_side(keel_graph_t *graph, const keel_argument_t *arguments, uint32_t count,
                      unsigned side, list_t *list) {
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t index;
        size_t rest;
        keel_str_t name = arguments[i].name;
        if (!index_in(list->stem, name, &index, &rest)) continue;
        if (index >= ITEMS) return false;
        if (index >= list->counts[side]) list->counts[side] = index + 1;
        list->items[side][index] +=
            keel_graph_join(keel_quick_hash(keel_bytes(name.data + rest, name.size - rest)),
                            keel_graph_type_hash(graph, arguments[i].type));
    }
    return true;
}

// Whether one of the two lists is the other without a run of items that is not at its end.
// *out_from: where that run begins.
static bool is_cut(const list_t *list, uint32_t *out_from) {
    bool is_longer_after = list->counts[1] > list->counts[0];
    const uint64_t *shorter = list->items[!is_longer_after], *longer = list->items[is_longer_after];
    uint32_t count = list->counts[!is_longer_after];
    uint32_t cut = list->counts[is_longer_after] - count, from = 0;
    while (from < count && shorter[from] == longer[from])
        ++from;
    for (uint32_t i = from; i < count; ++i)
        if (shorter[i] != longer[i + cut]) return false;
    *out_from = from;
    return from < count;
}

static keel_argument_t *find_named(const keel_diff_t *diff, keel_str_t stem, uint32_t index,
                                   keel_str_t rest) {
    for (uint32_t j = 0; j < diff->after_count; ++j) {
        uint32_t other;
        size_t at;
        keel_str_t name = diff->arguments_after[j].name;
        if (index_in(stem, name, &other, &at) && other == index &&
            keel_str_equal((keel_str_t){name.data + at, name.size - at}, rest))
            return &diff->arguments_after[j];
    }
    return NULL;
}

static void pair_items(keel_diff_t *diff, const list_t *list, uint32_t from) {
    int64_t shift = (int64_t)list->counts[1] - list->counts[0];
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        keel_argument_t *then = &diff->arguments_before[i];
        uint32_t index;
        size_t at;
        if (!index_in(list->stem, then->name, &index, &at)) continue;
        int64_t now_at = index < from ? index : (int64_t)index + shift;
        if (now_at < from && index >= from) continue; // it was taken out
        keel_str_t rest = {then->name.data + at, then->name.size - at};
        keel_argument_t *now = find_named(diff, list->stem, (uint32_t)now_at, rest);
        if (!now || now->counterpart != KEEL_NONE || then->counterpart != KEEL_NONE) continue;
        now->counterpart = i;
        then->counterpart = (uint32_t)(now - diff->arguments_after);
    }
}

static void look_at(keel_diff_t *diff, keel_str_t stem, list_t *list) {
    uint32_t from;
    memset(list, 0, sizeof *list);
    list->stem = stem;
    if (!read_side(&diff->before, diff->arguments_before, diff->before_count, 0, list) ||
        !read_side(&diff->after, diff->arguments_after, diff->after_count, 1, list))
        return;
    if (list->counts[0] && list->counts[1] && list->counts[0] != list->counts[1] &&
        is_cut(list, &from))
        pair_items(diff, list, from);
}

keel_status_t keel_diff_pair_lists(keel_diff_t *diff) {
    keel_map_t met;
    void *memory;
    uint32_t lists = 0;
    if (diff->before_count > ARGUMENTS || diff->after_count > ARGUMENTS) return NULL;
    KEEL_TRY(keel_arena_array(&diff->arena, 1, sizeof(list_t), &memory));
    keel_map_initialize(&met);
    keel_status_t status = NULL;
    for (uint32_t i = 0; !status && i < diff->before_count && lists < LISTS; ++i) {
        keel_str_t name = diff->arguments_before[i].name;
        size_t at = 0, end;
        for (uint32_t index; !status && lists < LISTS && next_index(name, &at, &end, &index);) {
            keel_str_t stem = {name.data, end};
            if (!end || keel_map_find(&met, keel_str_bytes(stem))) continue;
            status = keel_map_put(&met, keel_str_bytes(stem), ++lists);
            if (!status) look_at(diff, stem, memory);
        }
    }
    keel_map_deinitialize(&met);
    return status;
}
