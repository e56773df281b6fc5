// From what the journal explains to what `keel why` says.
#include "why/internal.h"

#include <stdlib.h>

// ---- entries -----------------------------------------------------------------------------------

// The journal's entries, whose roots change here.
static keel_status_t take_entries(keel_why_t *why) {
    void *memory;
    size_t count = why->run.entry_count;
    KEEL_TRY(keel_calloc(count, sizeof *why->entries, &memory));
    why->entries = memory;
    why->entry_count = count;
    for (size_t i = 0; i < count; ++i) {
        const keel_run_entry_t *asked = &why->run.entries[i];
        KEEL_TRY(keel_texts_array(&why->texts, asked->root_count, sizeof *asked->roots, &memory));
        if (asked->root_count)
            memcpy(memory, asked->roots, asked->root_count * sizeof *asked->roots);
        why->entries[i] = (keel_why_entry_t){.asked = asked,
                                             .recompile = asked->recompile,
                                             .roots = memory,
                                             .root_count = asked->root_count,
                                             .root_total = asked->root_total,
                                             .folded = asked->folded,
                                             .folded_count = asked->folded_count,
                                             .folded_total = asked->folded_total,
                                             .pattern = "",
                                             .pattern_index = KEEL_NONE,
                                             .leader = KEEL_NONE};
    }
    return NULL;
}

static keel_status_t take_eager(keel_why_t *why) {
    for (size_t i = 0; i < why->run.request_count; ++i) {
        const keel_run_request_t *request = &why->run.requests[i];
        if (request->is_compile && request->operation != SIZE_MAX)
            KEEL_TRY(keel_eager_add(&why->eager, request));
    }
    return NULL;
}

static bool leads_with(const keel_why_entry_t *entry, keel_note_t note) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    return cause && keel_note_leads(cause->note, note);
}

// Puts what is known about a cause before the comparison's note.
static keel_status_t lead_note(keel_why_t *why, keel_note_t note, const char **inout) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s%s%s", keel_note_text(note), **inout ? "; " : "", *inout);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_texts_keep(&why->texts, keel_buffer_cstr(&text), inout);
    keel_buffer_deinitialize(&text);
    return status;
}

// True if a later program is nearest to the one that this was compared with: it updates what that
// one does.
static bool is_updated_later(const keel_why_t *why, size_t index) {
    const keel_run_entry_t *idle = why->entries[index].asked;
    for (size_t i = index + 1; i < why->entry_count; ++i) {
        const keel_run_entry_t *later = why->entries[i].asked;
        if (later->pid == idle->pid && later->root_count && !later->unrelated &&
            strcmp(later->against_program, idle->against_program) == 0)
            return true;
    }
    return false;
}

// A step without the optimizer may be skipped on purpose. But if more steps follow and the program
// that it was compared with never runs again, nor another that updates the same, the optimizer
// holds other tensors.
static keel_status_t find_idle(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        if (!leads_with(entry, KEEL_NOTE_IDLE) || !entry->asked->against_is_ours) continue;
        if (keel_run_ran_after(&why->run, entry->asked->against_program, entry->asked->program,
                               entry->asked->pid) ||
            !keel_run_goes_on(&why->run, entry->asked->program, entry->asked->pid) ||
            is_updated_later(why, i))
            continue;
        entry->roots[0].note = "";
        KEEL_TRY(lead_note(why, KEEL_NOTE_REPLACED, &entry->roots[0].note));
    }
    return NULL;
}

// Gradients of tensors that replaced others accumulate, because no optimizer zeroes them.
static keel_status_t follow_replaced(keel_why_t *why, size_t index) {
    keel_why_entry_t *entry = &why->entries[index];
    if (!entry->root_count || entry->roots[0].kind != KEEL_CAUSE_GRADIENT) return NULL;
    bool is_replaced = false;
    for (size_t i = 0; i < index && !is_replaced; ++i)
        is_replaced = strcmp(why->entries[i].asked->program, entry->asked->against_program) == 0 &&
                      leads_with(&why->entries[i], KEEL_NOTE_REPLACED);
    if (!is_replaced) return NULL;
    return lead_note(why, KEEL_NOTE_NOT_ZEROED, &entry->roots[0].note);
}

// "i64[140,2]": the indices that a mask selects.
static bool is_of_places(const char *type) {
    const char *comma = strchr(type, ',');
    return strncmp(type, "i64[", 4) == 0 && comma && !strchr(comma + 1, ',');
}

static bool reads_at(const keel_why_t *why, const keel_run_place_t *place) {
    for (size_t i = 0; i < why->run.reads.count; ++i)
        if (why->run.reads.lines[i].line == place->line && why->run.reads.lines[i].moved.count &&
            strcmp(why->run.reads.lines[i].file, place->file) == 0)
            return true;
    return false;
}

static bool counts_on_host(const keel_why_t *why) {
    for (size_t i = 0; i < why->run.asides.op_count; ++i)
        if (strcmp(why->run.asides.ops[i].name, "aten::nonzero") == 0) return true;
    return false;
}

// PyTorch/XLA computes x[mask] from the places where the mask is true, which the host finds: a read
// and another shape, of one line.
static keel_status_t find_counted(keel_why_t *why) {
    if (!counts_on_host(why)) return NULL;
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        for (size_t j = 0; j < entry->root_count; ++j) {
            keel_run_difference_t *root = &entry->roots[j];
            if (root->kind == KEEL_CAUSE_SHAPE && is_of_places(root->old_value) &&
                is_of_places(root->new_value) && reads_at(why, &root->place))
                KEEL_TRY(lead_note(why, KEEL_NOTE_COUNTED, &root->note));
        }
    }
    return NULL;
}

// With the variable there is no float32 on the device, so a program that has it was made without.
static keel_status_t find_narrowed(keel_why_t *why) {
    for (size_t i = 0; why->run.is_narrowed && i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        for (size_t j = 0; j < entry->root_count; ++j) {
            keel_run_difference_t *root = &entry->roots[j];
            if (root->kind == KEEL_CAUSE_DTYPE && strncmp(root->old_value, "f32[", 4) == 0 &&
                strncmp(root->new_value, "bf16[", 5) == 0)
                KEEL_TRY(lead_note(why, KEEL_NOTE_NARROWED, &root->note));
        }
    }
    return NULL;
}

// A library may run a loop of its own twice while a run starts: to initialize a model and its
// guide. Its body is a new function each time, and the user could not have jitted it once. It is a
// retrace if it comes again.
static bool is_of_start(const keel_why_t *why, const keel_why_entry_t *entry) {
    if (!keel_run_is_retrace(entry->asked) || entry->asked->step > 1 ||
        !keel_why_is_librarys_loop(entry))
        return false;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *other = &why->entries[i];
        if (other != entry && keel_run_is_retrace(other->asked) &&
            strcmp(other->asked->origin, entry->asked->origin) == 0)
            return false;
    }
    return true;
}

// In JAX, a function's program with nothing in common with earlier ones is another function of the
// same name. In PyTorch/XLA and in C, which have one name for all, it is a recompile without a
// known cause.
static bool is_made_again(const keel_why_t *why, const char *program) {
    for (size_t i = 0; i < why->entry_count; ++i)
        if (keel_run_is_retrace(why->entries[i].asked) &&
            strcmp(why->entries[i].asked->program, program) == 0)
            return true;
    return false;
}

// Two functions that one factory made, each with a program of its own: they take turns. One that
// was made anew replaces the other, whose program does not run again.
static bool is_one_of_two(const keel_why_t *why, const keel_why_entry_t *entry) {
    const keel_run_entry_t *asked = entry->asked;
    return asked->is_another_function && asked->against_is_ours && asked->is_compile &&
           keel_run_ran_after(&why->run, asked->against_program, asked->program, asked->pid) &&
           !is_made_again(why, asked->against_program) && !is_made_again(why, asked->program);
}

static void leave_out_strangers(keel_why_t *why) {
    keel_framework_t framework;
    keel_why_framework(why, &framework);
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        bool is_again = entry->recompile && entry->asked->is_compile;
        bool is_stranger =
            entry->asked->unrelated && (!is_again || framework == KEEL_FRAMEWORK_JAX);
        entry->left_out = is_stranger || is_of_start(why, entry) || is_one_of_two(why, entry);
        if (entry->left_out && is_again && why->recompiles) --why->recompiles;
    }
}

// ---- all together ------------------------------------------------------------------------------

static keel_status_t judge_entries(keel_why_t *why) {
    why->recompiles = why->run.recompiles;
    KEEL_TRY(take_entries(why));
    KEEL_TRY(take_eager(why));
    leave_out_strangers(why);
    KEEL_TRY(find_counted(why));
    KEEL_TRY(find_narrowed(why));
    KEEL_TRY(find_idle(why));
    for (size_t i = 0; i < why->entry_count; ++i)
        KEEL_TRY(follow_replaced(why, i));
    KEEL_TRY(keel_why_follow_reads(why));
    KEEL_TRY(keel_why_follow_makers(why));
    KEEL_TRY(keel_why_find_sets(why));
    KEEL_TRY(keel_why_find_eager(why));
    KEEL_TRY(keel_why_find_patterns(why));
    keel_why_join_leaders(why);
    KEEL_TRY(keel_why_find_barriers(why));
    KEEL_TRY(keel_why_sum_up(why));
    return keel_why_summarize(why);
}

static keel_status_t judge_run(keel_status_t status, keel_why_t *why) {
    if (status) return status;
    keel_texts_initialize(&why->texts);
    status = judge_entries(why);
    if (status) keel_why_deinitialize(why);
    return status;
}

keel_status_t keel_why_parse(keel_bytes_t bytes, const char *id, const char *path, unsigned parts,
                             keel_why_t *out) {
    *out = (keel_why_t){0};
    return judge_run(keel_run_parse(bytes, id, path, parts, &out->run), out);
}

keel_status_t keel_why_read(const char *run_dir, const char *id, unsigned parts, keel_why_t *out) {
    *out = (keel_why_t){0};
    return judge_run(keel_run_read(run_dir, id, parts, &out->run), out);
}

void keel_why_deinitialize(keel_why_t *why) {
    keel_run_deinitialize(&why->run);
    keel_texts_deinitialize(&why->texts);
    keel_eager_deinitialize(&why->eager);
    keel_free(why->entries);
    keel_free(why->patterns);
    keel_free(why->sets);
    keel_free(why->barriers);
    keel_free(why->by_cause);
    keel_free(why->by_line);
    keel_free(why->retraced);
    keel_free(why->summary.recompiles);
    *why = (keel_why_t){0};
}
