// A journal read for what was compiled, and why.
#include <stdlib.h>

#include "host/source.h"
#include "report/steps.h"
#include "report/why_internal.h"

// ---- one event ---------------------------------------------------------------------------------

static keel_status_t keep(keel_why_t *why, const json_t *object, const char *name,
                          const char **out) {
    return keel_event_keep(&why->texts, keel_event_text(object, name), out);
}

static keel_status_t place_of(keel_why_t *why, const json_t *object, keel_why_place_t *out) {
    out->line = keel_event_line(object, "line");
    out->call_line = keel_event_line(object, "call_line");
    KEEL_TRY(keep(why, object, "file", &out->file));
    KEEL_TRY(keep(why, object, "function", &out->function));
    KEEL_TRY(keep(why, object, "call_file", &out->call_file));
    out->library_line = keel_event_line(object, "library_line");
    KEEL_TRY(keep(why, object, "library_file", &out->library_file));
    KEEL_TRY(keel_event_place(&why->texts, keel_library_shown(out->library_file), out->library_line,
                              why->cwd, &out->library_shown));
    KEEL_TRY(keel_event_place(&why->texts, out->file, out->line, why->cwd, &out->shown));
    return keel_event_place(&why->texts, out->call_file, out->call_line, why->cwd,
                            &out->call_shown);
}

static uint32_t index_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    return number < 0 || number >= (json_int_t)KEEL_NONE ? KEEL_NONE : (uint32_t)number;
}

static keel_status_t difference_of(keel_why_t *why, const json_t *object,
                                   keel_why_difference_t *out) {
    out->old_op = index_of(object, "old_op");
    out->new_op = index_of(object, "new_op");
    out->follows = index_of(object, "follows");
    out->folds = keel_event_line(object, "folds");
    KEEL_TRY(keep(why, object, "subject", &out->subject));
    KEEL_TRY(keep(why, object, "old", &out->old_value));
    KEEL_TRY(keep(why, object, "new", &out->new_value));
    KEEL_TRY(keep(why, object, "note", &out->note));
    return place_of(why, object, &out->place);
}

// More than any Keel writes.
static size_t length_of(const json_t *list) {
    enum { MOST = 4096 };
    size_t length = json_array_size(list);
    return length < MOST ? length : MOST;
}

// Those whose kind is known: a later Keel may have more.
static keel_status_t differences_of(keel_why_t *why, const json_t *list,
                                    keel_why_difference_t **out, size_t *out_count) {
    void *memory;
    KEEL_TRY(keel_arena_array(&why->texts, length_of(list), sizeof **out, &memory));
    *out = memory;
    for (size_t i = 0; i < length_of(list); ++i) {
        const json_t *object = json_array_get(list, i);
        keel_cause_t kind = keel_cause_by_word(keel_event_text(object, "kind"));
        if (kind == KEEL_CAUSE_COUNT) continue;
        keel_why_difference_t *difference = &(*out)[*out_count];
        *difference = (keel_why_difference_t){.kind = kind};
        KEEL_TRY(difference_of(why, object, difference));
        ++*out_count;
    }
    return NULL;
}

// Where some roots were passed over, the indices of the others are not those of the journal.
static void settle_folded(keel_why_entry_t *entry, const json_t *roots) {
    bool whole = entry->root_count == json_array_size(roots);
    for (size_t i = 0; i < entry->folded_count; ++i)
        if (!whole || entry->folded[i].follows >= entry->root_count)
            entry->folded[i].follows = KEEL_NONE;
}

static bool is_told(const keel_why_entry_t *entry, keel_note_t note) {
    const keel_why_difference_t *cause = keel_why_cause(entry);
    return cause && keel_note_leads(cause->note, note);
}

// What is known of a cause stands before what the comparison noted.
static keel_status_t lead_note(keel_why_t *why, keel_note_t note, const char **inout) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s%s%s", keel_note_text(note), **inout ? "; " : "", *inout);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_event_keep(&why->texts, keel_buffer_cstr(&text), inout);
    keel_buffer_deinitialize(&text);
    return status;
}

// A step without the optimizer may be skipped on purpose. Where the program that it was held
// against runs never again, the optimizer has other tensors.
static keel_status_t find_idle(keel_why_t *why, const keel_steps_t *steps) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        if (!is_told(entry, KEEL_NOTE_IDLE) || !entry->against_is_ours) continue;
        if (keel_steps_runs_behind(steps, entry->against_program, entry->program, entry->pid))
            continue;
        entry->roots[0].note = "";
        KEEL_TRY(lead_note(why, KEEL_NOTE_REPLACED, &entry->roots[0].note));
    }
    return NULL;
}

// Gradients of tensors that were put in the place of others are added to for want of an optimizer
// that zeroes them.
static keel_status_t follow_replaced(keel_why_t *why, size_t index) {
    keel_why_entry_t *entry = &why->entries[index];
    if (!entry->root_count || entry->roots[0].kind != KEEL_CAUSE_GRADIENT) return NULL;
    bool is_replaced = false;
    for (size_t i = 0; i < index && !is_replaced; ++i)
        is_replaced = strcmp(why->entries[i].program, entry->against_program) == 0 &&
                      is_told(&why->entries[i], KEEL_NOTE_REPLACED);
    if (!is_replaced) return NULL;
    return lead_note(why, KEEL_NOTE_NOT_ZEROED, &entry->roots[0].note);
}

static keel_status_t stack_of(keel_why_t *why, const json_t *list, keel_why_entry_t *entry) {
    void *memory;
    KEEL_TRY(keel_arena_array(&why->texts, length_of(list), sizeof *entry->stack, &memory));
    entry->stack = memory;
    for (; entry->stack_count < length_of(list); ++entry->stack_count) {
        const json_t *object = json_array_get(list, entry->stack_count);
        keel_why_frame_t *frame = &entry->stack[entry->stack_count];
        frame->line = keel_event_line(object, "line");
        KEEL_TRY(keep(why, object, "file", &frame->file));
        KEEL_TRY(keep(why, object, "function", &frame->function));
        KEEL_TRY(keel_event_place(&why->texts, frame->file, frame->line, why->cwd, &frame->shown));
    }
    return NULL;
}

static keel_status_t against_of(keel_why_t *why, const json_t *against, keel_why_entry_t *entry) {
    entry->against_when = keel_event_number(against, "when");
    entry->against_is_ours = json_is_true(json_object_get(against, "is_ours"));
    KEEL_TRY(keep(why, against, "program", &entry->against_program));
    KEEL_TRY(keep(why, against, "name", &entry->against_name));
    return keep(why, against, "run", &entry->against_run);
}

static keel_status_t entry_of(keel_why_t *why, const json_t *event, keel_why_entry_t *entry) {
    const json_t *roots = json_object_get(event, "roots");
    entry->t = keel_event_number(event, "t");
    entry->pid = json_integer_value(json_object_get(event, "pid"));
    entry->seconds = keel_event_number(event, "seconds");
    entry->recompile = json_is_true(json_object_get(event, "recompile"));
    entry->unrelated = json_is_true(json_object_get(event, "unrelated"));
    entry->alike = keel_event_number(event, "alike");
    entry->root_total = keel_event_count(event, "root_total");
    entry->folded_total = keel_event_count(event, "folded_total");
    entry->pattern = "";
    entry->pattern_index = KEEL_NONE;
    KEEL_TRY(keep(why, event, "what", &entry->what));
    KEEL_TRY(keep(why, event, "name", &entry->name));
    KEEL_TRY(keep(why, event, "program", &entry->program));
    KEEL_TRY(keep(why, event, "key", &entry->key));
    KEEL_TRY(place_of(why, json_object_get(event, "site"), &entry->site));
    KEEL_TRY(against_of(why, json_object_get(event, "against"), entry));
    KEEL_TRY(differences_of(why, roots, &entry->roots, &entry->root_count));
    KEEL_TRY(differences_of(why, json_object_get(event, "folded"), &entry->folded,
                            &entry->folded_count));
    settle_folded(entry, roots);
    if (entry->root_total < entry->root_count) entry->root_total = entry->root_count;
    if (entry->folded_total < entry->folded_count) entry->folded_total = entry->folded_count;
    KEEL_TRY(keep(why, event, "stack_skipped", &entry->stack_skipped));
    return stack_of(why, json_object_get(event, "stack"), entry);
}

// ---- the journal -------------------------------------------------------------------------------

static keel_status_t add_entry(keel_why_t *why, keel_steps_t *steps, const json_t *event,
                               uint64_t step) {
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_explained(steps, event, &request));
    void *grown = why->entries;
    KEEL_TRY(keel_realloc_array(why->entry_count + 1, sizeof *why->entries, &grown));
    why->entries = grown;
    keel_why_entry_t *entry = &why->entries[why->entry_count];
    *entry = (keel_why_entry_t){.step = request ? request->step : step, .operation = SIZE_MAX};
    if (request) entry->operation = request->operation;
    entry->is_eager = entry->operation != SIZE_MAX;
    KEEL_TRY(entry_of(why, event, entry));
    ++why->entry_count;
    return NULL;
}

static keel_status_t meet_start(keel_why_t *why, const json_t *event) {
    why->has_lines |= *keel_event_text(json_object_get(event, "flags"), "XLA_HLO_DEBUG");
    if (*why->cwd || *why->command) return NULL; // the run's first process speaks for it
    KEEL_TRY(keep(why, event, "cwd", &why->cwd));
    return keel_event_joined(&why->texts, json_object_get(event, "argv"), &why->command);
}

static void meet_request(keel_why_t *why, const json_t *event, bool compile) {
    const char *name = keel_event_text(event, "name");
    why->compiles += compile;
    if (compile) why->compile_seconds += keel_event_number(event, "seconds");
    why->recompiles += compile && json_is_true(json_object_get(event, "recompile"));
    if (strncmp(name, "jit_", 4) == 0 || strncmp(name, "pmap_", 5) == 0)
        why->framework = "jax";
    else if (!*why->framework && strcmp(keel_event_text(event, "format"), "hlo") == 0)
        why->framework = "torch";
}

static keel_status_t meet_event(keel_why_t *why, keel_steps_t *steps, const json_t *event) {
    keel_steps_process_t *process;
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_advance(steps, event, &process, &request));
    const char *kind = keel_event_text(event, "event");
    bool is_compile = strcmp(kind, "compile") == 0;
    if (request) meet_request(why, event, is_compile);
    if (is_compile && request->operation != SIZE_MAX)
        KEEL_TRY(keel_eager_add(&why->eager, event, why->cwd, &why->texts));
    if (strcmp(kind, "start") == 0) return meet_start(why, event);
    if (strcmp(kind, "source") == 0)
        return keel_source_note(&why->sources, keel_event_text(event, "file"),
                                keel_event_text(event, "digest"));
    if (strcmp(kind, "fix") == 0) return keel_fixes_add(&why->fixes, event, &why->texts);
    if (strcmp(kind, "explain") != 0)
        return keel_asides_add(&why->asides, event, why->cwd, &why->texts);
    return add_entry(why, steps, event, process->steps + 1);
}

// What came behind the last step held up none; of a process that has not ended nobody knows.
static void find_ends(keel_why_t *why, const keel_steps_t *steps) {
    for (size_t i = 0; i < steps->process_count; ++i)
        why->unfinished += !steps->processes[i].ended;
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        uint64_t last = 0;
        for (size_t j = 0; j < steps->process_count; ++j)
            if (steps->processes[j].pid == entry->pid && steps->processes[j].ended)
                last = steps->processes[j].steps;
        entry->at_end = last && entry->step > last;
    }
}

// "i64[140,2]": places of what a mask leaves.
static bool is_of_places(const char *type) {
    const char *comma = strchr(type, ',');
    return strncmp(type, "i64[", 4) == 0 && comma && !strchr(comma + 1, ',');
}

static bool reads_at(const keel_why_t *why, const keel_why_place_t *place) {
    for (size_t i = 0; i < why->reads.count; ++i)
        if (why->reads.lines[i].line == place->line && why->reads.lines[i].moved.count &&
            strcmp(why->reads.lines[i].file, place->file) == 0)
            return true;
    return false;
}

static bool counts_on_host(const keel_why_t *why) {
    for (size_t i = 0; i < why->asides.op_count; ++i)
        if (strcmp(why->asides.ops[i].name, "aten::nonzero") == 0) return true;
    return false;
}

// PyTorch/XLA computes x[mask] from the places where the mask is true, which the host finds: a read
// and another shape, of one line.
static keel_status_t find_counted(keel_why_t *why) {
    if (!counts_on_host(why)) return NULL;
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        for (size_t j = 0; j < entry->root_count; ++j) {
            keel_why_difference_t *root = &entry->roots[j];
            if (root->kind == KEEL_CAUSE_SHAPE && is_of_places(root->old_value) &&
                is_of_places(root->new_value) && reads_at(why, &root->place))
                KEEL_TRY(lead_note(why, KEEL_NOTE_COUNTED, &root->note));
        }
    }
    return NULL;
}

// Another program of a function with nothing in common is JAX's way with two functions of one name.
// PyTorch/XLA asks for it where it had recorded another: that is a recompile, and nothing tells
// why.
static void leave_out_strangers(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        bool is_again = entry->recompile && strcmp(entry->what, "compile") == 0;
        entry->left_out = entry->unrelated && (!is_again || strcmp(why->framework, "torch") != 0);
        if (entry->left_out && is_again && why->recompiles) --why->recompiles;
    }
}

static keel_status_t meet_all(keel_why_t *why, keel_steps_t *steps) {
    size_t index;
    json_t *event;
    json_array_foreach(steps->events, index, event) KEEL_TRY(meet_event(why, steps, event));
    leave_out_strangers(why);
    find_ends(why, steps);
    for (size_t i = 0; i < steps->program_count; ++i)
        why->executions += steps->programs[i].executes;
    keel_asides_settle(&why->asides);
    KEEL_TRY(keel_reads_read(steps, why->cwd, &why->texts, &why->reads));
    KEEL_TRY(find_counted(why));
    KEEL_TRY(find_idle(why, steps));
    for (size_t i = 0; i < why->entry_count; ++i)
        KEEL_TRY(follow_replaced(why, i));
    KEEL_TRY(keel_why_follow_reads(why));
    KEEL_TRY(keel_why_find_eager(why, steps));
    KEEL_TRY(keel_why_settle_numbers(why));
    KEEL_TRY(keel_why_find_patterns(why));
    return keel_why_sum_up(why);
}

static keel_status_t parse(keel_bytes_t bytes, const char *id, const char *path, bool whole,
                           keel_why_t *why) {
    keel_steps_t steps;
    KEEL_TRY(keel_event_keep(&why->texts, id, &why->id));
    KEEL_TRY(keel_event_keep(&why->texts, path, &why->path));
    keel_status_t status = keel_steps_read(bytes, whole, &steps, &why->damage);
    if (!status) status = meet_all(why, &steps);
    keel_steps_deinitialize(&steps);
    return status;
}

static keel_status_t parse_from(keel_bytes_t bytes, const char *id, const char *path, bool whole,
                                keel_why_t *out) {
    *out = (keel_why_t){.id = "", .command = "", .cwd = "", .framework = "", .path = ""};
    keel_arena_initialize(&out->texts, 0);
    keel_map_initialize(&out->sources);
    keel_status_t status = parse(bytes, id, path, whole, out);
    if (status) keel_why_deinitialize(out);
    return status;
}

keel_status_t keel_why_parse(keel_bytes_t bytes, const char *id, keel_why_t *out) {
    return parse_from(bytes, id, "", true, out);
}

keel_status_t keel_why_parse_brief(keel_bytes_t bytes, keel_why_t *out) {
    return parse_from(bytes, "", "", false, out);
}

keel_status_t keel_why_read(const char *run_dir, const char *id, bool whole, keel_why_t *out) {
    keel_journal_file_t journal;
    *out = (keel_why_t){0};
    KEEL_TRY(keel_journal_file_read(run_dir, id, &journal));
    keel_status_t status = parse_from(journal.bytes, id, journal.path, whole, out);
    keel_journal_file_free(&journal);
    return status;
}

void keel_why_deinitialize(keel_why_t *why) {
    keel_arena_deinitialize(&why->texts);
    keel_map_deinitialize(&why->sources);
    keel_fixes_deinitialize(&why->fixes);
    keel_asides_deinitialize(&why->asides);
    keel_eager_deinitialize(&why->eager);
    keel_free(why->entries);
    keel_free(why->patterns);
    keel_free(why->by_cause);
    keel_free(why->by_line);
    keel_reads_deinitialize(&why->reads);
    *why = (keel_why_t){0};
}
