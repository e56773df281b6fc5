#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "engine/internal.h"

// What is done behind the client's back, by one thread, in order.
typedef enum job_kind { JOB_PROGRAM, JOB_PUBLISH, JOB_EXPLAIN, JOB_BUNDLE, JOB_MEMORY } job_kind_t;

typedef struct job_t {
    job_kind_t kind;
    struct job_t *next;
    keel_digest_t program;
    uint8_t *bytes; // of the program, or of the serialized executable
    size_t size;
    // JOB_PROGRAM
    const char *format;
    PJRT_Client *client; // NULL where it does not matter
    // JOB_EXPLAIN
    inquiry_t *inquiry;
    // JOB_BUNDLE
    bundling_t *bundling;
    // JOB_MEMORY
    keel_digest_t key_digest;
    keel_program_memory_t memory;
    // JOB_PUBLISH
    keel_key_t key;
    char *name;
    double compile_seconds;
    uint64_t compiled; // when
    keel_claim_t claim;
} job_t;

typedef struct publisher_t {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job_t *first, **last;
    job_t *working;
    bool started;
    uint64_t looked; // when; the thread's own
} publisher_t;

static keel_claim_t no_claim(void) {
    return (keel_claim_t){.lock = {.descriptor = -1}};
}

keel_status_t publisher_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(publisher_t), &memory));
    publisher_t *publisher = memory;
    pthread_mutex_init(&publisher->lock, NULL);
    pthread_cond_init(&publisher->changed, NULL);
    publisher->last = &publisher->first;
    engine->publisher = publisher;
    return NULL;
}

void publisher_destroy(publisher_t *publisher) {
    if (!publisher) return;
    pthread_cond_destroy(&publisher->changed);
    pthread_mutex_destroy(&publisher->lock);
    keel_free(publisher);
}

// Everything but the job itself, which publisher_drain may still look at.
static void free_job_contents(job_t *job) {
    keel_free(job->bytes);
    keel_key_deinitialize(&job->key);
    keel_free(job->name);
    if (job->inquiry) explain_deinitialize(job->inquiry);
    keel_free(job->inquiry);
    bundling_destroy(job->bundling);
    keel_store_release(&job->claim);
}

static void free_job(job_t *job) {
    free_job_contents(job);
    keel_free(job);
}

// ---- publishing --------------------------------------------------------------------------------

static void write_components(const keel_key_t *key, keel_buffer_t *out) {
    keel_buffer_byte(out, '{');
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&key->components[i], hex);
        keel_buffer_format(out, "%s\"%s\":{\"digest\":\"%s\",\"value\":", i ? "," : "",
                           keel_component_name((keel_component_t)i), hex);
        keel_buffer_json_str(out, keel_str(key->values[i] ? key->values[i] : ""));
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, '}');
}

static keel_status_t describe(keel_engine_t *engine, const job_t *job, keel_entry_t *entry) {
    entry->key = job->key.digest;
    entry->program = job->program;
    entry->created = keel_clock_wall();
    entry->compile_seconds = job->compile_seconds;
    KEEL_TRY(keel_strdup(keel_str(job->name), &entry->name));
    KEEL_TRY(keel_path(&entry->writer, "keel %s, pid %d", KEEL_VERSION, (int)engine->pid));
    keel_buffer_t components;
    keel_buffer_initialize(&components, 0);
    write_components(&job->key, &components);
    size_t size;
    uint8_t *text;
    keel_status_t status = keel_buffer_take(&components, &text, &size);
    keel_buffer_deinitialize(&components);
    if (!status) entry->components = (char *)text;
    return status;
}

static void write_memory(keel_engine_t *engine, const job_t *job, const keel_digest_t *key,
                         const keel_program_memory_t *memory) {
    const keel_journal_subject_t subject = {
        .program = &job->program, .name = job->name, .key = key};
    memory_write(engine, &subject, memory);
}

// A plugin that does not tell the optimized program is asked for it by each client as before.
static keel_status_t pack(keel_engine_t *engine, const job_t *job, PJRT_LoadedExecutable *loaded,
                          keel_entry_t *entry) {
    keel_payload_t payload = {.executable = keel_bytes(job->bytes, job->size)};
    keel_buffer_t program;
    keel_buffer_initialize(&program, 0);
    PJRT_Executable *executable = NULL;
    keel_status_t status = keel_pjrt_executable(engine->api, loaded, &executable);
    if (!status)
        status = keel_pjrt_optimized_program(engine->api, executable, &program, &payload.format);
    if (!status)
        payload.program = keel_buffer_bytes(&program);
    else
        payload.format = (keel_str_t){0};
    keel_status_ignore(status);
    memory_ask(engine, loaded, &payload);
    if (payload.has_memory) write_memory(engine, job, &job->key.digest, &payload.memory);
    status = keel_payload_pack(&payload, &entry->payload, &entry->payload_size);
    keel_pjrt_destroy_executable(engine->api, executable);
    keel_buffer_deinitialize(&program);
    return status;
}

// An executable that cannot be loaded back is worth nothing to the next process.
static keel_status_t prove(keel_engine_t *engine, const job_t *job, keel_entry_t *entry) {
    keel_mark_t mark;
    keel_status_t unmarked = keel_store_mark(engine_cache_dir(engine), &job->key.digest, &mark);
    PJRT_LoadedExecutable *loaded;
    keel_status_t status =
        keel_pjrt_load(engine->api, job->client, keel_bytes(job->bytes, job->size), &loaded);
    if (!status) {
        status = pack(engine, job, loaded, entry);
        keel_pjrt_destroy_loaded(engine->api, loaded);
    }
    if (!unmarked) keel_store_unmark(&mark);
    keel_status_ignore(unmarked);
    return status;
}

// A process that died during a proof may have been killed by anybody; two in a row are no accident,
// and the third would be lost for the cache's sake.
static keel_status_t check_crashes(unsigned crashes) {
    enum { CRASHES = 2 };
    if (crashes < CRASHES) return NULL;
    return keel_status_make(KEEL_REFUSED,
                            "loading it back has ended %u processes, so it is not tried again for "
                            "a day (keel cache clear forgets that at once)",
                            crashes);
}

static keel_status_t publish_entry(keel_engine_t *engine, job_t *job, keel_entry_t *entry,
                                   const char **out_step) {
    *out_step = "prove";
    unsigned crashes = keel_store_crashes(engine_cache_dir(engine), &job->key.digest);
    KEEL_TRY(check_crashes(crashes));
    KEEL_TRY(describe(engine, job, entry));
    KEEL_TRY(prove(engine, job, entry));
    if (crashes) keel_store_forgive(engine_cache_dir(engine), &job->key.digest);
    *out_step = "put";
    keel_status_t status =
        engine->memory.put ? engine->memory.put(engine->memory.context, entry) : NULL;
    keel_status_ignore(status); // too large for memory, or none left: the disk has it
    return engine->disk.put(engine->disk.context, entry);
}

void publisher_failed(keel_engine_t *engine, const char *step, const keel_key_t *key,
                      const char *name, keel_status_t status) {
    keel_log_once(step, "%s was compiled but is not cached: %s; the run goes on",
                  *name ? name : "a program", keel_status_message(status));
    keel_journal_store_error(engine->journal, step, &key->digest, keel_status_message(status));
    keel_status_ignore(status);
}

static void publish(keel_engine_t *engine, job_t *job) {
    keel_entry_t entry;
    keel_entry_initialize(&entry);
    const char *step;
    keel_status_t status = publish_entry(engine, job, &entry, &step);
    if (status) {
        publisher_failed(engine, step, &job->key, job->name, status);
    } else {
        keel_journal_publish(engine->journal,
                             &(keel_journal_publish_t){
                                 .key = &job->key.digest,
                                 .name = job->name,
                                 .payload_bytes = job->size,
                                 .seconds = keel_seconds(keel_clock_monotonic() - job->compiled),
                             });
    }
    keel_entry_deinitialize(&entry);
}

// ---- the thread --------------------------------------------------------------------------------

enum { SECONDS = 2 }; // between two looks at what goes on

// So that a process which is killed has told most of what it executed.
static void journal_executes(keel_engine_t *engine) {
    keel_journal_counts_t counts;
    uint64_t total;
    flow_journal(engine);
    keel_status_t status = executables_collect(&engine->executables, &counts, &total);
    if (!status && counts.size) keel_journal_executes(engine->journal, counts);
    if (!status) keel_free((void *)(uintptr_t)counts.data);
    keel_status_ignore(status);
}

static void look_around(keel_engine_t *engine) {
    engine->publisher->looked = keel_clock_monotonic();
    journal_executes(engine);
    memory_sample(engine);
    figures_update(engine);
    prefetch_keep_plan(engine, false);
    gang_watch(engine);
}

// Also where one job follows the other for long.
static void look_around_when_due(keel_engine_t *engine) {
    uint64_t now = keel_clock_monotonic();
    if (now - engine->publisher->looked < SECONDS * 1000000000ull) return;
    if (!atomic_load(&engine->ended)) look_around(engine);
}

static void wait_for_job(keel_engine_t *engine) {
    publisher_t *publisher = engine->publisher;
    while (!publisher->first) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += SECONDS;
        if (pthread_cond_timedwait(&publisher->changed, &publisher->lock, &until) != ETIMEDOUT)
            continue;
        if (publisher->first || atomic_load(&engine->ended)) continue;
        pthread_mutex_unlock(&publisher->lock);
        look_around(engine);
        pthread_mutex_lock(&publisher->lock);
    }
}

static void do_job(keel_engine_t *engine, job_t *job) {
    switch (job->kind) {
        case JOB_PROGRAM:
            keel_journal_program(engine->journal, &job->program, job->format,
                                 keel_bytes(job->bytes, job->size));
            return;
        case JOB_PUBLISH:
            publish(engine, job);
            return;
        case JOB_BUNDLE:
            bundling_run(engine, job->bundling);
            return;
        case JOB_EXPLAIN:
            explain_run(engine, job->inquiry);
            return;
        case JOB_MEMORY:
            write_memory(engine, job, &job->key_digest, &job->memory);
            return;
    }
}

static void *work(void *context) {
    keel_engine_t *engine = context;
    publisher_t *publisher = engine->publisher;
    publisher->looked = keel_clock_monotonic();
    pthread_mutex_lock(&publisher->lock);
    for (;;) {
        wait_for_job(engine);
        job_t *job = publisher->first;
        publisher->first = job->next;
        if (!publisher->first) publisher->last = &publisher->first;
        publisher->working = job;
        pthread_mutex_unlock(&publisher->lock);
        do_job(engine, job);
        free_job_contents(job);
        look_around_when_due(engine);
        pthread_mutex_lock(&publisher->lock);
        publisher->working = NULL;
        keel_free(job);
        pthread_cond_broadcast(&publisher->changed);
    }
    return NULL;
}

static keel_status_t start(keel_engine_t *engine) {
    publisher_t *publisher = engine->publisher;
    if (publisher->started) return NULL;
    if (!engine_start_thread(work, engine))
        return keel_status_make(KEEL_INTERNAL, "the publishing thread cannot be started");
    publisher->started = true;
    return NULL;
}

static keel_status_t enqueue(keel_engine_t *engine, job_t *job) {
    publisher_t *publisher = engine->publisher;
    pthread_mutex_lock(&publisher->lock);
    keel_status_t status = start(engine);
    if (!status) {
        *publisher->last = job;
        publisher->last = &job->next;
        pthread_cond_broadcast(&publisher->changed);
    }
    pthread_mutex_unlock(&publisher->lock);
    return status;
}

static keel_status_t make_job(job_kind_t kind, const keel_digest_t *program, job_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(job_t), &memory));
    *out = memory;
    (*out)->kind = kind;
    (*out)->program = *program;
    (*out)->claim = no_claim();
    keel_key_initialize(&(*out)->key);
    return NULL;
}

static keel_status_t fill_publication(const publication_t *publication, job_t *job) {
    job->client = publication->client;
    job->compile_seconds = publication->compile_seconds;
    job->compiled = keel_clock_monotonic();
    KEEL_TRY(keel_key_copy(publication->key, &job->key));
    return keel_strdup(keel_str(publication->name), &job->name);
}

void publisher_publish(keel_engine_t *engine, const publication_t *publication) {
    job_t *job = NULL;
    keel_status_t status = make_job(JOB_PUBLISH, publication->program, &job);
    if (status) {
        keel_claim_t claim = publication->claim;
        keel_free(publication->payload);
        keel_store_release(&claim);
    } else {
        job->bytes = publication->payload;
        job->size = publication->payload_size;
        job->claim = publication->claim;
        status = fill_publication(publication, job);
    }
    if (!status) status = enqueue(engine, job);
    if (!status) return;
    if (job) free_job(job);
    engine_fell_through(engine, "publish", NULL, status);
}

void publisher_keep_program(keel_engine_t *engine, const keel_digest_t *program, const char *format,
                            keel_bytes_t bytes) {
    if (!engine->journal) return;
    job_t *job = NULL;
    keel_status_t status = make_job(JOB_PROGRAM, program, &job);
    if (!status) {
        job->format = format;
        job->size = bytes.size;
        status = keel_bytes_dup(bytes, &job->bytes);
    }
    if (!status) status = enqueue(engine, job);
    if (!status) return;
    if (job) free_job(job);
    engine_fell_through(engine, "journal", NULL, status);
}

keel_status_t publisher_bundle(keel_engine_t *engine, bundling_t *bundling, PJRT_Client *client) {
    static const keel_digest_t none;
    job_t *job;
    KEEL_TRY(make_job(JOB_BUNDLE, &none, &job));
    job->client = client;
    job->bundling = bundling;
    keel_status_t status = enqueue(engine, job);
    if (!status) return NULL;
    job->bundling = NULL; // the caller's still
    free_job(job);
    return status;
}

static keel_status_t make_inquiry(inquiry_t *inquiry, job_t **out) {
    void *memory;
    KEEL_TRY(make_job(JOB_EXPLAIN, &inquiry->program, out));
    KEEL_TRY(keel_alloc(sizeof *inquiry, &memory));
    (*out)->client = inquiry->client;
    (*out)->inquiry = memory;
    *(*out)->inquiry = *inquiry;
    return NULL;
}

void publisher_explain(keel_engine_t *engine, inquiry_t *inquiry) {
    job_t *job = NULL;
    keel_status_t status = make_inquiry(inquiry, &job);
    if (!status) status = enqueue(engine, job);
    if (!status) return;
    explain_failed(engine, inquiry, status);
    if (job && job->inquiry)
        free_job(job);
    else {
        explain_deinitialize(inquiry);
        keel_free(job);
    }
}

void publisher_keep_memory(keel_engine_t *engine, const keel_journal_subject_t *subject,
                           const keel_program_memory_t *memory) {
    if (!engine->journal) return;
    job_t *job = NULL;
    keel_status_t status = make_job(JOB_MEMORY, subject->program, &job);
    if (!status) {
        job->key_digest = *subject->key;
        job->memory = *memory;
        status = keel_strdup(keel_str(subject->name), &job->name);
    }
    if (!status) status = enqueue(engine, job);
    if (!status) return;
    if (job) free_job(job);
    engine_fell_through(engine, "memory", NULL, status);
}

static bool pending(const publisher_t *publisher, const PJRT_Client *client) {
    if (publisher->working && (!client || publisher->working->client == client)) return true;
    for (const job_t *job = publisher->first; job; job = job->next)
        if (!client || job->client == client) return true;
    return false;
}

void publisher_drain(keel_engine_t *engine, const PJRT_Client *client) {
    publisher_t *publisher = engine->publisher;
    pthread_mutex_lock(&publisher->lock);
    while (pending(publisher, client))
        pthread_cond_wait(&publisher->changed, &publisher->lock);
    pthread_mutex_unlock(&publisher->lock);
}
