// background: the thread that does work off the client's threads, in order.
#ifndef KEEL_ENGINE_BACKGROUND_H_
#define KEEL_ENGINE_BACKGROUND_H_

#include "engine/core.h"

typedef struct background_t background_t;

// The head of a task; its data follow it.
typedef struct task_t {
    PJRT_Client *client; // must outlive the task; NULL if none must
    void (*run)(keel_engine_t *engine, struct task_t *task);
    void (*destroy)(struct task_t *task); // called whether it ran or not
    struct task_t *next;
    double compile_seconds; // of the program that it loads; 0: unknown, or none
} task_t;

// The same thread calls `look_around` about every two seconds, from the first task until the engine
// has ended.
keel_status_t background_create(keel_engine_t *engine,
                                void (*look_around)(keel_engine_t *engine)) KEEL_MUST_CHECK;
// Only before anything was queued. NULL is allowed.
void background_destroy(background_t *background);
// Queues the task, and takes it on success. Fails while the thread hangs.
keel_status_t background_add(keel_engine_t *engine, task_t *task) KEEL_MUST_CHECK;
// Waits until no task of the client (NULL: no task at all) is queued or running. False, said once,
// if the running task takes longer than engine_patience_for: the thread hangs, and if it wakes up
// it still uses the client.
bool background_drain(keel_engine_t *engine, const PJRT_Client *client);
// How many tasks are queued or running.
uint64_t background_length(keel_engine_t *engine);
// Waits until every task is done that was queued before, but no longer than until that time of
// keel_clock_monotonic; then false.
bool background_wait(keel_engine_t *engine, uint64_t until);

#endif // KEEL_ENGINE_BACKGROUND_H_
