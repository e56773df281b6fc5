// Barriers: a sync in what a step calls, in PyTorch/XLA, ends a program in the middle of each step.
// Whatever changes then recompiles the programs before and after it. Only barriers whose programs
// were recompiled are shown.
//
// A line ends a step if a function before it, that its own function calls, asks for programs as
// often, and for hardly larger ones. Two syncs of one function may both end a step (two optimizers,
// micro-batches), so neither is a barrier; nor is what an epoch runs before its small last program.
#include <stdlib.h>

#include "why/internal.h"

// What one line asked for.
typedef struct line_t {
    const keel_run_place_t *place;
    uint64_t executes;
    double work; // operations times executions
} line_t;

typedef struct lines_t {
    line_t *list;
    size_t count;
} lines_t;

static bool is_at(const keel_run_place_t *place, const char *file, uint32_t line) {
    return place->line == line && strcmp(place->file, file) == 0;
}

static keel_status_t gather_lines(const keel_why_t *why, lines_t *out) {
    void *memory;
    KEEL_TRY(keel_calloc(why->run.program_count, sizeof *out->list, &memory));
    out->list = memory;
    for (size_t i = 0; i < why->run.program_count; ++i) {
        const keel_run_program_t *program = &why->run.programs[i];
        size_t at = 0;
        if (!program->site.line || !program->executes) continue;
        while (at < out->count &&
               !is_at(out->list[at].place, program->site.file, program->site.line))
            ++at;
        if (at == out->count) out->list[out->count++] = (line_t){.place = &program->site};
        out->list[at].executes += program->executes;
        out->list[at].work += (double)program->ops * (double)program->executes;
    }
    return NULL;
}

static bool reads(const keel_why_t *why, const keel_run_place_t *place) {
    for (size_t i = 0; i < why->run.reads.count; ++i)
        if (is_at(place, why->run.reads.lines[i].file, why->run.reads.lines[i].line)) return true;
    return false;
}

// True if the function that ends a step called what asked for the program, before the end.
static bool is_called_in(const keel_run_entry_t *asked, const keel_run_place_t *end) {
    for (size_t i = 1; i < asked->stack_count; ++i)
        if (strcmp(asked->stack[i].file, end->file) == 0 && asked->stack[i].line < end->line &&
            strcmp(asked->stack[i].function, end->function) == 0)
            return true;
    return false;
}

// The line that ends the steps in which the other one asks for programs; NULL.
static const line_t *find_end(const lines_t *lines, const line_t *line,
                              const keel_run_entry_t *asked) {
    enum { STEPS = 3 };
    for (size_t i = 0; i < lines->count; ++i) {
        const line_t *end = &lines->list[i];
        bool is_small = end->work / (double)end->executes * 2 < line->work / (double)line->executes;
        if (end != line && end->executes >= STEPS && !is_small &&
            line->executes >= end->executes - end->executes / 4 && is_called_in(asked, end->place))
            return end;
    }
    return NULL;
}

static keel_status_t add_barrier(keel_why_t *why, const lines_t *lines, const line_t *line) {
    const keel_run_entry_t *first = NULL;
    keel_took_t took = {0};
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (!keel_why_is_shown(entry) || !entry->recompile ||
            !is_at(&entry->asked->site, line->place->file, line->place->line))
            continue;
        if (!first) first = entry->asked;
        keel_took_add(&took, &entry->asked->took);
    }
    const line_t *end = first ? find_end(lines, line, first) : NULL;
    if (!end) return NULL;
    void *grown = why->barriers;
    KEEL_TRY(keel_realloc_array(why->barrier_count + 1, sizeof *why->barriers, &grown));
    why->barriers = grown;
    why->barriers[why->barrier_count++] = (keel_why_barrier_t){
        .place = &first->site,
        .name = first->name,
        .program = first->program,
        .times = line->executes,
        .pieces = 1 + (line->executes + end->executes / 2) / end->executes,
        .took = took,
    };
    return NULL;
}

static int dearest(const void *a, const void *b) {
    const keel_why_barrier_t *x = a, *y = b;
    int order = keel_took_order(&x->took, 0, &y->took, 0);
    return order ? order : x->place->line < y->place->line ? -1 : x->place->line > y->place->line;
}

keel_status_t keel_why_find_barriers(keel_why_t *why) {
    keel_framework_t framework;
    lines_t lines = {0};
    if (!keel_why_framework(why, &framework) || framework != KEEL_FRAMEWORK_TORCH ||
        why->run.is_torch_tpu || !why->run.program_count) // TorchTPU has no syncs
        return NULL;
    keel_status_t status = gather_lines(why, &lines);
    for (size_t i = 0; !status && i < lines.count; ++i)
        if (!reads(why, lines.list[i].place)) status = add_barrier(why, &lines, &lines.list[i]);
    if (why->barrier_count)
        qsort(why->barriers, why->barrier_count, sizeof *why->barriers, dearest);
    keel_free(lines.list);
    return status;
}
