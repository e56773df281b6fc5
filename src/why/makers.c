// Recompiles that follow from another program of the run, by their buffers: an argument that a new
// program made changes because that one did, and once the model's tensors were replaced behind the
// optimizer, everything that changes in that step and the next changes because of that. These
// entries get the causes of the one that they follow from; their own differences are folded.
//
// That an optimizer updates tensors which the model has no more is said if the programs and the
// buffers show it, and if the same calls asked for the program before: a helper that gets another
// model, to measure it, is not the training loop.
#include <inttypes.h>
#include <stdio.h>

#include "why/internal.h"

static size_t entry_of(const keel_why_t *why, int64_t pid, const char *program) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (entry->asked->pid == pid && keel_why_is_shown(entry) && entry->asked->is_compile &&
            strcmp(entry->asked->program, program) == 0)
            return i;
    }
    return SIZE_MAX;
}

// Makes these the entry's causes; its own are folded under the first.
static keel_status_t replace_causes(keel_why_t *why, keel_why_entry_t *entry,
                                    const keel_run_difference_t *roots, size_t count) {
    void *memory;
    KEEL_TRY(keel_texts_array(&why->texts, entry->root_count + entry->folded_count,
                              sizeof *entry->folded, &memory));
    keel_run_difference_t *folded = memory;
    size_t at = 0;
    for (size_t i = 0; i < entry->root_count; ++i)
        folded[at++] = entry->roots[i];
    for (size_t i = 0; i < entry->folded_count; ++i)
        folded[at++] = entry->folded[i];
    for (size_t i = 0; i < at; ++i) {
        folded[i].follows = 0;
        folded[i].folds = 0;
    }
    KEEL_TRY(keel_texts_array(&why->texts, count, sizeof *entry->roots, &memory));
    memcpy(memory, roots, count * sizeof *roots);
    entry->folded_total += entry->root_total;
    entry->folded = folded;
    entry->folded_count = at;
    entry->roots = memory;
    entry->root_count = count;
    entry->root_total = count;
    for (size_t i = 0; i < count; ++i)
        entry->roots[i].folds = i ? 0 : (uint32_t)at;
    return NULL;
}

static uint32_t top_of(const keel_why_t *why, size_t index) {
    while (why->entries[index].leader != KEEL_NONE)
        index = why->entries[index].leader;
    return (uint32_t)index;
}

static keel_status_t follow(keel_why_t *why, size_t index, size_t maker) {
    keel_why_entry_t *entry = &why->entries[index];
    uint32_t top = top_of(why, maker);
    if (entry->leader != KEEL_NONE || top == index) return NULL;
    entry->leader = top;
    return replace_causes(why, entry, why->entries[top].roots, why->entries[top].root_count);
}

// ---- arguments that another new program made ----------------------------------------------------

// Of arguments that came together, some were there before, like the weights that a gradient is for.
static bool is_made(const keel_run_difference_t *root, const keel_run_inputs_t *inputs) {
    for (size_t i = 0; i < root->argument_count; ++i)
        for (size_t k = 0; k < inputs->count; ++k)
            if (root->arguments[i] == inputs->arguments[k]) return true;
    return false;
}

bool keel_why_is_made(const keel_why_t *why, const keel_run_entry_t *asked,
                      const keel_run_difference_t *root) {
    for (size_t i = 0; i < why->run.makers.input_count; ++i) {
        const keel_run_inputs_t *inputs = &why->run.makers.inputs[i];
        if (inputs->pid == asked->pid && strcmp(inputs->program, asked->program) == 0 &&
            is_made(root, inputs))
            return true;
    }
    return false;
}

static bool are_all_made(const keel_why_entry_t *entry, const keel_run_inputs_t *inputs) {
    for (size_t i = 0; i < entry->root_count; ++i)
        if (!is_made(&entry->roots[i], inputs)) return false;
    return entry->root_count && entry->root_count == entry->root_total;
}

// The gradients of a graph that torch.compile made are compiled for that graph, whatever else
// differs.
static bool is_gradient_of(const keel_why_entry_t *entry, const keel_why_entry_t *maker) {
    return keel_torch_tpu_graph(keel_str(entry->asked->name)) == KEEL_GRAPH_BACKWARD &&
           keel_torch_tpu_graph(keel_str(maker->asked->name)) == KEEL_GRAPH_FORWARD;
}

static bool is_same_function(const keel_run_entry_t *a, const keel_run_entry_t *b) {
    return *a->origin && strcmp(a->origin, b->origin) == 0;
}

// "f at train.py:12" of "tt_jit_backward of f at train.py:12"; empty if the function is not known.
static keel_str_t function_of(const keel_why_entry_t *entry) {
    static const char of[] = " of ";
    const char *at = strstr(entry->asked->origin, of);
    return keel_str(at ? at + sizeof of - 1 : "");
}

static bool is_of_one_compile(const keel_why_entry_t *gradient, const keel_why_entry_t *forward) {
    keel_str_t function = function_of(forward);
    return is_gradient_of(gradient, forward) && function.size && forward->root_count &&
           gradient->asked->pid == forward->asked->pid &&
           gradient->asked->step <= forward->asked->step + 1 &&
           keel_str_equal(function, function_of(gradient));
}

static keel_status_t follow_forward(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        size_t forward = i;
        while (forward-- > 0 && !is_of_one_compile(&why->entries[i], &why->entries[forward]))
            ;
        if (forward < i) KEEL_TRY(follow(why, i, forward));
    }
    return NULL;
}

static keel_status_t follow_inputs(keel_why_t *why, const keel_run_inputs_t *inputs) {
    size_t index = entry_of(why, inputs->pid, inputs->program);
    size_t maker = entry_of(why, inputs->pid, inputs->maker);
    if (inputs->is_again || index == SIZE_MAX || maker == SIZE_MAX ||
        !why->entries[maker].root_count)
        return NULL;
    // Of one step, which may be cut into several; a later one takes results of every step.
    if (why->entries[index].asked->step > why->entries[maker].asked->step + 1) return NULL;
    // Gradients that accumulate, and the state of an optimizer, have a cause of their own, whoever
    // made the first.
    const keel_run_difference_t *root = why->entries[index].roots;
    if (root &&
        (root->kind == KEEL_CAUSE_GRADIENT || keel_note_leads(root->note, KEEL_NOTE_STATE_MADE)))
        return NULL;
    if (is_gradient_of(&why->entries[index], &why->entries[maker]))
        return follow(why, index, maker);
    // What a loop made in its last round may be new in this one because of what changed there, but
    // it has another type because of what this line does.
    if (root && root->kind != KEEL_CAUSE_ARGUMENTS &&
        is_same_function(why->entries[index].asked, why->entries[maker].asked))
        return NULL;
    // A program decides by itself what it may overwrite, and a new shape changes no dtype.
    keel_cause_t led = why->entries[top_of(why, maker)].roots[0].kind;
    bool may_follow = root && (root->kind == led || (root->kind != KEEL_CAUSE_DONATION &&
                                                     root->kind != KEEL_CAUSE_DTYPE));
    if (!may_follow || !are_all_made(&why->entries[index], inputs)) return NULL;
    return follow(why, index, maker);
}

// ---- what an optimizer updates in vain ----------------------------------------------------------

static bool is_same_line(const keel_run_place_t *a, const keel_run_place_t *b) {
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool is_made_before(const keel_why_t *why, size_t index, const keel_run_place_t *place) {
    for (size_t i = 0; i < index; ++i) {
        const keel_run_entry_t *earlier = why->entries[i].asked;
        for (size_t k = 0;
             earlier->pid == why->entries[index].asked->pid && k < earlier->made_count; ++k)
            if (is_same_line(&earlier->made[k], place)) return true;
    }
    return false;
}

// The line that put the other tensors there, if the host sent them: it sent nothing before.
static const keel_run_place_t *find_replacing(const keel_why_t *why, size_t index) {
    const keel_run_entry_t *asked = why->entries[index].asked;
    for (size_t i = 0; i < asked->made_count; ++i)
        if (!is_made_before(why, index, &asked->made[i])) return &asked->made[i];
    return NULL;
}

static keel_status_t tell_abandoned(keel_why_t *why, size_t index, uint64_t count,
                                    const keel_run_place_t *place) {
    keel_why_entry_t *entry = &why->entries[index];
    keel_run_difference_t root = {.kind = KEEL_CAUSE_STRUCTURE,
                                  .subject = "optimizer",
                                  .new_value = "updates none",
                                  .note = keel_note_text(KEEL_NOTE_ABANDONED),
                                  .place = place ? *place : *keel_why_place(entry),
                                  .old_op = KEEL_NONE,
                                  .new_op = KEEL_NONE,
                                  .follows = KEEL_NONE};
    char text[48];
    snprintf(text, sizeof text, "updates %" PRIu64 " tensor%s", count, count == 1 ? "" : "s");
    KEEL_TRY(keel_texts_keep(&why->texts, text, &root.old_value));
    return replace_causes(why, entry, &root, 1);
}

static bool is_same_frame(const keel_run_frame_t *a, const keel_run_frame_t *b) {
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

// The same calls asked for both, so the loop that had a step goes on.
static bool is_asked_alike(const keel_run_entry_t *a, const keel_run_entry_t *b) {
    if (!a->stack_count || a->stack_count != b->stack_count) return false;
    for (size_t i = 0; i < a->stack_count; ++i)
        if (!is_same_frame(&a->stack[i], &b->stack[i])) return false;
    return true;
}

// The program that it was compared with, if the same calls asked for that.
static bool goes_on(const keel_why_t *why, const keel_run_entry_t *asked) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_run_entry_t *other = why->entries[i].asked;
        if (other->pid == asked->pid && strcmp(other->program, asked->against_program) == 0 &&
            is_asked_alike(other, asked))
            return true;
    }
    return false;
}

// All are steady. As many as an event names are enough.
static bool is_steady(const keel_run_entry_t *asked, const keel_run_tensors_t *steady) {
    size_t found = 0;
    for (size_t i = 0; i < asked->left_count; ++i)
        for (size_t k = 0; k < steady->argument_count; ++k)
            found += asked->left[i] == steady->arguments[k];
    return found && found == asked->left_count;
}

static bool is_first_of(const keel_why_t *why, size_t index, const keel_run_tensors_t *abandoned) {
    const keel_run_entry_t *asked = why->entries[index].asked;
    return asked->stops && strcmp(asked->against_program, abandoned->program) == 0;
}

// Tells it of an entry, and that the new programs of the same calls follow from it.
static keel_status_t tell_from(keel_why_t *why, size_t index, uint64_t count,
                               const keel_run_tensors_t *tensors) {
    keel_why_entry_t *entry = &why->entries[index];
    if (entry->leader != KEEL_NONE || !goes_on(why, entry->asked)) return NULL;
    const keel_run_place_t *place =
        keel_why_ruins(entry) ? keel_why_place(entry) : find_replacing(why, index);
    if (!keel_why_ruins(entry)) KEEL_TRY(tell_abandoned(why, index, count, place));
    for (size_t i = 0; i < tensors->program_count; ++i) {
        size_t other = entry_of(why, tensors->pid, tensors->programs[i]);
        if (other != SIZE_MAX && is_asked_alike(why->entries[other].asked, entry->asked))
            KEEL_TRY(follow(why, other, index));
    }
    return NULL;
}

static keel_status_t follow_steady(keel_why_t *why, const keel_run_tensors_t *steady) {
    size_t index = entry_of(why, steady->pid, steady->program);
    if (index == SIZE_MAX || !is_steady(why->entries[index].asked, steady)) return NULL;
    return tell_from(why, index, why->entries[index].asked->left_count, steady);
}

static keel_status_t follow_abandoned(keel_why_t *why, const keel_run_tensors_t *abandoned) {
    for (size_t i = 0; i < abandoned->program_count; ++i) {
        size_t index = entry_of(why, abandoned->pid, abandoned->programs[i]);
        if (index != SIZE_MAX && is_first_of(why, index, abandoned))
            return tell_from(why, index, abandoned->results, abandoned);
    }
    return NULL;
}

// A program that other calls asked for is no sign that the training lost its tensors.
static void leave_other_calls(const keel_why_t *why, keel_why_entry_t *entry) {
    if (!entry->root_count || !keel_note_leads(entry->roots[0].note, KEEL_NOTE_REPLACED)) return;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_run_entry_t *other = why->entries[i].asked;
        if (other->pid != entry->asked->pid || !other->stack_count || !entry->asked->stack_count ||
            strcmp(other->program, entry->asked->against_program) != 0)
            continue;
        if (is_asked_alike(other, entry->asked)) return;
        const char *rest = entry->roots[0].note + strlen(keel_note_text(KEEL_NOTE_REPLACED));
        entry->roots[0].note = strncmp(rest, "; ", 2) == 0 ? rest + 2 : rest;
        return;
    }
}

// ---- operations that run by themselves ----------------------------------------------------------

// What TorchTPU runs without torch.compile, which has no program for a whole step: one that is new
// gives the next ones other values, further than buffers are followed.
static bool is_operation(const keel_why_entry_t *entry) {
    keel_str_t name = keel_str(entry->asked->name);
    return keel_torch_tpu_is_name(name) && keel_torch_tpu_graph(name) == KEEL_GRAPH_NONE;
}

// An operation without arguments, such as ones_like, has its size from the shapes beside it.
static keel_cause_t leading_kind(const keel_why_entry_t *entry) {
    keel_cause_t kind = entry->roots[0].kind;
    return kind == KEEL_CAUSE_SIZE ? KEEL_CAUSE_SHAPE : kind;
}

// Programs with causes of one kind, in one step or in what counts as the next.
typedef struct burst_t {
    size_t first; // SIZE_MAX: none
    int64_t pid;
    uint64_t step; // of the last one
} burst_t;

static bool goes_on_in(const burst_t *burst, const keel_run_entry_t *asked) {
    enum { STEPS = 2 };
    return burst->first != SIZE_MAX && burst->pid == asked->pid &&
           asked->step <= burst->step + STEPS;
}

// What led to the first program of a burst led to the operations behind it.
static keel_status_t follow_operations(keel_why_t *why) {
    burst_t bursts[KEEL_CAUSE_COUNT];
    for (size_t i = 0; i < KEEL_CAUSE_COUNT; ++i)
        bursts[i].first = SIZE_MAX;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (!entry->recompile || !keel_why_is_shown(entry) || !entry->root_count) continue;
        burst_t *burst = &bursts[leading_kind(entry)];
        bool is_in_burst = goes_on_in(burst, entry->asked);
        *burst = (burst_t){is_in_burst ? burst->first : i, entry->asked->pid, entry->asked->step};
        if (is_in_burst && is_operation(entry)) KEEL_TRY(follow(why, i, burst->first));
    }
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

keel_status_t keel_why_follow_makers(keel_why_t *why) {
    const keel_makers_t *makers = &why->run.makers;
    for (size_t i = 0; i < why->entry_count; ++i)
        leave_other_calls(why, &why->entries[i]);
    if (why->run.is_torch_tpu) {
        KEEL_TRY(follow_forward(why));
        KEEL_TRY(follow_operations(why));
    }
    for (size_t i = 0; i < makers->steady_count; ++i)
        KEEL_TRY(follow_steady(why, &makers->steady[i]));
    for (size_t i = 0; i < makers->abandoned_count; ++i)
        KEEL_TRY(follow_abandoned(why, &makers->abandoned[i]));
    for (size_t i = 0; i < makers->input_count; ++i)
        KEEL_TRY(follow_inputs(why, &makers->inputs[i]));
    return NULL;
}

void keel_why_join_leaders(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        if (entry->leader == KEEL_NONE || entry->pattern_index != KEEL_NONE) continue;
        const keel_why_entry_t *leader = &why->entries[entry->leader];
        if (leader->pattern_index == KEEL_NONE) continue;
        entry->pattern = leader->pattern;
        entry->pattern_index = leader->pattern_index;
        keel_took_add(&why->patterns[leader->pattern_index].took, &entry->asked->took);
    }
}
