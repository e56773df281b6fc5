// Compiling, running and comparing. Each thread takes one program after the other: it is compiled
// by the run's plugin and by the other one right after it, so that both times are of one state of
// the machine; then it runs on both.
#define _GNU_SOURCE
#include <stdio.h>

#include "cli/replay.h"
#include "engine/portable.h"
#include "journal/journal.h"
#include "read/read.h"

// A program at work.
typedef struct work_t {
    replay_t *replay;
    replay_program_t *program;
    uint8_t *code, *options;
    size_t code_size, options_size;
    keel_compiled_t before, after; // compiled
    bool has_before, has_after;
    keel_compiled_t before_run, after_run;
    bool has_before_run, has_after_run;
    keel_signature_t signature;
    bool has_signature;
    // For a program of PyTorch/XLA that is for several replicas and does the same on each: options
    // for one of them, with which it runs here. Empty: it runs as it is.
    keel_buffer_t alone;
} work_t;

static void release(work_t *work) {
    keel_free(work->code);
    keel_free(work->options);
    if (work->has_before) keel_compiled_deinitialize(&work->before);
    if (work->has_after) keel_compiled_deinitialize(&work->after);
    if (work->has_before_run) keel_compiled_deinitialize(&work->before_run);
    if (work->has_after_run) keel_compiled_deinitialize(&work->after_run);
    if (work->has_signature) keel_signature_deinitialize(&work->signature);
    keel_buffer_deinitialize(&work->alone);
}

static keel_status_t explain(char **out, const char *what, const char *why) {
    return keel_path(out, "%s%s%s", what, *what && *why ? ": " : "", why);
}

// ---- compiling ---------------------------------------------------------------------------------

static keel_status_t compile(const work_t *work, const replay_side_t *side, keel_bytes_t options,
                             keel_compiled_t *out) {
    uint64_t id;
    const keel_job_t job = {.code = keel_bytes(work->code, work->code_size),
                            .format = work->program->is_hlo ? "hlo" : "mlir",
                            .options = options};
    KEEL_TRY(keel_compiler_submit(side->compiler, &job, &id));
    return keel_compiler_wait(side->compiler, id, out);
}

static void take_figures(const keel_compiled_t *compiled, replay_figures_t *out) {
    if (compiled->error) return;
    replay_figure(out, REPLAY_TIME, compiled->seconds);
    replay_figure(out, REPLAY_CODE, (double)compiled->executable_size);
    if (compiled->has_memory)
        replay_figure(out, REPLAY_MEMORY, (double)keel_program_memory_total(&compiled->memory));
}

// Without its client, functions that a program calls by name may be missing.
static bool lacks_function(const char *error) {
    return strstr(error, "handler") || strstr(error, "callback") || strstr(error, "custom call") ||
           strstr(error, "custom-call");
}

static keel_status_t judge_compile(work_t *work) {
    replay_program_t *program = work->program;
    const char *error = work->after.error;
    program->outcome = REPLAY_COMPILED;
    if (!error) return NULL;
    bool failed_before = work->has_before && work->before.error;
    bool is_left_out = failed_before || (!work->has_before && lacks_function(error));
    program->outcome = is_left_out ? REPLAY_LEFT_OUT : REPLAY_FAILED;
    return explain(&program->why,
                   is_left_out ? "it does not compile without its client" : "it does not compile",
                   failed_before ? work->before.error : error);
}

static keel_status_t compile_both(work_t *work) {
    replay_t *replay = work->replay;
    keel_bytes_t options = keel_bytes(work->options, work->options_size);
    if (replay->before.compiler) {
        KEEL_TRY(compile(work, &replay->before, options, &work->before));
        work->has_before = true;
        take_figures(&work->before, &work->program->figures[REPLAY_BEFORE]);
    }
    KEEL_TRY(compile(work, &replay->after, options, &work->after));
    work->has_after = true;
    take_figures(&work->after, &work->program->figures[REPLAY_AFTER]);
    return judge_compile(work);
}

// ---- running -----------------------------------------------------------------------------------

static keel_status_t run(const work_t *work, const replay_side_t *side,
                         const keel_compiled_t *compiled, keel_compiled_t *out) {
    uint32_t count = work->signature.parameter_count;
    uint64_t id;
    void *memory;
    KEEL_TRY(keel_calloc(count + 1, sizeof(keel_array_shape_t), &memory));
    keel_array_shape_t *shapes = memory;
    for (uint32_t i = 0; i < count; ++i)
        shapes[i] = work->signature.parameters[i].whole;
    const keel_trial_t trial = {.executable =
                                    keel_bytes(compiled->executable, compiled->executable_size),
                                .arguments = shapes,
                                .argument_count = count,
                                .seed = work->replay->seed,
                                .seconds = work->replay->seconds};
    keel_status_t status = keel_compiler_try(side->compiler, &trial, &id);
    if (!status) status = keel_compiler_wait(side->compiler, id, out);
    keel_free(shapes);
    return status;
}

// On one of the replicas that it is for.
static keel_status_t run_alone(const work_t *work, const replay_side_t *side,
                               keel_compiled_t *out) {
    keel_compiled_t compiled;
    KEEL_TRY(compile(work, side, keel_buffer_bytes(&work->alone), &compiled));
    if (compiled.error) {
        *out = compiled;
        return NULL;
    }
    keel_status_t status = run(work, side, &compiled, out);
    keel_compiled_deinitialize(&compiled);
    return status;
}

static keel_status_t run_on(const work_t *work, const replay_side_t *side,
                            const keel_compiled_t *compiled, keel_compiled_t *out) {
    return work->alone.size ? run_alone(work, side, out) : run(work, side, compiled, out);
}

static keel_status_t compare(work_t *work) {
    replay_program_t *program = work->program;
    const keel_compiled_t *before = &work->before_run, *after = &work->after_run;
    if (before->error)
        return explain(&program->why_not_run, "the run's plugin does not run it here",
                       before->error);
    if (after->error) {
        program->outcome = REPLAY_FAILED;
        KEEL_TRY(explain(&program->why_not_run, "it fails", ""));
        return explain(&program->why, "it compiles, and fails when it runs", after->error);
    }
    replay_figure(&program->figures[REPLAY_BEFORE], REPLAY_RUN, before->seconds);
    replay_figure(&program->figures[REPLAY_AFTER], REPLAY_RUN, after->seconds);
    replay_compare(before->results, before->result_count, after->results, after->result_count,
                   &program->difference);
    program->results = program->difference.is_equal ? REPLAY_EQUAL : REPLAY_DIFFERENT;
    return NULL;
}

static keel_status_t make_alone(work_t *work) {
    keel_bytes_t options = keel_bytes(work->options, work->options_size);
    keel_program_t program;
    if (!work->program->is_hlo || !portable_replicas(options)) return NULL;
    keel_status_t status = keel_read_hlo(keel_bytes(work->code, work->code_size), &program);
    if (!status && !portable_obstacle(&program).size)
        status = portable_options(options, &work->alone);
    if (!status) keel_program_deinitialize(&program);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status); // the obstacle is named where the program is read again
    return NULL;
}

// Why the results cannot be compared; NULL: they can.
static keel_status_t find_obstacle(work_t *work, char **out) {
    const replay_t *replay = work->replay;
    *out = NULL;
    if (!replay->runs) return explain(out, "--no-run", "");
    if (replay->is_elsewhere) return keel_path(out, "%s is not here", replay->target.name);
    if (!replay->before.compiler)
        return explain(out,
                       keel_plugin_is_jaxs_own(replay->recorded_plugin)
                           ? "the run was on JAX's own client, which is not a plugin"
                           : "the run's plugin is not here",
                       "");
    if (work->before.error)
        return explain(out, "the run's plugin does not compile it here", work->before.error);
    // The client sets them up: jaxlib's wrappers of LAPACK call what scipy has.
    const char *kernels = work->program->key.values[KEEL_COMPONENT_KERNELS];
    if (kernels && *kernels)
        return keel_path(out, "it calls functions that its client sets up (%.*s)",
                         (int)strcspn(kernels, "="), kernels);
    KEEL_TRY(make_alone(work));
    keel_bytes_t options = work->alone.size ? keel_buffer_bytes(&work->alone)
                                            : keel_bytes(work->options, work->options_size);
    KEEL_TRY(
        replay_obstacle(keel_bytes(work->code, work->code_size), options, &work->signature, out));
    work->has_signature = !*out;
    return NULL;
}

static keel_status_t run_both(work_t *work) {
    replay_program_t *program = work->program;
    KEEL_TRY(find_obstacle(work, &program->why_not_run));
    if (program->why_not_run) return NULL;
    keel_status_t status = run_on(work, &work->replay->before, &work->before, &work->before_run);
    work->has_before_run = !status;
    if (!status) {
        status = run_on(work, &work->replay->after, &work->after, &work->after_run);
        work->has_after_run = !status;
    }
    if (!status) return compare(work);
    if (keel_status_code(status) != KEEL_UNSUPPORTED) return status;
    keel_status_t said = explain(&program->why_not_run, "", keel_status_message(status));
    keel_status_ignore(status);
    return said;
}

// ---- one program -------------------------------------------------------------------------------

static keel_status_t work_on(work_t *work) {
    replay_program_t *program = work->program;
    if (!program->options)
        return keel_status_make(KEEL_NOT_FOUND, "the run did not keep its compile options");
    KEEL_TRY(keel_journal_read_program(program->path, &work->code, &work->code_size));
    KEEL_TRY(keel_journal_read_program(program->options, &work->options, &work->options_size));
    KEEL_TRY(cli_recorded_check_options(&work->replay->recorded,
                                        keel_bytes(work->options, work->options_size)));
    KEEL_TRY(compile_both(work));
    return program->outcome == REPLAY_COMPILED ? run_both(work) : NULL;
}

static void work_through(replay_t *replay, replay_program_t *program) {
    work_t work = {.replay = replay, .program = program};
    keel_buffer_initialize(&work.alone, 0);
    keel_status_t status = work_on(&work);
    if (status) {
        program->outcome = REPLAY_LEFT_OUT;
        keel_free(program->why);
        program->why = NULL;
        keel_status_ignore(explain(&program->why, "", keel_status_message(status)));
    }
    keel_status_ignore(status);
    release(&work);
}

// ---- all of them -------------------------------------------------------------------------------

typedef struct worker_t {
    replay_t *replay;
    void (*tell)(replay_t *replay, const replay_program_t *program);
    pthread_t thread;
} worker_t;

static replay_program_t *take_next(replay_t *replay) {
    pthread_mutex_lock(&replay->lock);
    replay_program_t *program =
        replay->next < replay->count ? replay->programs[replay->next++] : NULL;
    pthread_mutex_unlock(&replay->lock);
    return program;
}

static void *work_all(void *context) {
    worker_t *worker = context;
    replay_t *replay = worker->replay;
    for (replay_program_t *program; (program = take_next(replay));) {
        work_through(replay, program);
        pthread_mutex_lock(&replay->lock);
        ++replay->done;
        worker->tell(replay, program);
        pthread_mutex_unlock(&replay->lock);
    }
    return NULL;
}

// What no thread can be had for, this one does.
void replay_work(replay_t *replay,
                 void (*tell)(replay_t *replay, const replay_program_t *program)) {
    enum { MOST = 256 };
    worker_t workers[MOST];
    unsigned count = 1, wanted = replay->jobs < MOST ? replay->jobs : MOST;
    for (unsigned i = 0; i < MOST; ++i)
        workers[i] = (worker_t){.replay = replay, .tell = tell};
    while (count < wanted &&
           pthread_create(&workers[count].thread, NULL, work_all, &workers[count]) == 0)
        ++count;
    work_all(&workers[0]);
    for (unsigned i = 1; i < count; ++i)
        pthread_join(workers[i].thread, NULL);
}
