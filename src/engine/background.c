// The first task starts the thread.
#include "engine/background.h"

enum { SECONDS = 2 }; // between two calls of look_around

struct background_t {
    void (*look_around)(keel_engine_t *engine);
    pthread_mutex_t lock; // for the fields below
    pthread_cond_t changed;
    task_t *first, **last;
    bool started, working;
    bool looking;              // calls look_around, which may use any client
    bool hangs;                // the running task was given up
    uint64_t added, done;      // tasks
    const PJRT_Client *client; // of the running task
    double compile_seconds;    // likewise
    uint64_t looked;           // when look_around was last called; only for the thread
};

keel_status_t background_create(keel_engine_t *engine, void (*look_around)(keel_engine_t *engine)) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(background_t), &memory));
    background_t *background = memory;
    background->look_around = look_around;
    pthread_mutex_init(&background->lock, NULL);
    keel_wait_initialize(&background->changed);
    background->last = &background->first;
    engine->background = background;
    return NULL;
}

void background_destroy(background_t *background) {
    if (!background) return;
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    keel_free(background);
}

// ---- the thread --------------------------------------------------------------------------------

static void set_looking(background_t *background, bool looking) {
    pthread_mutex_lock(&background->lock);
    background->looking = looking;
    if (!looking) background->hangs = false;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->lock);
}

static void look_around(keel_engine_t *engine) {
    background_t *background = engine->background;
    background->looked = keel_clock_monotonic();
    set_looking(background, true);
    background->look_around(engine);
    set_looking(background, false);
}

// Also runs when tasks follow each other without a pause.
static void look_around_when_due(keel_engine_t *engine) {
    uint64_t now = keel_clock_monotonic();
    if (now - engine->background->looked < SECONDS * 1000000000ull) return;
    if (!atomic_load(&engine->ended)) look_around(engine);
}

static void wait_for_task(keel_engine_t *engine) {
    background_t *background = engine->background;
    while (!background->first) {
        uint64_t until = keel_clock_monotonic() + SECONDS * 1000000000ull;
        if (keel_wait_until(&background->changed, &background->lock, until)) continue;
        if (background->first || atomic_load(&engine->ended)) continue;
        pthread_mutex_unlock(&background->lock);
        look_around(engine);
        pthread_mutex_lock(&background->lock);
    }
}

static task_t *take_task(background_t *background) {
    task_t *task = background->first;
    KEEL_ASSERT(task && background->done < background->added);
    background->first = task->next;
    if (!background->first) background->last = &background->first;
    background->working = true;
    background->client = task->client;
    background->compile_seconds = task->compile_seconds;
    return task;
}

static void *run_tasks(void *context) {
    keel_engine_t *engine = context;
    background_t *background = engine->background;
    background->looked = keel_clock_monotonic();
    pthread_mutex_lock(&background->lock);
    for (;;) {
        wait_for_task(engine);
        task_t *task = take_task(background);
        pthread_mutex_unlock(&background->lock);
        task->run(engine, task);
        task->destroy(task);
        look_around_when_due(engine);
        pthread_mutex_lock(&background->lock);
        background->working = background->hangs = false;
        ++background->done;
        pthread_cond_broadcast(&background->changed);
    }
    return NULL;
}

// ---- called by the client's threads ------------------------------------------------------------

static keel_status_t start_thread(keel_engine_t *engine) {
    background_t *background = engine->background;
    if (background->hangs)
        return keel_status_make(KEEL_REFUSED,
                                "the plugin or a disk does not answer in the background");
    if (background->started) return NULL;
    if (!engine_start_thread(run_tasks, engine))
        return keel_status_make(KEEL_INTERNAL, "cannot start the background thread");
    background->started = true;
    return NULL;
}

keel_status_t background_add(keel_engine_t *engine, task_t *task) {
    background_t *background = engine->background;
    pthread_mutex_lock(&background->lock);
    keel_status_t status = start_thread(engine);
    if (!status) {
        *background->last = task;
        background->last = &task->next;
        ++background->added;
        pthread_cond_broadcast(&background->changed);
    }
    pthread_mutex_unlock(&background->lock);
    return status;
}

uint64_t background_length(keel_engine_t *engine) {
    background_t *background = engine->background;
    pthread_mutex_lock(&background->lock);
    uint64_t length = background->added - background->done;
    pthread_mutex_unlock(&background->lock);
    return length;
}

static bool is_pending(const background_t *background, const PJRT_Client *client) {
    if (background->looking) return true;
    if (background->working && (!client || background->client == client)) return true;
    for (const task_t *task = background->first; task; task = task->next)
        if (!client || task->client == client) return true;
    return false;
}

// Under the lock: until nothing of the client is pending, or a task is done. False if it takes too
// long.
static bool wait_for_one(background_t *background, const PJRT_Client *client) {
    uint64_t done = background->done, began = keel_clock_monotonic();
    while (is_pending(background, client) && done == background->done) {
        uint64_t until = began + engine_patience_for(background->compile_seconds);
        if (keel_clock_monotonic() >= until) return false;
        keel_wait_until(&background->changed, &background->lock, until);
    }
    return true;
}

// What is queued behind a task that hangs is given up too: it may hold claims that other processes
// wait for.
static task_t *take_all(background_t *background) {
    task_t *left = background->first;
    for (const task_t *task = left; task; task = task->next)
        ++background->done;
    background->first = NULL;
    background->last = &background->first;
    return left;
}

static void destroy_all(task_t *left) {
    while (left) {
        task_t *next = left->next;
        left->destroy(left);
        left = next;
    }
}

bool background_drain(keel_engine_t *engine, const PJRT_Client *client) {
    background_t *background = engine->background;
    pthread_mutex_lock(&background->lock);
    while (!background->hangs && is_pending(background, client))
        background->hangs = !wait_for_one(background, client);
    task_t *left = background->hangs ? take_all(background) : NULL;
    bool is_idle = !is_pending(background, client);
    pthread_mutex_unlock(&background->lock);
    destroy_all(left);
    if (!is_idle)
        keel_log_once("background",
                      "gave up waiting for work in the background: the plugin or a disk "
                      "does not answer; some programs are not cached or recorded");
    return is_idle;
}

bool background_wait(keel_engine_t *engine, uint64_t until) {
    background_t *background = engine->background;
    pthread_mutex_lock(&background->lock);
    uint64_t added = background->added;
    while (background->done < added && keel_clock_monotonic() < until)
        keel_wait_until(&background->changed, &background->lock, until);
    bool is_done = background->done >= added;
    pthread_mutex_unlock(&background->lock);
    return is_done;
}
