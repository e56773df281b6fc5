// What programs need, reported once for each by the plugin, and what devices have in use during a
// run. A plugin that does not report it is recorded once in the journal and not asked again.
//
// A program is asked about when it is proved, on the background thread and using the executable
// that was loaded back; a load finds the answer in its entry. In XLA, values from the client's own
// executable do not outlive it, so that one could be asked only before the client gets it.
#include <string.h>

#include "engine/background.h"
#include "engine/memory.h"
#include "pjrt/memory.h"

typedef struct watched_t {
    PJRT_Client *client;
    PJRT_Device *device;
    char *name, *kind;
    keel_device_memory_t now, written;
    struct watched_t *next;
} watched_t;

struct memory_t {
    pthread_mutex_t lock; // for `devices`, held while they are asked, so that no client goes
    watched_t *devices;
    atomic_bool programs_unknown, devices_unknown;
};

keel_status_t memory_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(memory_t), &memory));
    engine->memory_use = memory;
    pthread_mutex_init(&engine->memory_use->lock, NULL);
    return NULL;
}

void memory_destroy(memory_t *memory) {
    if (!memory) return;
    pthread_mutex_destroy(&memory->lock);
    keel_free(memory);
}

// Takes the status.
static void unknown(keel_engine_t *engine, atomic_bool *known_to_be, const char *what,
                    keel_status_t status) {
    if (!atomic_exchange(known_to_be, true))
        keel_journal_memory_unknown(engine->journal, what, keel_status_message(status));
    keel_status_ignore(status);
}

// ---- programs ----------------------------------------------------------------------------------

void memory_ask(keel_engine_t *engine, PJRT_LoadedExecutable *loaded, keel_payload_t *out) {
    PJRT_Executable *executable = NULL;
    out->has_memory = false;
    if (atomic_load(&engine->memory_use->programs_unknown)) return;
    keel_status_t status = keel_pjrt_executable(engine->api, loaded, &executable);
    if (!status) status = keel_pjrt_program_memory(engine->api, executable, &out->memory);
    keel_pjrt_destroy_executable(engine->api, executable);
    out->has_memory = !status;
    if (status) unknown(engine, &engine->memory_use->programs_unknown, "programs", status);
}

void memory_write(keel_engine_t *engine, const keel_journal_subject_t *subject,
                  const keel_program_memory_t *memory) {
    keel_journal_memory(engine->journal,
                        &(keel_journal_memory_t){.subject = *subject,
                                                 .arguments = memory->arguments,
                                                 .outputs = memory->outputs,
                                                 .aliased = memory->aliased,
                                                 .temporaries = memory->temporaries,
                                                 .code = memory->code,
                                                 .host = memory->host,
                                                 .peak = memory->peak,
                                                 .total = keel_program_memory_total(memory)});
}

typedef struct program_task_t {
    task_t task;
    keel_digest_t program, key;
    char *name;
    keel_program_memory_t memory;
} program_task_t;

static void write_program(keel_engine_t *engine, task_t *head) {
    const program_task_t *task = (const program_task_t *)head;
    const keel_journal_subject_t subject = {
        .program = &task->program, .name = task->name, .key = &task->key};
    memory_write(engine, &subject, &task->memory);
}

static void destroy_program_task(task_t *head) {
    program_task_t *task = (program_task_t *)head;
    keel_free(task->name);
    keel_free(task);
}

static keel_status_t make_program_task(const keel_journal_subject_t *subject,
                                       const keel_program_memory_t *memory, program_task_t **out) {
    void *room;
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(program_task_t), &room));
    *out = room;
    **out = (program_task_t){.task = {NULL, write_program, destroy_program_task, NULL, 0},
                             .program = *subject->program,
                             .key = *subject->key,
                             .memory = *memory};
    return keel_strdup(keel_str(subject->name), &(*out)->name);
}

void memory_write_later(keel_engine_t *engine, const keel_journal_subject_t *subject,
                        const keel_program_memory_t *memory) {
    program_task_t *task;
    if (!engine->journal) return;
    keel_status_t status = make_program_task(subject, memory, &task);
    if (!status) status = background_add(engine, &task->task);
    if (!status) return;
    if (task) destroy_program_task(&task->task);
    engine_fell_through(engine, "memory", NULL, status);
}

// ---- devices -----------------------------------------------------------------------------------

static void free_watched(watched_t *watched) {
    keel_free(watched->name);
    keel_free(watched->kind);
    keel_free(watched);
}

static keel_status_t watch(keel_engine_t *engine, PJRT_Client *client, const char *platform,
                           PJRT_Device *device) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(watched_t), &memory));
    watched_t *watched = memory;
    watched->client = client;
    watched->device = device;
    keel_status_t status =
        keel_pjrt_device_name(engine->api, platform, device, &watched->name, &watched->kind);
    if (status) {
        free_watched(watched);
        return status;
    }
    watched_t **last = &engine->memory_use->devices;
    while (*last)
        last = &(*last)->next;
    *last = watched;
    return NULL;
}

static keel_status_t watch_all(keel_engine_t *engine, PJRT_Client *client, const char *platform) {
    PJRT_Device *const *devices;
    size_t count;
    keel_device_memory_t found;
    KEEL_TRY(keel_pjrt_addressable_devices(engine->api, client, &devices, &count));
    if (count) KEEL_TRY(keel_pjrt_device_memory(engine->api, devices[0], &found));
    for (size_t i = 0; i < count; ++i)
        KEEL_TRY(watch(engine, client, platform, devices[i]));
    return NULL;
}

void memory_watch(keel_engine_t *engine, PJRT_Client *client, const char *platform) {
    memory_t *memory = engine->memory_use;
    if (!engine->journal) return;
    pthread_mutex_lock(&memory->lock);
    keel_status_t status = watch_all(engine, client, platform);
    pthread_mutex_unlock(&memory->lock);
    if (status)
        unknown(engine, &memory->devices_unknown, "devices", status);
    else
        memory_sample(engine);
}

static void write_sample(keel_engine_t *engine, watched_t *watched) {
    keel_journal_device_memory(engine->journal,
                               &(keel_journal_device_memory_t){.device = watched->name,
                                                               .kind = watched->kind,
                                                               .in_use = watched->now.in_use,
                                                               .peak = watched->now.peak,
                                                               .limit = watched->now.limit});
    watched->written = watched->now;
}

// Use changes all the time: only a change of an eighth counts.
static bool moved(const watched_t *watched) {
    const keel_device_memory_t *now = &watched->now, *written = &watched->written;
    uint64_t more = now->in_use > written->in_use ? now->in_use : written->in_use;
    uint64_t less = now->in_use + written->in_use - more;
    return now->peak != written->peak || now->limit != written->limit || more - less > more / 8;
}

static void sample(keel_engine_t *engine, const PJRT_Client *of, bool is_last) {
    memory_t *memory = engine->memory_use;
    pthread_mutex_lock(&memory->lock);
    for (watched_t *watched = memory->devices; watched; watched = watched->next) {
        if (of && watched->client != of) continue;
        keel_status_t status = keel_pjrt_device_memory(engine->api, watched->device, &watched->now);
        bool changed =
            !status && memcmp(&watched->now, &watched->written, sizeof watched->now) != 0;
        if (changed && (is_last || moved(watched))) write_sample(engine, watched);
        if (status) unknown(engine, &memory->devices_unknown, "devices", status);
    }
    pthread_mutex_unlock(&memory->lock);
}

void memory_sample(keel_engine_t *engine) {
    sample(engine, NULL, false);
}

void memory_forget(keel_engine_t *engine, PJRT_Client *client) {
    memory_t *memory = engine->memory_use;
    sample(engine, client, true);
    pthread_mutex_lock(&memory->lock);
    for (watched_t **link = &memory->devices; *link;) {
        watched_t *watched = *link;
        if (client && watched->client != client) {
            link = &watched->next;
            continue;
        }
        *link = watched->next;
        free_watched(watched);
    }
    pthread_mutex_unlock(&memory->lock);
}
