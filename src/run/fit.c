#include "run/run.h"

static uint64_t limit_of(const keel_run_t *run) {
    uint64_t limit = keel_memory_limit(&run->memory);
    return limit ? limit : run->rehearsal.target.memory;
}

keel_run_fit_t keel_run_fit(const keel_run_t *run) {
    const keel_memory_t *memory = &run->memory;
    keel_run_fit_t fit = {.limit = limit_of(run)};
    if (!*run->rehearsal.target.name) return fit;
    for (size_t i = 0; i < memory->program_count; ++i) {
        const keel_memory_program_t *program = &memory->programs[i];
        if (program->is_known) continue;
        ++fit.unknown;
        if (!fit.asked || program->ops > fit.asked->ops) fit.asked = program;
    }
    if (memory->program_count) fit.largest = &memory->programs[0];
    bool is_over = fit.largest && fit.limit && fit.largest->most > fit.limit;
    if (run->asides.misfit_count || is_over)
        fit.verdict = KEEL_RUN_TOO_LARGE;
    else if (fit.largest && fit.limit && !fit.unknown && !run->fates[KEEL_RUN_REFUSED] &&
             !run->unfinished)
        fit.verdict = KEEL_RUN_FITS;
    return fit;
}

static bool has_refused_reads(const keel_run_rehearsal_t *rehearsal) {
    for (size_t i = 0; i < rehearsal->unreal_count; ++i)
        if (rehearsal->unreals[i].refused) return true;
    return false;
}

bool keel_run_passes(const keel_run_t *run) {
    if (!*run->rehearsal.target.name) return true;
    return !run->rehearsal.refusal_count && !run->rehearsal.drift_count &&
           !has_refused_reads(&run->rehearsal) && !run->fates[KEEL_RUN_REFUSED] &&
           keel_run_fit(run).verdict != KEEL_RUN_TOO_LARGE;
}
