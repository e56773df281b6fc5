// flow_journal: what the host sent and read, and which reads cut a step, for the journal.
#ifndef KEEL_ENGINE_FLOW_JOURNAL_H_
#define KEEL_ENGINE_FLOW_JOURNAL_H_

#include "engine/core.h"

// Writes what is new since the last time.
void flow_journal(keel_engine_t *engine);

#endif // KEEL_ENGINE_FLOW_JOURNAL_H_
