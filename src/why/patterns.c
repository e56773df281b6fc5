#include <stdlib.h>

#include "host/host.h"
#include "why/internal.h"

enum {
    LEAST = 3,         // recompiles that make a pattern
    LEAST_TURNS = 4,   // of two programs: A B A B
    LEAST_GROWN = 2,   // elements of a list, one after another
    LEAST_UNNAMED = 3, // the same for arguments without names
    VALUES_SHOWN = 6,
};

#define UNNAMED "argument "

// Mentions of one thing, in order of time: a root of an entry or, for programs that take turns, the
// entry itself.
typedef struct mention_t {
    size_t entry;
    const keel_run_difference_t *root;
    size_t next; // SIZE_MAX: the last
} mention_t;

typedef struct group_t {
    size_t first, last, count;
} group_t;

typedef struct groups_t {
    mention_t *mentions;
    size_t mention_count;
    group_t *groups;
    size_t group_count;
    keel_map_t index;
} groups_t;

static void initialize_groups(groups_t *groups) {
    *groups = (groups_t){0};
    keel_map_initialize(&groups->index);
}

static void deinitialize(groups_t *groups) {
    keel_map_deinitialize(&groups->index);
    keel_free(groups->mentions);
    keel_free(groups->groups);
}

static keel_status_t group_at(groups_t *groups, keel_bytes_t name, group_t **out) {
    const uint64_t *known = keel_map_find(&groups->index, name);
    size_t at = known ? (size_t)*known : groups->group_count;
    if (!known) {
        void *grown = groups->groups;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *groups->groups, &grown));
        groups->groups = grown;
        groups->groups[at] = (group_t){SIZE_MAX, SIZE_MAX, 0};
        ++groups->group_count;
        KEEL_TRY(keel_map_put(&groups->index, name, at));
    }
    *out = &groups->groups[at];
    return NULL;
}

static keel_status_t mention(groups_t *groups, keel_bytes_t name, size_t entry,
                             const keel_run_difference_t *root) {
    group_t *group;
    KEEL_TRY(group_at(groups, name, &group));
    void *grown = groups->mentions;
    KEEL_TRY(keel_realloc_array(groups->mention_count + 1, sizeof *groups->mentions, &grown));
    groups->mentions = grown;
    size_t at = groups->mention_count++;
    groups->mentions[at] = (mention_t){entry, root, SIZE_MAX};
    if (group->count++)
        groups->mentions[group->last].next = at;
    else
        group->first = at;
    group->last = at;
    return NULL;
}

// ---- a pattern, once found ---------------------------------------------------------------------

static void list_value(keel_buffer_t *list, size_t index, const char *value) {
    if (index >= VALUES_SHOWN) return;
    keel_buffer_text(list, index ? ", " : "");
    keel_buffer_text(list, value);
}

// The last of `count` values, if not all were listed.
static void end_values(keel_buffer_t *list, size_t count, const char *last) {
    if (count <= VALUES_SHOWN) return;
    keel_buffer_text(list, count == VALUES_SHOWN + 1 ? ", " : ", ..., ");
    keel_buffer_text(list, last);
}

static keel_status_t keep_values(keel_why_t *why, const keel_buffer_t *text, const char **out) {
    KEEL_TRY(keel_buffer_status(text));
    return keel_texts_keep(&why->texts, keel_buffer_cstr(text), out);
}

// Adds the entry to the newest pattern. An entry with several matching roots counts once.
static void join_pattern(keel_why_t *why, size_t index, size_t *last) {
    keel_why_entry_t *entry = &why->entries[index];
    keel_why_pattern_t *pattern = &why->patterns[why->pattern_count - 1];
    if (*last == index) return;
    *last = index;
    keel_took_add(&pattern->took, &entry->asked->took);
    if (*entry->pattern) return;
    entry->pattern = keel_pattern_word(pattern->kind);
    entry->pattern_index = (uint32_t)(why->pattern_count - 1);
}

static keel_status_t add_pattern(keel_why_t *why, keel_pattern_kind_t kind, const mention_t *first,
                                 const char *subject, const keel_buffer_t *values) {
    const char *text;
    KEEL_TRY(keep_values(why, values, &text));
    void *grown = why->patterns;
    KEEL_TRY(keel_realloc_array(why->pattern_count + 1, sizeof *why->patterns, &grown));
    why->patterns = grown;
    const keel_why_entry_t *entry = &why->entries[first->entry];
    bool placed = first->root && *first->root->place.file;
    why->patterns[why->pattern_count++] =
        (keel_why_pattern_t){.kind = kind,
                             .cause = first->root ? first->root->kind : KEEL_CAUSE_COUNT,
                             .name = entry->asked->name,
                             .subject = subject,
                             .values = text,
                             .place = placed ? first->root->place : entry->asked->site};
    return NULL;
}

// A pattern of all mentions from `first` on, `count` of them.
static keel_status_t add_mentions(keel_why_t *why, keel_pattern_kind_t kind, const groups_t *groups,
                                  size_t first, size_t count, const char *subject,
                                  const keel_buffer_t *values) {
    KEEL_TRY(add_pattern(why, kind, &groups->mentions[first], subject, values));
    size_t last = SIZE_MAX;
    for (size_t at = first; count--; at = groups->mentions[at].next)
        join_pattern(why, groups->mentions[at].entry, &last);
    return NULL;
}

// ---- a counter ---------------------------------------------------------------------------------

static bool is_in_range(double number) {
    return number > -1e15 && number < 1e15;
}

// A list, such as the starts of a slice, counts by the sum of its numbers.
static bool number_of_list(const char *text, double *out) {
    char *end;
    *out = 0;
    for (const char *at = text + 1;; at = end + 2) {
        double number = strtod(at, &end);
        *out += number;
        if (end == at || !is_in_range(number)) return false;
        if (strcmp(end, "]") == 0) return is_in_range(*out);
        if (strncmp(end, ", ", 2) != 0) return false;
    }
}

static bool number_of(const char *text, double *out) {
    char *end;
    if (*text == '[') return number_of_list(text, out);
    *out = strtod(text, &end);
    return *text && !*end && is_in_range(*out);
}

// If several processes count alike, a value comes once from each.
static bool continues(double last, double value) {
    return value == last || value == last + 1;
}

static keel_status_t add_counter(keel_why_t *why, const groups_t *groups, size_t first,
                                 size_t count) {
    keel_buffer_t values;
    keel_buffer_initialize(&values, 0);
    size_t listed = 0, at = first;
    const char *last = "";
    double before, value, previous = 0;
    const keel_run_difference_t *root = groups->mentions[first].root;
    if (number_of(root->old_value, &before) && number_of(root->new_value, &value) &&
        before + 1 == value)
        list_value(&values, listed++, root->old_value);
    for (size_t i = 0; i < count; ++i, at = groups->mentions[at].next) {
        last = groups->mentions[at].root->new_value;
        if (!number_of(last, &value) || (i && value == previous)) continue;
        list_value(&values, listed++, last);
        previous = value;
    }
    end_values(&values, listed, last);
    keel_status_t status =
        add_mentions(why, KEEL_PATTERN_COUNTER, groups, first, count, root->subject, &values);
    keel_buffer_deinitialize(&values);
    return status;
}

// A schedule computed on the host: no value comes twice, except from several processes at once.
static keel_status_t find_moving(keel_why_t *why, const groups_t *groups, const group_t *group) {
    const keel_run_difference_t *root = groups->mentions[group->first].root;
    const char *last = root->old_value;
    double number;
    keel_map_t met;
    keel_buffer_t values;
    keel_map_initialize(&met);
    keel_buffer_initialize(&values, 0);
    list_value(&values, 0, last);
    keel_status_t status = keel_map_put(&met, keel_str_bytes(keel_str(last)), 0);
    bool good = number_of(last, &number);
    for (size_t at = group->first; good && !status && at != SIZE_MAX;
         at = groups->mentions[at].next) {
        const char *value = groups->mentions[at].root->new_value;
        if (strcmp(value, last) == 0) continue;
        last = value;
        keel_bytes_t bytes = keel_str_bytes(keel_str(value));
        good = number_of(value, &number) && !keel_map_find(&met, bytes);
        list_value(&values, met.count, value);
        status = keel_map_put(&met, bytes, 0);
    }
    end_values(&values, met.count, last);
    if (!status && good && met.count > LEAST)
        status = add_mentions(why, KEEL_PATTERN_COUNTER, groups, group->first, group->count,
                              root->subject, &values);
    keel_buffer_deinitialize(&values);
    keel_map_deinitialize(&met);
    return status;
}

// Every stretch of the group that goes up by one.
static keel_status_t find_steps(keel_why_t *why, const groups_t *groups, const group_t *group) {
    size_t began = group->first, count = 0, distinct = 0;
    double last = 0, value;
    for (size_t at = group->first;; at = groups->mentions[at].next) {
        bool good = at != SIZE_MAX && number_of(groups->mentions[at].root->new_value, &value);
        if (count && (!good || !continues(last, value))) {
            if (distinct >= LEAST) KEEL_TRY(add_counter(why, groups, began, count));
            count = distinct = 0;
        }
        if (at == SIZE_MAX) return NULL;
        if (!good) continue;
        if (!count) began = at;
        distinct += !count || value != last;
        ++count;
        last = value;
    }
}

static keel_status_t find_counters(keel_why_t *why, const groups_t *groups, const group_t *group) {
    size_t before = why->pattern_count;
    KEEL_TRY(find_steps(why, groups, group));
    return why->pattern_count == before ? find_moving(why, groups, group) : NULL;
}

// ---- an unpadded batch -------------------------------------------------------------------------

// The next number in a shape, or a size by itself.
static bool next_size(const char **text, unsigned long long *out) {
    const char *at = *text + strcspn(*text, "0123456789");
    char *end;
    if (!*at) return false;
    *out = strtoull(at, &end, 10);
    *text = end;
    return true;
}

static const char *dimensions_of(const char *value) {
    const char *bracket = strchr(value, '[');
    return bracket ? bracket : value;
}

// "f32[2,4]" and "f32[3,4]".
static bool is_larger(const char *old, const char *new) {
    unsigned long long before, after;
    bool larger = false;
    old = dimensions_of(old);
    new = dimensions_of(new);
    while (next_size(&old, &before)) {
        if (!next_size(&new, &after) || after < before) return false;
        larger |= after > before;
    }
    return larger && !next_size(&new, &after);
}

static keel_status_t find_unpadded(keel_why_t *why, const groups_t *groups, const group_t *group) {
    if (group->count < LEAST) return NULL;
    keel_map_t met;
    keel_map_initialize(&met);
    keel_buffer_t values;
    keel_buffer_initialize(&values, 0);
    keel_status_t status = NULL;
    const char *last = groups->mentions[group->first].root->old_value;
    bool grows = true;
    size_t entries = 0, entry = SIZE_MAX; // one recompile may have many such roots
    for (size_t at = group->first; !status && at != SIZE_MAX; at = groups->mentions[at].next) {
        const char *value = groups->mentions[at].root->new_value;
        entries += groups->mentions[at].entry != entry;
        entry = groups->mentions[at].entry;
        keel_bytes_t bytes = keel_str_bytes(keel_str(value));
        if (keel_map_find(&met, bytes)) continue;
        list_value(&values, met.count, value);
        grows = grows && is_larger(last, value);
        last = value;
        status = keel_map_put(&met, bytes, 0);
    }
    end_values(&values, met.count, last);
    bool is_pattern = met.count >= LEAST && entries >= LEAST;
    if (!status && is_pattern)
        status = add_mentions(why, KEEL_PATTERN_UNPADDED, groups, group->first, group->count,
                              groups->mentions[group->first].root->subject, &values);
    if (!status && is_pattern) {
        keel_why_pattern_t *pattern = &why->patterns[why->pattern_count - 1];
        pattern->counted =
            keel_note_leads(groups->mentions[group->first].root->note, KEEL_NOTE_COUNTED);
        pattern->grows = grows && !pattern->counted;
    }
    keel_buffer_deinitialize(&values);
    keel_map_deinitialize(&met);
    return status;
}

// ---- a list that grows -------------------------------------------------------------------------

// "history[2]['w']" and "history[3]['w']": one index, and no other, has gone up.
static bool is_next_element(const char *last, const char *next) {
    bool is_up = false, is_index = false;
    while (*last && *next) {
        if (is_index && keel_is_digit(*last) && keel_is_digit(*next)) {
            char *last_end, *next_end;
            unsigned long long a = strtoull(last, &last_end, 10), b = strtoull(next, &next_end, 10);
            if (b < a || (is_up && b > a)) return false;
            is_up |= b > a;
            last = last_end;
            next = next_end;
            is_index = false;
            continue;
        }
        if (*last != *next) return false;
        is_index = *last == '[';
        ++last;
        ++next;
    }
    return is_up && *last == *next;
}

// "argument 2": in PyTorch/XLA the inputs of a program have no names.
static bool is_unnamed(const keel_run_difference_t *root) {
    keel_str_t rest = keel_str(root->subject);
    if (!keel_str_starts(rest, KEEL_STR(UNNAMED))) return false;
    return rest.data[strspn(rest.data + strlen(UNNAMED), "0123456789") + strlen(UNNAMED)] == 0;
}

// Each program has one more than the one before.
static bool is_one_more(const keel_why_t *why, const mention_t *last, const mention_t *next) {
    const keel_run_entry_t *before = why->entries[last->entry].asked;
    const keel_run_entry_t *after = why->entries[next->entry].asked;
    return is_unnamed(next->root) && last->entry != next->entry && after->against_is_ours &&
           before->pid == after->pid && strcmp(before->program, after->against_program) == 0;
}

static bool grows_on(const keel_why_t *why, const mention_t *last, const mention_t *next) {
    return is_next_element(last->root->subject, next->root->subject) ||
           is_one_more(why, last, next);
}

// Without its indices. What has no name is known by its type and its line.
static void name_list(keel_buffer_t *name, const keel_run_difference_t *root) {
    const char *subject = root->subject;
    if (is_unnamed(root)) {
        keel_buffer_format(name, "%s %s", root->new_value, root->place.shown);
        return;
    }
    for (; *subject; ++subject) {
        keel_buffer_byte(name, (uint8_t)*subject);
        if (*subject == '[')
            while (keel_is_digit(subject[1]))
                ++subject;
    }
}

static keel_status_t add_growing(keel_why_t *why, const groups_t *groups, size_t first,
                                 size_t count) {
    keel_buffer_t values;
    keel_buffer_initialize(&values, 0);
    const char *last = "";
    size_t at = first, listed = 0;
    for (size_t i = 0; i < count; ++i, at = groups->mentions[at].next) {
        const char *subject = groups->mentions[at].root->subject;
        if (strcmp(subject, last) != 0) list_value(&values, listed++, subject);
        last = subject;
    }
    end_values(&values, listed, last);
    keel_status_t status =
        add_mentions(why, KEEL_PATTERN_GROWING, groups, first, count, "", &values);
    keel_buffer_deinitialize(&values);
    return status;
}

static keel_status_t find_growing(keel_why_t *why, const groups_t *groups, const group_t *group) {
    size_t began = group->first, count = 0, last = SIZE_MAX;
    for (size_t at = group->first;; at = groups->mentions[at].next) {
        const mention_t *one = at == SIZE_MAX ? NULL : &groups->mentions[at];
        if (count && !(one && grows_on(why, &groups->mentions[last], one))) {
            size_t least = is_unnamed(groups->mentions[began].root) ? LEAST_UNNAMED : LEAST_GROWN;
            if (count >= least) KEEL_TRY(add_growing(why, groups, began, count));
            count = 0;
        }
        if (!one) return NULL;
        if (!count++) began = at;
        last = at;
    }
}

// ---- subsets of optional arguments -------------------------------------------------------------

// Counts the recompiles, and the sets of arguments that came or went.
typedef struct subsets_t {
    keel_map_t sets, subjects;
    keel_buffer_t set, values;
    size_t entries;
    const char *last;
} subsets_t;

static keel_status_t meet_set(subsets_t *subsets) {
    ++subsets->entries;
    KEEL_TRY(keel_buffer_status(&subsets->set));
    KEEL_TRY(keel_map_put(&subsets->sets, keel_buffer_bytes(&subsets->set), 0));
    subsets->set.size = 0;
    return NULL;
}

static keel_status_t meet_argument(subsets_t *subsets, const keel_run_difference_t *root) {
    keel_bytes_t subject = keel_str_bytes(keel_str(root->subject));
    const char *const parts[] = {root->subject, root->old_value, root->new_value, root->note};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_buffer_append(&subsets->set, parts[i], strlen(parts[i]) + 1);
    if (keel_map_find(&subsets->subjects, subject)) return NULL;
    list_value(&subsets->values, subsets->subjects.count, root->subject);
    subsets->last = root->subject;
    return keel_map_put(&subsets->subjects, subject, 0);
}

static keel_status_t meet_group(subsets_t *subsets, const groups_t *groups, const group_t *group) {
    for (size_t at = group->first; at != SIZE_MAX; at = groups->mentions[at].next) {
        const mention_t *one = &groups->mentions[at];
        KEEL_TRY(meet_argument(subsets, one->root));
        if (one->next == SIZE_MAX || groups->mentions[one->next].entry != one->entry)
            KEEL_TRY(meet_set(subsets));
    }
    end_values(&subsets->values, subsets->subjects.count, subsets->last);
    return NULL;
}

static keel_status_t find_subsets(keel_why_t *why, const groups_t *groups, const group_t *group) {
    if (group->count < LEAST) return NULL;
    subsets_t subsets = {.last = ""};
    keel_map_initialize(&subsets.sets);
    keel_map_initialize(&subsets.subjects);
    keel_buffer_initialize(&subsets.set, 0);
    keel_buffer_initialize(&subsets.values, 0);
    keel_status_t status = meet_group(&subsets, groups, group);
    // The same key may come and go, because each program is compared with its nearest.
    if (!status && subsets.entries >= LEAST && subsets.sets.count >= 2)
        status = add_mentions(why, KEEL_PATTERN_SUBSETS, groups, group->first, group->count, "",
                              &subsets.values);
    keel_map_deinitialize(&subsets.sets);
    keel_map_deinitialize(&subsets.subjects);
    keel_buffer_deinitialize(&subsets.set);
    keel_buffer_deinitialize(&subsets.values);
    return status;
}

// ---- two that take turns -----------------------------------------------------------------------

static const char *key_of(const keel_why_t *why, const groups_t *groups, size_t at) {
    const keel_why_entry_t *entry = &why->entries[groups->mentions[at].entry];
    return *entry->asked->key ? entry->asked->key : entry->asked->program;
}

// What they differ in, if that is one thing; NULL if there is more, or it is unknown.
static const keel_run_difference_t *one_difference(const keel_why_t *why, const groups_t *groups,
                                                   size_t first, size_t count) {
    for (size_t at = first; count--; at = groups->mentions[at].next) {
        const keel_why_entry_t *entry = &why->entries[groups->mentions[at].entry];
        const keel_run_difference_t *root = keel_why_cause(entry);
        if (root && entry->root_total == 1 && *root->old_value && *root->new_value &&
            entry->asked->against_is_ours)
            return root;
    }
    return NULL;
}

static keel_status_t add_turns(keel_why_t *why, const groups_t *groups, size_t first,
                               size_t count) {
    size_t second = groups->mentions[first].next;
    keel_buffer_t values;
    keel_buffer_initialize(&values, 0);
    const keel_run_difference_t *root = one_difference(why, groups, first, count);
    if (root)
        keel_buffer_format(&values, "%s <-> %s", root->old_value, root->new_value);
    else
        keel_buffer_format(&values, "%.12s, %.12s",
                           why->entries[groups->mentions[first].entry].asked->program,
                           why->entries[groups->mentions[second].entry].asked->program);
    keel_status_t status = add_mentions(why, KEEL_PATTERN_ALTERNATING, groups, first, count,
                                        root ? root->subject : "", &values);
    keel_buffer_deinitialize(&values);
    return status;
}

static keel_status_t find_turns(keel_why_t *why, const groups_t *groups, const group_t *group) {
    size_t began = group->first, count = 0, previous = SIZE_MAX;
    const char *last = "", *before = "";
    for (size_t at = group->first; at != SIZE_MAX; at = groups->mentions[at].next) {
        const char *key = key_of(why, groups, at);
        bool goes_on = count == 1 ? strcmp(key, last) != 0
                                  : count > 1 && strcmp(key, before) == 0 && strcmp(key, last) != 0;
        if (count && !goes_on) {
            bool found = count >= LEAST_TURNS;
            if (found) KEEL_TRY(add_turns(why, groups, began, count));
            // The last one of the run that ended may begin the next.
            count = !found && strcmp(key, last) != 0;
            began = previous;
        }
        if (!count) began = at;
        ++count;
        before = last;
        last = key;
        previous = at;
    }
    return count >= LEAST_TURNS ? add_turns(why, groups, began, count) : NULL;
}

// ---- all together ------------------------------------------------------------------------------

// What mentions of one kind must share; "" fields do not count.
static void name_group(keel_buffer_t *name, const keel_why_entry_t *entry,
                       const keel_run_difference_t *root, keel_pattern_kind_t kind) {
    name->size = 0;
    keel_str_t function = keel_origin_place(keel_str(entry->asked->origin));
    keel_buffer_append(name, entry->asked->name, strlen(entry->asked->name) + 1);
    keel_buffer_append(name, function.data, function.size);
    keel_buffer_byte(name, 0);
    if (kind == KEEL_PATTERN_ALTERNATING)
        keel_buffer_format(name, "%lld", (long long)entry->asked->pid);
    if (kind == KEEL_PATTERN_GROWING) name_list(name, root);
    if (kind != KEEL_PATTERN_COUNTER && kind != KEEL_PATTERN_UNPADDED) return;
    keel_buffer_format(name, "%d", (int)root->kind);
    keel_buffer_append(name, root->subject, strlen(root->subject) + 1);
    // An argument may be passed on several lines; an operation is identified by its own line.
    if (root->kind != KEEL_CAUSE_SHAPE) keel_buffer_text(name, root->place.shown);
}

// True for arguments that the caller chose to pass or not: what came about otherwise has its own
// note, with its own remedy.
static bool is_callers_choice(const keel_run_difference_t *root) {
    return root->kind == KEEL_CAUSE_ARGUMENTS &&
           (!keel_note_advice(root->note) || keel_note_leads(root->note, KEEL_NOTE_LEFT_OUT));
}

static bool is_of(const keel_run_difference_t *root, keel_pattern_kind_t kind) {
    switch (kind) {
        case KEEL_PATTERN_COUNTER:
            return root->kind == KEEL_CAUSE_CONSTANT;
        case KEEL_PATTERN_UNPADDED:
            return root->kind == KEEL_CAUSE_SHAPE || root->kind == KEEL_CAUSE_SIZE;
        case KEEL_PATTERN_SUBSETS:
            return is_callers_choice(root);
        case KEEL_PATTERN_GROWING:
            return is_callers_choice(root) && strcmp(root->old_value, "absent") == 0;
        default:
            return false;
    }
}

// A list that grows makes other sets of arguments too.
static bool has_pattern(const keel_why_t *why, const keel_why_entry_t *entry,
                        keel_pattern_kind_t kind) {
    return kind == KEEL_PATTERN_SUBSETS && entry->pattern_index != KEEL_NONE &&
           why->patterns[entry->pattern_index].kind == KEEL_PATTERN_GROWING;
}

static keel_status_t gather_mentions(const keel_why_t *why, keel_pattern_kind_t kind,
                                     keel_buffer_t *name, groups_t *groups) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (entry->asked->is_eager || entry->leader != KEEL_NONE || has_pattern(why, entry, kind))
            continue;
        bool turns = kind == KEEL_PATTERN_ALTERNATING;
        for (size_t j = 0; !turns && keel_why_is_shown(entry) && j < entry->root_count; ++j) {
            const keel_run_difference_t *root = &entry->roots[j];
            if (!is_of(root, kind)) continue;
            name_group(name, entry, root, kind);
            KEEL_TRY(keel_buffer_status(name));
            KEEL_TRY(mention(groups, keel_buffer_bytes(name), i, root));
        }
        if (!turns) continue;
        name_group(name, entry, NULL, kind);
        KEEL_TRY(keel_buffer_status(name));
        KEEL_TRY(mention(groups, keel_buffer_bytes(name), i, keel_why_cause(entry)));
    }
    return NULL;
}

static keel_status_t find_of_kind(keel_why_t *why, keel_pattern_kind_t kind) {
    static keel_status_t (*const finders[])(keel_why_t *, const groups_t *, const group_t *) = {
        [KEEL_PATTERN_GROWING] = find_growing,   [KEEL_PATTERN_COUNTER] = find_counters,
        [KEEL_PATTERN_UNPADDED] = find_unpadded, [KEEL_PATTERN_ALTERNATING] = find_turns,
        [KEEL_PATTERN_SUBSETS] = find_subsets,
    };
    groups_t groups;
    keel_buffer_t name;
    initialize_groups(&groups);
    keel_buffer_initialize(&name, 0);
    keel_status_t status = gather_mentions(why, kind, &name, &groups);
    for (size_t i = 0; !status && i < groups.group_count; ++i)
        status = finders[kind](why, &groups, &groups.groups[i]);
    keel_buffer_deinitialize(&name);
    deinitialize(&groups);
    return status;
}

keel_status_t keel_why_find_patterns(keel_why_t *why) {
    for (unsigned kind = 0; kind < KEEL_PATTERN_EAGER; ++kind)
        KEEL_TRY(find_of_kind(why, (keel_pattern_kind_t)kind));
    return NULL;
}
