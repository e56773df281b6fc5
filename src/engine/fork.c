#include "engine/fork.h"

#include <unistd.h>

#include "engine/executables.h"
#include "engine/flow.h"
#include "engine/makers.h"
#include "engine/sent.h"
#include "engine/sites.h"
#include "engine/steps.h"

// The parts whose locks a forked child takes. It goes straight to the plugin, but still counts
// executions and reads, releases executables and may ask for the steps. All else that has a lock is
// the parent's business: compiling, what follows it in the background, and the journal. Holding
// those locks too would make a fork wait for a plugin or a file.
static const struct {
    void (*before)(keel_engine_t *engine);
    void (*after)(keel_engine_t *engine);
} parts[] = {
    // Nobody holds two of these.
    {executables_before_fork, executables_after_fork},
    {steps_before_fork, steps_after_fork},
    {sites_before_fork, sites_after_fork},
    {flow_before_fork, flow_after_fork},
    {makers_before_fork, makers_after_fork},
    {sent_before_fork, sent_after_fork},
};
enum { PARTS = sizeof parts / sizeof *parts };

// Held across a fork, so that no engine joins in between.
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
    pthread_mutex_lock(&adding);
    for (keel_engine_t *engine = engine_newest(); engine; engine = engine->next)
        for (int i = 0; i < PARTS; ++i)
            parts[i].before(engine);
}

static void after_fork(void) {
    for (keel_engine_t *engine = engine_newest(); engine; engine = engine->next)
        for (int i = PARTS; i-- > 0;)
            parts[i].after(engine);
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

bool fork_is_child(const keel_engine_t *engine) {
    static _Atomic pid_t known; // whose event is written
    const pid_t pid = getpid();
    if (pid == engine->pid) return false;
    if (atomic_exchange(&known, pid) != pid)
        keel_journal_fallback(engine->journal, KEEL_JOURNAL_UNSEEN, NULL,
                              "a forked child asks for programs of its own, which go to the "
                              "plugin and are not recorded");
    return true;
}
