// Constants of the program: which of several the user wrote, and which follow from it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/diff.h"
#include "explain/literals.h"
#include "explain/relation.h"

typedef struct number_t {
    uint32_t root;
    keel_move_t move; // as it is written: 0.999, not the nearest float
    unsigned score;   // how sure it is that the user wrote it
    bool is_written;  // both values are in the user's source
    bool is_computed; // more digits than anybody writes
    bool is_librarys;
} number_t;

typedef struct numbers_t {
    keel_diff_t *diff;
    keel_literals_t literals;
    number_t *items;
    uint32_t count;
} numbers_t;

// ---- who wrote it ------------------------------------------------------------------------------

// These numbers are everywhere.
static bool is_common(double value) {
    return value == 0 || fabs(value) == 1 || fabs(value) == 2;
}

// Significant ones.
static unsigned digits_of(const char *text) {
    unsigned digits = 0;
    for (; *text && *text != 'e'; ++text)
        digits += *text >= '0' && *text <= '9' && (digits || *text != '0');
    return digits;
}

static bool is_at_place(const numbers_t *numbers, double value, const keel_place_t *place) {
    return keel_literals_have_at(&numbers->literals, value, place->file, place->line) ||
           keel_literals_have_at(&numbers->literals, value, place->call_file, place->call_line);
}

static bool stands_there(const numbers_t *numbers, double value, bool is_librarys) {
    return !(is_librarys && is_common(value)) && keel_literals_have(&numbers->literals, value);
}

static void weigh(const numbers_t *numbers, number_t *number) {
    enum { WRITTEN = 5 };
    const keel_difference_t *difference = &numbers->diff->roots[number->root].difference;
    number->is_computed =
        digits_of(difference->old_value) > WRITTEN || digits_of(difference->new_value) > WRITTEN;
    bool had = stands_there(numbers, number->move.before, number->is_librarys);
    bool has = stands_there(numbers, number->move.after, number->is_librarys);
    number->is_written = had && has;
    // A counter that happens to equal the 1 of another expression means nothing.
    had = had && (has || !is_common(number->move.before));
    has = has && (number->is_written || !is_common(number->move.after));
    number->score = (unsigned)had + (unsigned)has;
    if (has && is_at_place(numbers, number->move.after, &difference->place)) number->score += 4;
}

static keel_status_t gather_numbers(numbers_t *numbers) {
    keel_diff_t *diff = numbers->diff;
    void *memory;
    KEEL_TRY(
        keel_arena_array(&diff->arena, diff->root_count + 1u, sizeof *numbers->items, &memory));
    numbers->items = memory;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        const keel_difference_t *difference = &root->difference;
        if (difference->kind != KEEL_CAUSE_CONSTANT || root->follows != KEEL_NONE ||
            !difference->place.line)
            continue;
        number_t number = {.root = i};
        if (root->is_number)
            number.move = (keel_move_t){strtod(difference->old_value, NULL),
                                        strtod(difference->new_value, NULL)};
        number.is_librarys = keel_diff_is_librarys(diff, difference->new_op);
        numbers->items[numbers->count++] = number;
    }
    for (uint32_t i = 0; numbers->count > 1 && i < numbers->count; ++i) {
        const keel_place_t *place = &diff->roots[numbers->items[i].root].difference.place;
        KEEL_TRY(keel_literals_read(&numbers->literals, place->file, &diff->arena));
        KEEL_TRY(keel_literals_read(&numbers->literals, place->call_file, &diff->arena));
    }
    for (uint32_t i = 0; i < numbers->count; ++i)
        weigh(numbers, &numbers->items[i]);
    return NULL;
}

// ---- what follows ------------------------------------------------------------------------------

static bool is_one_line(const numbers_t *numbers, const number_t *a, const number_t *b) {
    const keel_root_t *roots = numbers->diff->roots;
    return keel_diff_same_line(numbers->diff, &roots[a->root].difference.place,
                               &roots[b->root].difference.place);
}

// A count is not computed from a number that is not a count. Numbers that the user wrote are
// independent choices, and two numbers of few digits on lines of the user's may both be halved by
// accident.
static bool follows(const numbers_t *numbers, const number_t *number, const number_t *from) {
    const keel_root_t *root = &numbers->diff->roots[number->root];
    const keel_root_t *source = &numbers->diff->roots[from->root];
    if (!root->is_number || !source->is_number || number->is_written ||
        (root->is_integer && !source->is_integer))
        return false;
    keel_relation_t relation =
        keel_relation_of(from->move, number->move, root->is_coarse || source->is_coarse);
    return relation == KEEL_RELATION_FUNCTION ||
           (relation != KEEL_RELATION_NONE && (number->is_librarys || number->is_computed));
}

static bool is_plainer(const number_t *a, const number_t *b) {
    if (a->score != b->score) return a->score > b->score;
    return a->is_computed != b->is_computed ? b->is_computed : a->root < b->root;
}

static bool is_left(const numbers_t *numbers, const number_t *number) {
    return numbers->diff->roots[number->root].follows == KEEL_NONE;
}

static void fold_functions(numbers_t *numbers) {
    for (uint32_t i = 0; i < numbers->count; ++i)
        for (uint32_t j = 0; j < numbers->count; ++j) {
            const number_t *number = &numbers->items[i], *from = &numbers->items[j];
            if (i == j || !is_left(numbers, number) || !is_left(numbers, from)) continue;
            bool is_mutual = follows(numbers, from, number);
            if (follows(numbers, number, from) && (!is_mutual || is_plainer(from, number)))
                numbers->diff->roots[number->root].follows = from->root;
        }
}

// Constants of one line are one cause: usually one value in several forms. The one that the user
// most likely wrote leads, otherwise the first.
static void fold_lines(numbers_t *numbers) {
    for (uint32_t i = 0; i < numbers->count; ++i) {
        const number_t *lead = &numbers->items[i];
        if (!is_left(numbers, lead)) continue;
        for (uint32_t j = i + 1; j < numbers->count; ++j)
            if (is_left(numbers, &numbers->items[j]) &&
                is_one_line(numbers, &numbers->items[j], &numbers->items[i]) &&
                numbers->items[j].score > lead->score)
                lead = &numbers->items[j];
        for (uint32_t j = i; j < numbers->count; ++j)
            if (&numbers->items[j] != lead && is_left(numbers, &numbers->items[j]) &&
                is_one_line(numbers, &numbers->items[j], lead))
                numbers->diff->roots[numbers->items[j].root].follows = lead->root;
    }
}

keel_status_t keel_diff_numbers(keel_diff_t *diff, const keel_sources_t *sources) {
    numbers_t numbers = {.diff = diff, .literals = {.sources = sources}};
    KEEL_TRY(gather_numbers(&numbers));
    if (!diff->after.lender) fold_functions(&numbers);
    fold_lines(&numbers);
    return NULL;
}
