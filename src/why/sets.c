// Finite sets: what a warm-up asks for, such as the buckets of a server. One line asks for programs
// of one function, and each ran at most once before the last of them was there: the run did not
// need them yet. If the same line had asked for another program later, the set would not be finite.
#include "host/host.h"
#include "journal/steps.h"
#include "why/internal.h"

// Programs of one function that one stack asked for in one process.
typedef struct group_t {
    size_t first, last; // entries
    uint64_t programs;
    const keel_run_difference_t *root; // of the first recompile; NULL: none
    const char *first_program; // the function's, if it is counted but has no entry; NULL: it is not
    bool is_one_subject;       // of all recompiles
    bool is_accident;          // traced again, or for another device or setting: no choice of sizes
    bool has_gradient;         // the function computes gradients
    bool is_used;              // one ran after the last was asked for
    uint64_t last_step;
    keel_took_t took; // of all programs
    uint32_t set;     // from 1; 0: it is none
} group_t;

typedef struct groups_t {
    group_t *list;
    size_t count, room;
    keel_map_t index;
    size_t *of; // by entry: its group, from 1; 0: none
} groups_t;

static void name_group(keel_buffer_t *name, const keel_run_entry_t *asked) {
    name->size = 0;
    keel_str_t function = keel_origin_place(keel_str(asked->origin));
    keel_buffer_format(name, "%lld %s\n%u ", (long long)asked->pid, asked->name, asked->site.line);
    keel_buffer_text(name, asked->site.file);
    keel_buffer_append(name, function.data, function.size);
    for (size_t i = 0; i < asked->stack_count; ++i)
        keel_buffer_format(name, "\n%u %s", asked->stack[i].line, asked->stack[i].file);
}

static bool is_member(const keel_why_entry_t *entry) {
    const keel_run_entry_t *asked = entry->asked;
    return !asked->is_eager && !asked->is_refused && !keel_run_is_retrace(asked) &&
           *asked->site.file && !entry->left_out;
}

static keel_status_t add_entry(groups_t *groups, const keel_why_t *why, size_t index,
                               keel_buffer_t *name) {
    const keel_why_entry_t *entry = &why->entries[index];
    name_group(name, entry->asked);
    KEEL_TRY(keel_buffer_status(name));
    const uint64_t *known = keel_map_find(&groups->index, keel_buffer_bytes(name));
    size_t at = known ? (size_t)*known : groups->count;
    if (!known) {
        void *grown = groups->list;
        KEEL_TRY(keel_grow_array(at, sizeof *groups->list, &groups->room, &grown));
        groups->list = grown;
        groups->list[at] = (group_t){.first = index, .is_one_subject = true};
        ++groups->count;
        KEEL_TRY(keel_map_put(&groups->index, keel_buffer_bytes(name), at));
    }
    group_t *group = &groups->list[at];
    const keel_run_difference_t *root = entry->recompile ? keel_why_cause(entry) : NULL;
    if (!group->root) group->root = root;
    if (root && (root->kind == KEEL_CAUSE_RETRACE || root->kind == KEEL_CAUSE_DONATION ||
                 keel_cause_facts(root->kind)->question == KEEL_QUESTION_POLICY))
        group->is_accident = true;
    if (entry->recompile && (!root || root->kind != group->root->kind ||
                             strcmp(root->subject, group->root->subject) != 0))
        group->is_one_subject = false;
    groups->of[index] = at + 1;
    group->last = index;
    ++group->programs;
    if (entry->asked->step > group->last_step) group->last_step = entry->asked->step;
    keel_took_add(&group->took, &entry->asked->took);
    return NULL;
}

static bool is_finite(const group_t *group) {
    return group->programs >= KEEL_JOURNAL_WARM_LEAST && !group->is_accident;
}

// A training step that ran has trained: for it the set ends before its first execution.
static bool is_before_use(const keel_why_t *why, group_t *group) {
    const keel_run_entry_t *last = why->entries[group->last].asked;
    keel_run_uses_t uses = keel_run_uses(&why->run, last->program, last->pid);
    group->has_gradient = uses.has_gradient;
    const keel_journal_function_t function = {
        .programs = uses.others, .executions = uses.before, .has_gradient = uses.has_gradient};
    return is_finite(group) && (!uses.before || keel_journal_warms_up(function));
}

// Sizes that never end look like a set until the run ends. So an earlier one must run after the
// last was asked for, unless the user's code says that every program has been seen. Executions of
// the name do not tell that: many functions are called `<lambda>`.
static bool is_proved_by(const keel_why_t *why, const group_t *group, const char *program) {
    const keel_run_entry_t *last = why->entries[group->last].asked;
    return keel_run_is_seen(&why->run, last->program, last->pid) ||
           keel_run_ran_after(&why->run, program, last->program, last->pid);
}

static void find_used(const keel_why_t *why, groups_t *groups) {
    for (size_t i = 0; i < groups->count; ++i) {
        group_t *group = &groups->list[i];
        group->is_used = group->first_program && is_proved_by(why, group, group->first_program);
    }
    for (size_t i = 0; i < why->entry_count; ++i) {
        group_t *group = groups->of[i] ? &groups->list[groups->of[i] - 1] : NULL;
        if (!group || group->is_used || i == group->last) continue;
        group->is_used = is_proved_by(why, group, why->entries[i].asked->program);
    }
}

static keel_status_t add_set(keel_why_t *why, const group_t *group) {
    void *grown = why->sets;
    KEEL_TRY(keel_realloc_array(why->set_count + 1, sizeof *why->sets, &grown));
    why->sets = grown;
    const keel_run_entry_t *first = why->entries[group->first].asked;
    bool is_of_sizes =
        group->root && group->is_one_subject &&
        (group->root->kind == KEEL_CAUSE_SHAPE || group->root->kind == KEEL_CAUSE_SIZE);
    why->sets[why->set_count++] =
        (keel_why_set_t){.name = first->name,
                         .place = first->site,
                         .subject = is_of_sizes ? group->root->subject : "",
                         .programs = group->programs,
                         .is_of_sizes = is_of_sizes,
                         .last_step = group->last_step,
                         .took = group->took};
    return NULL;
}

// By process: the last set that is used.
static keel_status_t find_ends(const keel_why_t *why, groups_t *groups, keel_map_t *out) {
    for (size_t i = 0; i < groups->count; ++i) {
        group_t *group = &groups->list[i];
        const int64_t pid = why->entries[group->last].asked->pid;
        if (!is_before_use(why, group) || !group->is_used) continue;
        const uint64_t *known = keel_map_find(out, keel_bytes(&pid, sizeof pid));
        if (!known || groups->list[*known].last < group->last)
            KEEL_TRY(keel_map_put(out, keel_bytes(&pid, sizeof pid), i));
    }
    return NULL;
}

// What ran once and never again belongs to the warm-up too, if it came before the end of another
// set of the process; and so does what began and ended within that, such as a decode for each
// bucket of a prefill.
static keel_status_t choose(keel_why_t *why, groups_t *groups, const keel_map_t *ends) {
    for (size_t i = 0; i < groups->count; ++i) {
        group_t *group = &groups->list[i];
        const int64_t pid = why->entries[group->last].asked->pid;
        const uint64_t *end = keel_map_find(ends, keel_bytes(&pid, sizeof pid));
        const group_t *set = end ? &groups->list[*end] : NULL;
        if (!set || set->last < group->last) continue;
        bool is_in_it =
            group->is_used && !group->has_gradient && is_finite(group) && set->first < group->first;
        if (!is_before_use(why, group) && !is_in_it) continue;
        KEEL_TRY(add_set(why, group));
        group->set = (uint32_t)why->set_count;
    }
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        uint32_t set = groups->of[i] ? groups->list[groups->of[i] - 1].set : 0;
        if (!set) continue;
        entry->set = set;
        entry->left_out = true;
        bool is_again = entry->recompile && entry->asked->is_compile;
        if (is_again && why->recompiles) --why->recompiles;
    }
    return NULL;
}

static keel_status_t gather(keel_why_t *why, groups_t *groups) {
    void *memory;
    keel_buffer_t name;
    KEEL_TRY(keel_calloc(why->entry_count, sizeof *groups->of, &memory));
    groups->of = memory;
    keel_buffer_initialize(&name, 0);
    keel_status_t status = NULL;
    for (size_t i = 0; !status && i < why->entry_count; ++i)
        if (is_member(&why->entries[i])) status = add_entry(groups, why, i, &name);
    keel_buffer_deinitialize(&name);
    return status;
}

// A function's first program, if it is loaded, needs no explanation. The line that asked for it
// asks for the others.
static bool is_first_of(const keel_why_t *why, const keel_run_request_t *request,
                        const group_t *group) {
    const keel_run_entry_t *next = why->entries[group->first].asked;
    return next->pid == request->pid && next->t >= request->t &&
           next->site.line == request->site.line && strcmp(next->name, request->name) == 0 &&
           strcmp(next->site.file, request->site.file) == 0;
}

static void add_firsts(const keel_why_t *why, groups_t *groups) {
    for (size_t i = 0; i < why->run.request_count; ++i) {
        const keel_run_request_t *request = &why->run.requests[i];
        bool is_known = request->entry != SIZE_MAX || request->operation != SIZE_MAX ||
                        request->is_repeat || request->from_memory;
        if (is_known || keel_run_uses(&why->run, request->program, request->pid).others) continue;
        size_t at = 0;
        while (at < groups->count && !is_first_of(why, request, &groups->list[at]))
            ++at;
        if (at == groups->count || groups->list[at].first_program) continue;
        groups->list[at].first_program = request->program;
        ++groups->list[at].programs;
        keel_took_add(&groups->list[at].took, &request->took);
    }
}

// Clients that record what they run compile it when it is needed.
keel_status_t keel_why_find_sets(keel_why_t *why) {
    keel_framework_t framework;
    keel_why_framework(why, &framework);
    if (framework != KEEL_FRAMEWORK_JAX) return NULL;
    groups_t groups = {0};
    keel_map_t ends;
    keel_map_initialize(&groups.index);
    keel_map_initialize(&ends);
    keel_status_t status = gather(why, &groups);
    if (!status) add_firsts(why, &groups);
    if (!status) find_used(why, &groups);
    if (!status) status = find_ends(why, &groups, &ends);
    if (!status) status = choose(why, &groups, &ends);
    keel_map_deinitialize(&ends);
    keel_map_deinitialize(&groups.index);
    keel_free(groups.list);
    keel_free(groups.of);
    return status;
}
