// What the client compared of the two calls (columns.h), and what follows from it. A program is a
// function of its call: a static argument, a setting or a number that a closure holds leads what it
// changed inside, whatever that looks like there.
#include <math.h>
#include <stdlib.h>

#include "explain/diff.h"

// ---- leaves: what is passed --------------------------------------------------------------------

static bool is_leaf_pair(const keel_column_t *column) {
    return column->kind == 'l' && column->before.data && column->after.data;
}

// Python numbers that became arrays, or the reverse, of all arguments: also of those that the
// program does not use, and where no operation shows it.
keel_status_t keel_diff_weak_columns(keel_diff_t *diff) {
    static const char *const words[] = {"", "weak "};
    for (uint32_t i = 0; i < diff->columns.count; ++i) {
        const keel_column_t *column = &diff->columns.items[i];
        if (!is_leaf_pair(column)) continue;
        keel_str_t was = keel_column_strong(column->before), is = keel_column_strong(column->after);
        bool was_weak = was.size < column->before.size, is_weak = is.size < column->after.size;
        if (was_weak == is_weak || !keel_str_equal(was, is)) continue;
        keel_str_t name = keel_names_find(diff->names_after, column->name);
        const keel_difference_t difference = keel_diff_of_call(
            diff, KEEL_CAUSE_WEAK_TYPE, keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(name)),
            keel_diff_text(diff, "%s%.*s", words[was_weak], KEEL_STR_ARGS(was)),
            keel_diff_text(diff, "%s%.*s", words[is_weak], KEEL_STR_ARGS(is)));
        uint32_t root, known = diff->root_count;
        KEEL_TRY(keel_diff_root(diff, &difference, &root));
        if (diff->root_count > known) diff->roots[root].is_recorded = true;
    }
    return NULL;
}

// What operations seem to show of other arguments follows.
static void fold_inferred(keel_diff_t *diff) {
    uint32_t first = KEEL_NONE;
    for (uint32_t i = 0; i < diff->root_count && first == KEEL_NONE; ++i)
        if (diff->roots[i].is_recorded && diff->roots[i].difference.kind == KEEL_CAUSE_WEAK_TYPE)
            first = i;
    for (uint32_t i = 0; first != KEEL_NONE && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_WEAK_TYPE || root->is_recorded) continue;
        if (root->follows == KEEL_NONE) root->follows = first;
    }
}

// ---- holes: what differs inside ----------------------------------------------------------------

static bool is_hole(const keel_root_t *root) {
    if (root->follows != KEEL_NONE || root->is_recorded) return false;
    switch (root->difference.kind) {
        case KEEL_CAUSE_CONSTANT:
        case KEEL_CAUSE_STRUCTURE:
        case KEEL_CAUSE_SIZE:
        case KEEL_CAUSE_PRECISION:
        case KEEL_CAUSE_NESTED_JIT:
        case KEEL_CAUSE_GRADIENT:
            return true;
        case KEEL_CAUSE_DTYPE:
        case KEEL_CAUSE_SHARDING:
            return root->difference.old_op != KEEL_NONE || root->difference.new_op != KEEL_NONE;
        // An argument that both calls pass, and only one program uses.
        case KEEL_CAUSE_ARGUMENTS:
            return root->passing == KEEL_PASSED;
        default:
            return false;
    }
}

// ---- which column a hole follows from ----------------------------------------------------------

static bool read_number(keel_str_t text, double *out) {
    char copy[64], *end;
    if (!text.size || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    *out = strtod(copy, &end);
    return end != copy && !*end;
}

static bool is_nearly(double a, double b) {
    enum { DIGITS = 6 }; // of a float of 32 bits; numbers of 16 bits are matched less often
    return a == b || fabs(a - b) <= pow(10, -DIGITS) * fmax(fabs(a), fabs(b));
}

// The hole holds the column's own number.
static bool holds_number(const keel_root_t *root, const keel_column_t *column) {
    double had, has;
    if (root->difference.kind != KEEL_CAUSE_CONSTANT && root->difference.kind != KEEL_CAUSE_SIZE)
        return false;
    return read_number(column->before, &had) && read_number(column->after, &has) &&
           is_nearly(strtod(root->difference.old_value, NULL), had) &&
           is_nearly(strtod(root->difference.new_value, NULL), has);
}

// What the client itself compared: a change of it is a new program by that alone.
static bool is_compared(const keel_column_t *column) {
    return strchr("spcx", column->kind) != NULL;
}

// A number that grows by one may be counted by the function itself, once a trace.
static bool may_count_traces(const keel_column_t *column) {
    double had, has;
    return read_number(column->before, &had) && read_number(column->after, &has) && has == had + 1;
}

// "config" of "config.rate", which says more if both calls have it.
static bool is_named_by_part(const keel_columns_t *columns, const keel_column_t *column) {
    for (uint32_t i = 0; i < columns->count; ++i) {
        keel_str_t name = columns->items[i].name;
        if (!columns->items[i].before.data || !columns->items[i].after.data) continue;
        if (&columns->items[i] != column && strchr("pv", columns->items[i].kind) &&
            name.size > column->name.size && keel_str_starts(name, column->name) &&
            strchr(".[", name.data[column->name.size]))
            return true;
    }
    return false;
}

// A library that calls jax.jit has names of its own for what it takes as static; what the user
// passed to it is listed too, and by his names.
static bool is_passed_through(const keel_diff_t *diff) {
    bool is_listed = false;
    for (uint32_t i = 0; i < diff->columns.count; ++i)
        is_listed = is_listed || strchr("pv", diff->columns.items[i].kind);
    return is_listed && diff->site.library_file && *diff->site.library_file;
}

static bool holds_object(const keel_column_t *column) {
    return keel_column_has_object(column->before) || keel_column_has_object(column->after);
}

// An object of JAX's own that may equal the other one is no setting of the user's.
static bool is_candidate(const keel_diff_t *diff, const keel_column_t *column) {
    keel_str_t object;
    if (!is_compared(column) && column->kind != 'v') return false;
    if (column->kind == 's' && is_passed_through(diff)) return false;
    // A value that only one call shows as plain may be another object in the other one.
    if (strchr("pv", column->kind) && (!column->before.data || !column->after.data)) return false;
    if (!holds_object(column)) return true;
    if (column->kind == 'v' || column->kind == 'x' || is_named_by_part(&diff->columns, column))
        return false;
    return column->kind != 'c' ||
           keel_column_compare(column->before, column->after, &object) == KEEL_APART;
}

// Arguments differ in type, or there are others.
static bool passes_others(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->columns.count; ++i)
        if (strchr("lnh", diff->columns.items[i].kind)) return true;
    return false;
}

enum { COLUMNS = 8 };

typedef struct leads_t {
    const keel_column_t *columns[COLUMNS];
    uint32_t roots[COLUMNS]; // by column; NONE: it leads nothing yet
    uint32_t count;
    uint32_t usual; // that a hole follows from which shows no column's number; NONE
} leads_t;

static void list_leads(const keel_diff_t *diff, leads_t *out) {
    *out = (leads_t){.usual = KEEL_NONE};
    // What was compared comes first: values before objects, of which only the identity is known.
    // Of host values, those that are no numbers.
    for (unsigned pass = 0; pass < 4; ++pass)
        for (uint32_t i = 0; i < diff->columns.count && out->count < COLUMNS; ++i) {
            const keel_column_t *column = &diff->columns.items[i];
            unsigned of = may_count_traces(column) ? 3 : 2;
            if (is_compared(column)) of = holds_object(column);
            if (of != pass || !is_candidate(diff, column)) continue;
            out->roots[out->count] = KEEL_NONE;
            out->columns[out->count++] = column;
        }
    if (!out->count) return;
    bool is_sure = is_compared(out->columns[0]);
    if (is_sure || (!passes_others(diff) && !may_count_traces(out->columns[0]))) out->usual = 0;
}

static uint32_t column_of(const leads_t *leads, const keel_root_t *root) {
    for (uint32_t i = 0; i < leads->count; ++i)
        if (holds_number(root, leads->columns[i])) return i;
    return leads->usual;
}

// Which of its holes says most about what a column decides: a size that holds its number, then by
// kind, and one that holds it before others.
static unsigned weight_of(const keel_root_t *root, const keel_column_t *column) {
    static const keel_cause_t order[] = {KEEL_CAUSE_STRUCTURE, KEEL_CAUSE_CONSTANT, KEEL_CAUSE_SIZE,
                                         KEEL_CAUSE_PRECISION, KEEL_CAUSE_DTYPE};
    bool holds = holds_number(root, column);
    if (holds && root->difference.kind == KEEL_CAUSE_SIZE) return 0;
    unsigned at = 0;
    while (at < sizeof order / sizeof *order && order[at] != root->difference.kind)
        ++at;
    return 2 * at + 2 - holds;
}

// ---- the row --------------------------------------------------------------------------------

static const char *remark_on(const keel_column_t *column, keel_cause_t kind) {
    switch (column->kind) {
        case 's':
            return keel_remark_text(KEEL_REMARK_STATIC_ARGUMENT);
        case 'p':
            return keel_remark_text(KEEL_REMARK_STATIC_PART);
        case 'c':
            return keel_remark_text(KEEL_REMARK_SETTING);
        case 'x':
            return kind == KEEL_CAUSE_CONSTANT ? keel_note_text(KEEL_NOTE_FIELD)
                                               : keel_remark_text(KEEL_REMARK_METADATA);
        default:
            return keel_remark_text(KEEL_REMARK_HOST_VALUE);
    }
}

static const char *value_of(keel_diff_t *diff, const keel_column_t *column, keel_str_t value) {
    if (value.data) return keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(value));
    return column->kind == 'c' ? "unset" : "left out";
}

// "a static argument; multiply: 0.9 -> 0.81": what the column decides. A note that brings advice of
// its own stays first.
static const char *beside(keel_diff_t *diff, const keel_difference_t *hole, const char *remark,
                          bool is_plain) {
    const char *mark = *hole->subject ? ": " : "", *lead = "", *rest = "";
    if (keel_note_advice(hole->note))
        lead = keel_diff_text(diff, "%s; ", hole->note);
    else if (*hole->note)
        rest = keel_diff_text(diff, "; %s", hole->note);
    if (!is_plain) return keel_diff_text(diff, "%s%s%s", lead, remark, rest);
    return keel_diff_text(diff, "%s%s; %s%s%s -> %s%s", lead, remark, hole->subject, mark,
                          hole->old_value, hole->new_value, rest);
}

// What call.c of the host reads of jax.grad, jax.vmap and their like.
static bool is_given(keel_str_t name) {
    static const char *const words[] = {"argnums", "has_aux", "in_axes", "out_axes", "axis_size"};
    return keel_str_is_among(name, words, sizeof words / sizeof *words);
}

// The hole becomes the column's root, at its own place: that is where the value is used, and the
// call's line is beside it.
static void tell_column(keel_diff_t *diff, const keel_column_t *column, keel_root_t *root) {
    keel_difference_t *told = &root->difference;
    keel_str_t name =
        column->kind == 'c' ? column->name : keel_names_find(diff->names_after, column->name);
    bool is_plain = !holds_object(column);
    const char *note = beside(diff, told, remark_on(column, told->kind), is_plain);
    if (column->kind == 'v' && told->kind == KEEL_CAUSE_STRUCTURE && is_given(column->name))
        note = beside(diff, told, keel_note_text(KEEL_NOTE_TRANSFORMED), is_plain);
    told->subject = keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(name));
    if (is_plain) {
        told->old_value = value_of(diff, column, column->before);
        told->new_value = value_of(diff, column, column->after);
    }
    told->note = note;
    if (column->kind == 'c' && told->kind != KEEL_CAUSE_PRECISION && told->kind != KEEL_CAUSE_DTYPE)
        told->kind = KEEL_CAUSE_OPTION;
    root->is_recorded = true;
}

// ---- arrays that the function reads ------------------------------------------------------------

static keel_str_t type_of(keel_str_t value) {
    const char *end = value.size ? memchr(value.data, ' ', value.size) : NULL;
    return (keel_str_t){value.data, end ? (size_t)(end - value.data) : value.size};
}

// The hole holds the number of a host value.
static bool is_told_by_value(const keel_diff_t *diff, const keel_root_t *root) {
    for (uint32_t i = 0; i < diff->columns.count; ++i)
        if (diff->columns.items[i].kind != 'a' && holds_number(root, &diff->columns.items[i]))
            return true;
    return false;
}

// "constant f32[4] of multiply", the number in an array of no dimension, or the size of one:
// "..; f32[4,2] -> f32[6,2]".
static bool is_hole_of_array(keel_diff_t *diff, const keel_root_t *root,
                             const keel_column_t *column) {
    const keel_difference_t *hole = &root->difference;
    keel_str_t was = type_of(column->before), is = type_of(column->after);
    bool is_same = keel_str_equal(was, is);
    if (hole->kind == KEEL_CAUSE_CONSTANT && root->is_number && keel_str_ends(is, KEEL_STR("[]")))
        return is_same && !is_told_by_value(diff, root);
    if (hole->kind == KEEL_CAUSE_CONSTANT)
        return is_same && keel_str_starts(keel_str(hole->subject),
                                          keel_str(keel_diff_text(diff, "constant %.*s of ",
                                                                  KEEL_STR_ARGS(is))));
    const char *types = keel_diff_text(diff, "%.*s -> %.*s", KEEL_STR_ARGS(was), KEEL_STR_ARGS(is));
    return hole->kind == KEEL_CAUSE_SIZE && !is_same && strstr(hole->note, types);
}

// A constant has the name of the only array that it can be.
static void name_arrays(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        const keel_column_t *only = NULL;
        uint32_t count = 0;
        for (uint32_t j = 0; j < diff->columns.count && is_hole(root); ++j) {
            const keel_column_t *column = &diff->columns.items[j];
            if (column->kind != 'a' || !column->before.data || !column->after.data ||
                !is_hole_of_array(diff, root, column))
                continue;
            only = column;
            ++count;
        }
        if (count != 1) continue;
        keel_difference_t *told = &root->difference;
        told->subject = keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(only->name));
        if (!keel_note_advice(told->note))
            told->note = keel_diff_text(diff, "%s%s%s", keel_remark_text(KEEL_REMARK_HOST_VALUE),
                                        *told->note ? "; " : "", told->note);
        root->is_recorded = true;
    }
}

// ---- keys for random numbers -------------------------------------------------------------------

// "u32[2]" is what a program has of a typed key.
static void tell_keys(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *told = &diff->roots[i].difference;
        for (uint32_t j = 0; j < diff->columns.count && told->kind == KEEL_CAUSE_ARGUMENTS; ++j) {
            const keel_column_t *column = &diff->columns.items[j];
            keel_str_t name = keel_names_find(diff->names_after, column->name);
            if (!keel_column_is_place(column->kind) || !keel_str_is(name, told->subject)) continue;
            const keel_str_t key = KEEL_STR("key<");
            if (keel_str_starts(column->before, key) && strcmp(told->new_value, "absent") == 0)
                told->old_value = "typed key";
            if (keel_str_starts(column->after, key) && strcmp(told->old_value, "absent") == 0)
                told->new_value = "typed key";
        }
    }
}

static void lead_holes(keel_diff_t *diff, leads_t *leads) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        uint32_t at = is_hole(root) ? column_of(leads, root) : KEEL_NONE;
        if (at == KEEL_NONE) continue;
        uint32_t *lead = &leads->roots[at];
        if (*lead == KEEL_NONE || weight_of(root, leads->columns[at]) <
                                      weight_of(&diff->roots[*lead], leads->columns[at]))
            *lead = i;
    }
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        uint32_t at = is_hole(&diff->roots[i]) ? column_of(leads, &diff->roots[i]) : KEEL_NONE;
        if (at != KEEL_NONE && leads->roots[at] != i) diff->roots[i].follows = leads->roots[at];
    }
    for (uint32_t at = 0; at < leads->count; ++at)
        if (leads->roots[at] != KEEL_NONE)
            tell_column(diff, leads->columns[at], &diff->roots[leads->roots[at]]);
}

// ---- what an argument's type decides -----------------------------------------------------------

// The first root about what is passed: what a call's types decide has it as its cause.
static uint32_t find_passed(const keel_diff_t *diff) {
    static const keel_cause_t kinds[] = {KEEL_CAUSE_SHAPE, KEEL_CAUSE_DTYPE, KEEL_CAUSE_WEAK_TYPE,
                                         KEEL_CAUSE_ARGUMENTS};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (uint32_t i = 0; i < diff->root_count; ++i)
            if (diff->roots[i].difference.kind == kinds[k] && diff->roots[i].follows == KEEL_NONE &&
                !is_hole(&diff->roots[i]))
                return i;
    return KEEL_NONE;
}

// A program is a function of its call. If calls of one function differ in what is passed, or in its
// types, and in nothing else that was recorded, the rest follows, by whatever formula or branch.
// Otherwise only numbers do that are not the host's.
static void fold_determined(keel_diff_t *diff, bool has_leads) {
    uint32_t top = find_passed(diff);
    for (uint32_t i = 0; i < diff->columns.count; ++i)
        has_leads = has_leads || diff->columns.items[i].kind == 'f'; // another function
    if (top == KEEL_NONE || !diff->columns.have_values) return;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        bool is_number = root->difference.kind == KEEL_CAUSE_CONSTANT ||
                         root->difference.kind == KEEL_CAUSE_SIZE;
        if (is_hole(root) && (is_number || !has_leads)) root->follows = top;
    }
}

keel_status_t keel_diff_lead_columns(keel_diff_t *diff) {
    if (!diff->columns.are_known) return NULL;
    leads_t leads;
    fold_inferred(diff);
    tell_keys(diff);
    name_arrays(diff);
    list_leads(diff, &leads);
    lead_holes(diff, &leads);
    fold_determined(diff, leads.count);
    return NULL;
}
