// Buffers are destroyed on a thread of Keel's.
//
// In XLA's CPU plugins, destroying a buffer may wait for the executions that use it (seen on PJRT
// 0.81). Two clients destroy buffers where nobody may wait: PyTorch/XLA while it holds Python's
// lock (_xla_set_all_reduce_token), which the threads of the other replicas need, and TorchTPU in
// callbacks on the plugin's own threads, of which there are as many as processors. So from the
// first program for several replicas, or of TorchTPU's, buffers go to a thread that nobody waits
// for.
#define _GNU_SOURCE
#include <unistd.h>

#include "engine/release.h"

typedef struct released_t {
    PJRT_Buffer *buffer;
    struct released_t *next;
} released_t;

struct release_t {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    released_t *first, **last;
    bool started, working;
    atomic_bool begun;
};

keel_status_t release_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(release_t), &memory));
    release_t *release = memory;
    pthread_mutex_init(&release->lock, NULL);
    keel_wait_initialize(&release->changed);
    release->last = &release->first;
    engine->release = release;
    return NULL;
}

void release_destroy(release_t *release) {
    if (!release) return;
    pthread_cond_destroy(&release->changed);
    pthread_mutex_destroy(&release->lock);
    keel_free(release);
}

static void destroy_buffer(keel_engine_t *engine, PJRT_Buffer *buffer) {
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = buffer};
    PJRT_Error *error = engine->api->PJRT_Buffer_Destroy(&args);
    keel_status_ignore(keel_pjrt_status(engine->api, error, "destroy"));
}

static void *release_buffers(void *context) {
    keel_engine_t *engine = context;
    release_t *release = engine->release;
    pthread_mutex_lock(&release->lock);
    for (;;) {
        while (!release->first)
            pthread_cond_wait(&release->changed, &release->lock);
        released_t *item = release->first;
        release->first = item->next;
        if (!release->first) release->last = &release->first;
        release->working = true;
        pthread_mutex_unlock(&release->lock);
        destroy_buffer(engine, item->buffer);
        keel_free(item);
        pthread_mutex_lock(&release->lock);
        release->working = false;
        pthread_cond_broadcast(&release->changed);
    }
    return NULL;
}

void release_begin(keel_engine_t *engine) {
    release_t *release = engine->release;
    pthread_mutex_lock(&release->lock);
    if (!release->started) release->started = engine_start_thread(release_buffers, engine);
    if (release->started) atomic_store_explicit(&release->begun, true, memory_order_relaxed);
    pthread_mutex_unlock(&release->lock);
}

bool keel_engine_releases(const keel_engine_t *engine) {
    return atomic_load_explicit(&engine->release->begun, memory_order_relaxed);
}

bool keel_engine_release(keel_engine_t *engine, PJRT_Buffer *buffer) {
    release_t *release = engine->release;
    void *memory;
    if (!buffer || atomic_load(&engine->ended) || getpid() != engine->pid) return false;
    keel_status_t status = keel_alloc(sizeof(released_t), &memory);
    keel_status_ignore(status);
    if (status) return false;
    released_t *item = memory;
    *item = (released_t){.buffer = buffer};
    pthread_mutex_lock(&release->lock);
    *release->last = item;
    release->last = &item->next;
    pthread_cond_broadcast(&release->changed);
    pthread_mutex_unlock(&release->lock);
    return true;
}

static void leave(released_t *left, bool is_idle) {
    if (left || !is_idle)
        keel_log_once("release", "buffers could not be destroyed before their client was closed; "
                                 "their memory stays in use");
    while (left) {
        released_t *next = left->next;
        keel_free(left);
        left = next;
    }
}

bool release_drain(keel_engine_t *engine, double seconds) {
    release_t *release = engine->release;
    uint64_t until = keel_clock_monotonic() + (uint64_t)(seconds * 1e9);
    pthread_mutex_lock(&release->lock);
    while (release->first || release->working)
        if (!keel_wait_until(&release->changed, &release->lock, until)) break;
    released_t *left = release->first;
    release->first = NULL;
    release->last = &release->first;
    bool is_idle = !release->working;
    pthread_mutex_unlock(&release->lock);
    leave(left, is_idle);
    return is_idle;
}
