// Programs on their way through the real compiler. One thread takes what the compiler is done with.
#define _GNU_SOURCE
#include <unistd.h>

#include "rehearse/objects.h"

// Whoever wants to know when it is done.
typedef struct waiter_t {
    struct waiter_t *next;
    keel_rehearse_done_t *done;
    void *context;
} waiter_t;

struct compiling_t {
    atomic_size_t references;
    compiling_t *next; // of those with the compiler. Under `lock`, below
    keel_digest_t job;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    keel_compiled_t compiled;
    waiter_t *waiters;
};

// All under `lock`. `pending`: programs with the compiler.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; // set up with the compiler
static keel_compiler_t *compiler;
static bool has_thread;
static uint64_t pending;
static compiling_t *under_way;

void compiling_release(compiling_t *compiling) {
    KEEL_ASSERT(!compiling || atomic_load(&compiling->references));
    if (!compiling || atomic_fetch_sub(&compiling->references, 1) != 1) return;
    keel_compiled_deinitialize(&compiling->compiled);
    pthread_mutex_destroy(&compiling->lock);
    pthread_cond_destroy(&compiling->changed);
    keel_free(compiling);
}

// ---- the thread --------------------------------------------------------------------------------

// Under `lock`.
static void unlink_job(compiling_t *compiling) {
    compiling_t **link = &under_way;
    while (*link && *link != compiling)
        link = &(*link)->next;
    if (*link) *link = compiling->next;
}

static void settle(compiling_t *compiling, const keel_compiled_t *compiled) {
    pthread_mutex_lock(&lock);
    unlink_job(compiling);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&compiling->lock);
    compiling->compiled = *compiled;
    compiling->is_done = true;
    waiter_t *waiters = compiling->waiters;
    compiling->waiters = NULL;
    pthread_cond_broadcast(&compiling->changed);
    pthread_mutex_unlock(&compiling->lock);
    while (waiters) {
        waiter_t *next = waiters->next;
        waiters->done(waiters->context, &compiling->compiled);
        keel_free(waiters);
        waiters = next;
    }
    compiling_release(compiling);
}

static void *take_results(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!pending)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        keel_compiled_t compiled;
        keel_status_t status = keel_compiler_wait(compiler, KEEL_COMPILER_ANY, &compiled);
        if (status) { // only if the process has no memory for an answer
            keel_log_once("compiler", "%s", keel_status_message(status));
            keel_status_ignore(status);
            usleep(100000);
            continue;
        }
        settle(compiled.context, &compiled);
        pthread_mutex_lock(&lock);
        --pending;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

// Under `lock`.
static keel_status_t start(void) {
    pthread_t thread;
    if (!compiler) {
        const keel_compiler_settings_t settings = {.target = rehearsal.target,
                                                   .plugin = rehearsal.plugin_path,
                                                   .interpreter = rehearsal.interpreter};
        KEEL_TRY(keel_compiler_start(&settings, &compiler));
        keel_wait_initialize(&changed);
    }
    if (has_thread) return NULL;
    if (pthread_create(&thread, NULL, take_results, NULL))
        return keel_status_make(KEEL_INTERNAL, "no thread for the compiler could be started");
    pthread_detach(thread);
    has_thread = true;
    return NULL;
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t submit(const PJRT_Client_Compile_Args *args, bool is_partition,
                            compiling_t *compiling) {
    const PJRT_Program *program = args->program;
    bool is_hlo = keel_str_is((keel_str_t){program->format, program->format_size}, "hlo");
    const keel_job_t job = {.code = keel_bytes(program->code, program->code_size),
                            .format = is_hlo ? "hlo" : "mlir",
                            .options =
                                keel_bytes(args->compile_options, args->compile_options_size),
                            .is_partition = is_partition,
                            .context = compiling};
    uint64_t id;
    KEEL_TRY(start());
    KEEL_TRY(keel_compiler_submit(compiler, &job, &id));
    ++pending;
    compiling->next = under_way;
    under_way = compiling;
    pthread_cond_broadcast(&changed);
    return NULL;
}

static keel_digest_t digest_job(const PJRT_Client_Compile_Args *args, bool is_partition) {
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, &is_partition, sizeof is_partition);
    keel_hasher_update(&hasher, &args->program->code_size, sizeof args->program->code_size);
    keel_hasher_update(&hasher, args->program->code, args->program->code_size);
    keel_hasher_update(&hasher, args->compile_options, args->compile_options_size);
    return keel_hasher_finish(&hasher);
}

// Under `lock`: the same program, if the compiler has it.
static compiling_t *find_job(const keel_digest_t *job) {
    compiling_t *at = under_way;
    while (at && !keel_digest_equal(&at->job, job))
        at = at->next;
    return at;
}

static keel_status_t make(const keel_digest_t *job, compiling_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(compiling_t), &memory));
    compiling_t *compiling = memory;
    compiling->job = *job;
    atomic_init(&compiling->references, 2);
    pthread_mutex_init(&compiling->lock, NULL);
    pthread_cond_init(&compiling->changed, NULL);
    *out = compiling;
    return NULL;
}

keel_status_t compiling_begin(const PJRT_Client_Compile_Args *args, bool is_partition,
                              compiling_t **out) {
    if (is_forked())
        return keel_status_make(KEEL_UNSUPPORTED, "keel: a forked process has no compiler");
    keel_digest_t job = digest_job(args, is_partition);
    pthread_mutex_lock(&lock);
    compiling_t *compiling = find_job(&job);
    if (compiling) atomic_fetch_add(&compiling->references, 1);
    keel_status_t status = NULL;
    if (!compiling) {
        status = make(&job, &compiling);
        if (!status) status = submit(args, is_partition, compiling);
        if (status && compiling) {
            atomic_store(&compiling->references, 1);
            compiling_release(compiling);
        }
    }
    pthread_mutex_unlock(&lock);
    if (!status) *out = compiling;
    return status;
}

const keel_compiled_t *compiling_wait(compiling_t *compiling) {
    static char words[] = "keel: a forked process does not learn what the compiler makes";
    static const keel_compiled_t never = {.code = PJRT_Error_Code_UNAVAILABLE, .error = words};
    if (is_forked()) return &never;
    pthread_mutex_lock(&compiling->lock);
    while (!compiling->is_done)
        pthread_cond_wait(&compiling->changed, &compiling->lock);
    pthread_mutex_unlock(&compiling->lock);
    return &compiling->compiled;
}

PJRT_Error *compiling_refusal(const keel_compiled_t *compiled) {
    return keel_pjrt_error_as(compiled->code, keel_status_make(KEEL_PLUGIN, "%s", compiled->error));
}

const keel_compiled_t *compiling_look(compiling_t *compiling) {
    pthread_mutex_lock(&compiling->lock);
    bool is_done = compiling->is_done;
    pthread_mutex_unlock(&compiling->lock);
    return is_done ? &compiling->compiled : NULL;
}

keel_status_t compiling_when_done(compiling_t *compiling, keel_rehearse_done_t *done,
                                  void *context) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(waiter_t), &memory));
    waiter_t *waiter = memory;
    pthread_mutex_lock(&compiling->lock);
    bool is_done = compiling->is_done;
    if (!is_done) {
        *waiter = (waiter_t){compiling->waiters, done, context};
        compiling->waiters = waiter;
    }
    pthread_mutex_unlock(&compiling->lock);
    if (!is_done) return NULL;
    keel_free(waiter);
    done(context, &compiling->compiled);
    return NULL;
}

uint64_t keel_rehearse_pending(void) {
    pthread_mutex_lock(&lock);
    uint64_t count = pending;
    pthread_mutex_unlock(&lock);
    return count;
}

void keel_rehearse_wait(void (*each)(void *context, uint64_t pending), void *context) {
    static const uint64_t tick = 250000000;
    pthread_mutex_lock(&lock);
    while (pending) {
        uint64_t left = pending;
        keel_wait_until(&changed, &lock, keel_clock_monotonic() + tick);
        pthread_mutex_unlock(&lock);
        if (each) each(context, left);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}
