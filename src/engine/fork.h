// fork: the locks of all engines of the process across a fork. In the child, no other thread could
// release them.
#ifndef KEEL_ENGINE_FORK_H_
#define KEEL_ENGINE_FORK_H_

#include "engine/core.h"

// Adds a complete engine to those of the process.
void fork_guard(keel_engine_t *engine);

// True in a forked child. The first time there, the journal has that it lacks what the child does.
bool fork_is_child(const keel_engine_t *engine);

#endif // KEEL_ENGINE_FORK_H_
