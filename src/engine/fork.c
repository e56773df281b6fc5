#include "engine/fork.h"
#include "engine/counters.h"
#include "engine/executables.h"
#include "engine/flow.h"

// Held across a fork, so that no engine joins in between.
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
    pthread_mutex_lock(&adding);
    for (keel_engine_t *engine = engine_newest(); engine; engine = engine->next) {
        executables_lock(engine->executables);
        pthread_mutex_lock(&engine->counters->lock);
        pthread_mutex_lock(&engine->sites->lock);
        pthread_mutex_lock(&engine->flow->lock);
    }
}

static void after_fork(void) {
    for (keel_engine_t *engine = engine_newest(); engine; engine = engine->next) {
        pthread_mutex_unlock(&engine->flow->lock);
        pthread_mutex_unlock(&engine->sites->lock);
        pthread_mutex_unlock(&engine->counters->lock);
        executables_unlock(engine->executables);
    }
    pthread_mutex_unlock(&adding);
}

static void register_handlers(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

void fork_guard(keel_engine_t *engine) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_handlers);
    pthread_mutex_lock(&adding);
    engine_add(engine);
    pthread_mutex_unlock(&adding);
}
