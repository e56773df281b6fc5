// bundling: the bundle of this process, written once.
#ifndef KEEL_ENGINE_BUNDLING_H_
#define KEEL_ENGINE_BUNDLING_H_

#include "engine/core.h"

// Records, once per process, what it depends on; warns if Keel was not tested with these versions.
// On the thread that made the client.
void bundling_begin(keel_engine_t *engine, PJRT_Client *client);

#endif // KEEL_ENGINE_BUNDLING_H_
