// flow_journal: the part of the flow that goes to the journal.
#ifndef KEEL_ENGINE_FLOW_JOURNAL_H_
#define KEEL_ENGINE_FLOW_JOURNAL_H_

#include "engine/core.h"

// Both write what is new since the last time; the second also writes the steps.
void flow_journal_steps(keel_engine_t *engine);
void flow_journal(keel_engine_t *engine);

#endif // KEEL_ENGINE_FLOW_JOURNAL_H_
