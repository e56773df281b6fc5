// background: what is done in the background, by one thread, in order.
#ifndef KEEL_ENGINE_BACKGROUND_H_
#define KEEL_ENGINE_BACKGROUND_H_

#include "engine/core.h"

typedef struct background_t background_t;

// The head of what there is to do; what it is done with follows it.
typedef struct task_t {
    PJRT_Client *client; // that must outlive it; NULL where none must
    void (*run)(keel_engine_t *engine, struct task_t *task);
    void (*destroy)(struct task_t *task); // run or not
    struct task_t *next;
} task_t;

// `look_around` is called every two seconds or so, by the same thread, once there was a task and
// until the engine has ended.
keel_status_t background_create(keel_engine_t *engine,
                                void (*look_around)(keel_engine_t *engine)) KEEL_MUST_CHECK;
// Before anything was queued. NULL is allowed.
void background_destroy(background_t *background);
// Queues the task, which is taken over where this is well.
keel_status_t background_add(keel_engine_t *engine, task_t *task) KEEL_MUST_CHECK;
// Waits until nothing of the client (NULL: nothing at all) is queued or in work.
void background_drain(keel_engine_t *engine, const PJRT_Client *client);

#endif // KEEL_ENGINE_BACKGROUND_H_
