#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "compiler/internal.h"
#include "compiler/trial.h"

enum { MOST_CHILDREN = 1024 };

// ---- its life ----------------------------------------------------------------------------------

static void destroy(keel_compiler_t *compiler) {
    for (task_t *task; (task = tasks_take_first(&compiler->waiting));)
        task_destroy(task);
    for (task_t *task; (task = tasks_take_first(&compiler->done));)
        task_destroy(task);
    keel_free(compiler->target_name);
    keel_free(compiler->worker);
    keel_free(compiler->interpreter);
    keel_free(compiler->library);
    keel_free(compiler->plugin);
    keel_free(compiler->slots);
    keel_free(compiler->polled);
    keel_buffer_deinitialize(&compiler->target);
    if (compiler->wake >= 0) close(compiler->wake);
    pthread_cond_destroy(&compiler->changed);
    pthread_mutex_destroy(&compiler->lock);
    keel_free(compiler);
}

// Each child has a processor of its own, which gives the most programs in a given time. XLA's
// compiler for the processor looks at how many it may use, so its children may use all.
static keel_status_t place_children(keel_compiler_t *compiler, unsigned workers, bool are_pinned) {
    cpu_set_t allowed;
    unsigned cores = 0;
    int last = -1;
    void *slots, *polled;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) cores = (unsigned)CPU_COUNT(&allowed);
    if (!workers) workers = cores ? cores : 1;
    if (workers > MOST_CHILDREN) workers = MOST_CHILDREN;
    KEEL_TRY(keel_calloc(workers, sizeof(slot_t), &slots));
    compiler->slots = slots;
    compiler->slot_count = workers;
    KEEL_TRY(keel_calloc(2 * workers + 1, sizeof(struct pollfd), &polled));
    compiler->polled = polled;
    for (unsigned i = 0; i < workers; ++i) {
        compiler->slots[i].core = -1;
        if (!are_pinned || workers > cores) continue;
        do
            ++last;
        while (!CPU_ISSET(last, &allowed));
        compiler->slots[i].core = last;
    }
    return NULL;
}

static keel_status_t fill(const keel_compiler_settings_t *settings, keel_compiler_t *compiler) {
    const keel_target_t *target = settings->target;
    KEEL_TRY(keel_strdup(keel_str(target->name), &compiler->target_name));
    KEEL_TRY(keel_strdup(keel_str(settings->plugin), &compiler->plugin));
    KEEL_TRY(keel_target_write(target, KEEL_JSON_COMPACT, &compiler->target));
    KEEL_TRY(keel_compiler_find_worker(settings->worker, &compiler->worker));
    if (settings->interpreter)
        KEEL_TRY(keel_strdup(keel_str(settings->interpreter), &compiler->interpreter));
    if (settings->library) KEEL_TRY(keel_strdup(keel_str(settings->library), &compiler->library));
    compiler->platform = target->platform;
    compiler->device_count = target->device_count;
    KEEL_TRY(place_children(compiler, settings->workers, target->platform != KEEL_TARGET_CPU));
    compiler->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (compiler->wake < 0)
        return keel_status_make(KEEL_IO, "an event for compilers: %s", strerror(errno));
    return NULL;
}

// Signals are the client's: none is delivered to this thread.
static keel_status_t start_thread(keel_compiler_t *compiler) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&compiler->thread, NULL, compiler_run, compiler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return keel_status_make(KEEL_IO, "a thread for compilers: %s", strerror(error));
    return NULL;
}

keel_status_t keel_compiler_start(const keel_compiler_settings_t *settings, keel_compiler_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof **out, &memory));
    keel_compiler_t *compiler = memory;
    compiler->owner = getpid();
    compiler->wake = -1;
    keel_buffer_initialize(&compiler->target, 0);
    pthread_mutex_init(&compiler->lock, NULL);
    pthread_cond_init(&compiler->changed, NULL);
    tasks_initialize(&compiler->waiting);
    tasks_initialize(&compiler->done);
    keel_status_t status = fill(settings, compiler);
    if (!status) status = start_thread(compiler);
    if (status)
        destroy(compiler);
    else
        *out = compiler;
    return status;
}

void keel_compiler_stop(keel_compiler_t *compiler) {
    // In a forked child, nothing of it may be touched: another thread may have held the lock.
    if (!compiler || compiler->owner != getpid()) return;
    pthread_mutex_lock(&compiler->lock);
    compiler->stopping = true;
    pthread_cond_broadcast(&compiler->changed);
    pthread_mutex_unlock(&compiler->lock);
    compiler_wake(compiler);
    pthread_join(compiler->thread, NULL);
    pthread_mutex_lock(&compiler->lock);
    while (compiler->waiters)
        pthread_cond_wait(&compiler->changed, &compiler->lock);
    pthread_mutex_unlock(&compiler->lock);
    destroy(compiler);
}

void compiler_wake(keel_compiler_t *compiler) {
    ssize_t ignored = write(compiler->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)ignored;
}

static keel_status_t check_process(const keel_compiler_t *compiler) {
    if (compiler->owner == getpid()) return NULL;
    return keel_status_make(KEEL_REFUSED, "this process was forked from one that has compilers; "
                                          "start others here");
}

// ---- jobs --------------------------------------------------------------------------------------

static keel_status_t make_task(const wire_job_t *job, void *context, task_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof **out, &memory));
    task_t *task = memory;
    task->result.context = context;
    task->is_trial = job->executable.size != 0;
    task->seconds = (unsigned)job->seconds;
    keel_buffer_initialize(&task->message, 0);
    keel_arena_initialize(&task->result.texts, 0);
    wire_put_job(&task->message, job);
    keel_status_t status = keel_buffer_status(&task->message);
    if (!status)
        status = keel_strdup(KEEL_STR("out of memory: the compiled program could not be kept"),
                             &task->no_memory);
    if (!status && task->message.size - WIRE_HEAD > WIRE_LIMIT)
        status = keel_status_make(KEEL_INVALID,
                                  "the program has %zu bytes, too many to compile or run "
                                  "it in another process",
                                  job->code.size + job->executable.size);
    if (status)
        task_destroy(task);
    else
        *out = task;
    return status;
}

static keel_status_t submit(keel_compiler_t *compiler, const wire_job_t *job, void *context,
                            uint64_t *out_id) {
    task_t *task;
    KEEL_TRY(make_task(job, context, &task));
    pthread_mutex_lock(&compiler->lock);
    *out_id = task->result.id = ++compiler->last_id;
    tasks_put(&compiler->waiting, task);
    pthread_mutex_unlock(&compiler->lock);
    compiler_wake(compiler);
    return NULL;
}

keel_status_t keel_compiler_submit(keel_compiler_t *compiler, const keel_job_t *job,
                                   uint64_t *out_id) {
    KEEL_TRY(check_process(compiler));
    KEEL_TRY(compiler_check_devices(job->options, compiler->device_count, compiler->target_name));
    const wire_job_t message = {.code = job->code,
                                .options = job->options,
                                .format = keel_str(job->format),
                                .is_partition = job->is_partition};
    return submit(compiler, &message, job->context, out_id);
}

keel_status_t keel_compiler_try(keel_compiler_t *compiler, const keel_trial_t *trial,
                                uint64_t *out_id) {
    keel_buffer_t arguments;
    KEEL_TRY(check_process(compiler));
    keel_buffer_initialize(&arguments, 0);
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < trial->argument_count && !status; ++i) {
        status = trial_check(&trial->arguments[i]);
        wire_put_shape(&arguments, &trial->arguments[i]);
    }
    if (!status) status = keel_buffer_status(&arguments);
    const wire_job_t message = {.executable = trial->executable,
                                .arguments = keel_buffer_bytes(&arguments),
                                .seed = trial->seed,
                                .seconds = trial->seconds};
    if (!status) status = submit(compiler, &message, trial->context, out_id);
    keel_buffer_deinitialize(&arguments);
    return status;
}

// ---- waiting -----------------------------------------------------------------------------------

static bool is_known(const keel_compiler_t *compiler, uint64_t id) {
    if (id == KEEL_COMPILER_ANY) return compiler->waiting.first || compiler->running;
    if (tasks_have(&compiler->waiting, id)) return true;
    for (unsigned i = 0; i < compiler->slot_count; ++i)
        if (compiler->slots[i].task && compiler->slots[i].task->result.id == id) return true;
    return false;
}

static keel_status_t take_done(keel_compiler_t *compiler, uint64_t id, task_t **out) {
    for (;;) {
        // First: what stopping ended is among the done ones, without a result.
        if (compiler->stopping) return keel_status_make(KEEL_REFUSED, "the compilers were stopped");
        *out = id == KEEL_COMPILER_ANY ? tasks_take_first(&compiler->done)
                                       : tasks_take(&compiler->done, id);
        if (*out) return NULL;
        if (!is_known(compiler, id))
            return keel_status_make(KEEL_NOT_FOUND, "no program %llu is being compiled",
                                    (unsigned long long)id);
        pthread_cond_wait(&compiler->changed, &compiler->lock);
    }
}

keel_status_t keel_compiler_wait(keel_compiler_t *compiler, uint64_t id, keel_compiled_t *out) {
    task_t *task = NULL;
    KEEL_TRY(check_process(compiler));
    pthread_mutex_lock(&compiler->lock);
    ++compiler->waiters;
    keel_status_t status = take_done(compiler, id, &task);
    --compiler->waiters;
    if (compiler->stopping) pthread_cond_broadcast(&compiler->changed);
    pthread_mutex_unlock(&compiler->lock);
    if (!status) {
        *out = task->result;
        task->result = (keel_compiled_t){0};
    }
    task_destroy(task);
    return status;
}
