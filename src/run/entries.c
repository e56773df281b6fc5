// What an "explain" event of the journal says about a program.
#include "run/steps.h"

typedef struct entry_context_t {
    const char *folder; // of the run
    keel_texts_t *texts;
} entry_context_t;

static uint32_t index_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    return number < 0 || number >= (json_int_t)KEEL_NONE ? KEEL_NONE : (uint32_t)number;
}

// More than any Keel writes.
static size_t length_of(const json_t *list) {
    enum { MOST = 4096 };
    size_t length = json_array_size(list);
    return length < MOST ? length : MOST;
}

static keel_status_t numbers_of(const entry_context_t *to, const json_t *list, const uint32_t **out,
                                size_t *out_count) {
    void *memory;
    if (!length_of(list)) return NULL;
    KEEL_TRY(keel_texts_array(to->texts, length_of(list), sizeof **out, &memory));
    uint32_t *numbers = memory;
    for (size_t i = 0; i < length_of(list); ++i) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        if (number >= 0 && number < KEEL_NONE) numbers[(*out_count)++] = (uint32_t)number;
    }
    *out = numbers;
    return NULL;
}

static keel_status_t difference_of(const entry_context_t *to, const json_t *object,
                                   keel_run_difference_t *out) {
    out->old_op = index_of(object, "old_op");
    out->new_op = index_of(object, "new_op");
    out->follows = index_of(object, "follows");
    out->folds = keel_event_line(object, "folds");
    KEEL_TRY(numbers_of(to, json_object_get(object, "arguments"), &out->arguments,
                        &out->argument_count));
    KEEL_TRY(keel_event_keep_field(to->texts, object, "subject", &out->subject));
    KEEL_TRY(keel_event_keep_field(to->texts, object, "old", &out->old_value));
    KEEL_TRY(keel_event_keep_field(to->texts, object, "new", &out->new_value));
    KEEL_TRY(keel_event_keep_field(to->texts, object, "note", &out->note));
    return keel_event_site(to->texts, object, to->folder, &out->place);
}

// Only those of known kinds: a later Keel may have more.
static keel_status_t differences_of(const entry_context_t *to, const json_t *list,
                                    keel_run_difference_t **out, size_t *out_count) {
    void *memory;
    KEEL_TRY(keel_texts_array(to->texts, length_of(list), sizeof **out, &memory));
    *out = memory;
    for (size_t i = 0; i < length_of(list); ++i) {
        const json_t *object = json_array_get(list, i);
        keel_cause_t kind = keel_cause_by_word(keel_event_text(object, "kind"));
        if (kind == KEEL_CAUSE_COUNT) continue;
        keel_run_difference_t *difference = &(*out)[*out_count];
        *difference = (keel_run_difference_t){.kind = kind};
        KEEL_TRY(difference_of(to, object, difference));
        ++*out_count;
    }
    return NULL;
}

// If some roots were skipped, the indices of the others are not those of the journal.
static void settle_folded(keel_run_entry_t *entry, const json_t *roots) {
    bool whole = entry->root_count == json_array_size(roots);
    for (size_t i = 0; i < entry->folded_count; ++i)
        if (!whole || entry->folded[i].follows >= entry->root_count)
            entry->folded[i].follows = KEEL_NONE;
}

static keel_status_t stack_of(const entry_context_t *to, const json_t *list,
                              keel_run_entry_t *entry) {
    void *memory;
    KEEL_TRY(keel_texts_array(to->texts, length_of(list), sizeof *entry->stack, &memory));
    entry->stack = memory;
    for (; entry->stack_count < length_of(list); ++entry->stack_count) {
        const json_t *object = json_array_get(list, entry->stack_count);
        keel_run_frame_t *frame = &entry->stack[entry->stack_count];
        frame->line = keel_event_line(object, "line");
        KEEL_TRY(keel_event_keep_field(to->texts, object, "file", &frame->file));
        KEEL_TRY(keel_event_keep_field(to->texts, object, "function", &frame->function));
        KEEL_TRY(keel_event_place(to->texts, frame->file, frame->line, to->folder, &frame->shown));
    }
    return NULL;
}

static keel_status_t made_of(const entry_context_t *to, const json_t *list,
                             keel_run_entry_t *entry) {
    void *memory;
    KEEL_TRY(keel_texts_array(to->texts, length_of(list), sizeof *entry->made, &memory));
    entry->made = memory;
    for (; entry->made_count < length_of(list); ++entry->made_count)
        KEEL_TRY(keel_event_site(to->texts, json_array_get(list, entry->made_count), to->folder,
                                 &entry->made[entry->made_count]));
    return NULL;
}

static keel_status_t against_of(const entry_context_t *to, const json_t *against,
                                keel_run_entry_t *entry) {
    entry->against_when = keel_event_number(against, "when");
    entry->is_compared = against;
    entry->against_is_ours = json_is_true(json_object_get(against, "is_ours"));
    entry->is_another_function = json_is_true(json_object_get(against, "is_another_function"));
    KEEL_TRY(keel_event_keep_field(to->texts, against, "program", &entry->against_program));
    KEEL_TRY(keel_event_keep_field(to->texts, against, "name", &entry->against_name));
    return keel_event_keep_field(to->texts, against, "run", &entry->against_run);
}

static keel_status_t entry_of(const entry_context_t *to, const json_t *event,
                              keel_run_entry_t *entry) {
    const json_t *roots = json_object_get(event, "roots");
    entry->t = keel_event_number(event, "t");
    entry->pid = json_integer_value(json_object_get(event, "pid"));
    entry->recompile = json_is_true(json_object_get(event, "recompile"));
    entry->unrelated = json_is_true(json_object_get(event, "unrelated"));
    entry->alike = keel_event_number(event, "alike");
    entry->root_total = keel_event_count(event, "root_total");
    entry->folded_total = keel_event_count(event, "folded_total");
    KEEL_TRY(keel_event_keep_field(to->texts, event, "what", &entry->what));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "miss_note", &entry->miss));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "name", &entry->name));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "origin", &entry->origin));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "program", &entry->program));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "key", &entry->key));
    KEEL_TRY(keel_event_site(to->texts, json_object_get(event, "site"), to->folder, &entry->site));
    KEEL_TRY(against_of(to, json_object_get(event, "against"), entry));
    KEEL_TRY(differences_of(to, roots, &entry->roots, &entry->root_count));
    KEEL_TRY(
        differences_of(to, json_object_get(event, "folded"), &entry->folded, &entry->folded_count));
    settle_folded(entry, roots);
    if (entry->root_total < entry->root_count) entry->root_total = entry->root_count;
    if (entry->folded_total < entry->folded_count) entry->folded_total = entry->folded_count;
    KEEL_TRY(keel_event_keep_field(to->texts, event, "stack_skipped", &entry->stack_skipped));
    entry->stops = json_is_true(json_object_get(event, "stops"));
    KEEL_TRY(numbers_of(to, json_object_get(event, "left"), &entry->left, &entry->left_count));
    KEEL_TRY(made_of(to, json_object_get(event, "made"), entry));
    return stack_of(to, json_object_get(event, "stack"), entry);
}

keel_status_t keel_run_read_entry(const json_t *event, const char *folder, keel_texts_t *texts,
                                  keel_run_entry_t *entry) {
    return entry_of(&(entry_context_t){folder, texts}, event, entry);
}
