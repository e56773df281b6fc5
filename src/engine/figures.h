// figures: the figures of a run that goes on, as files beside its journal.
#ifndef KEEL_ENGINE_FIGURES_H_
#define KEEL_ENGINE_FIGURES_H_

#include "engine/core.h"

typedef struct figures_t figures_t;

// After the journal was opened.
keel_status_t figures_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void figures_destroy(figures_t *figures);
// Writes the run's files of figures where these moved. A failure is said once, and ends them.
void figures_update(keel_engine_t *engine);

#endif // KEEL_ENGINE_FIGURES_H_
