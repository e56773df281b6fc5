// bundling: the bundle of this process, told once.
#ifndef KEEL_ENGINE_BUNDLING_H_
#define KEEL_ENGINE_BUNDLING_H_

#include "engine/core.h"

// Tells, once a process, what it depends on; says it where the versions are none that Keel was
// tried with. On the thread that made the client.
void bundling_begin(keel_engine_t *engine, PJRT_Client *client);

#endif // KEEL_ENGINE_BUNDLING_H_
