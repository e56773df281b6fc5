// release: buffers that are destroyed in the background. release.c explains why.
#ifndef KEEL_ENGINE_RELEASE_H_
#define KEEL_ENGINE_RELEASE_H_

#include "engine/core.h"

typedef struct release_t release_t;

keel_status_t release_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only before release_begin. NULL is allowed.
void release_destroy(release_t *release);
// From now on buffers are destroyed on a thread of Keel's.
void release_begin(keel_engine_t *engine);
// Waits until none is left. When the time is up, the remaining ones are never destroyed: their
// client goes away. False if the thread is still destroying one.
bool release_drain(keel_engine_t *engine, double seconds);

#endif // KEEL_ENGINE_RELEASE_H_
