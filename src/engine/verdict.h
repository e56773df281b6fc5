// verdict: a program that the gate does not let pass.
#ifndef KEEL_ENGINE_VERDICT_H_
#define KEEL_ENGINE_VERDICT_H_

#include "engine/request.h"

typedef struct verdict_t {
    keel_verdict_t verdict;
    keel_status_t why; // NULL: the client may have the program
} verdict_t;

// Asks the gate, and writes what it says to the journal and, for a warning, to stderr. The caller
// owns `why` if the client must not have the program; otherwise it is NULL.
verdict_t verdict_ask(request_t *request);

// The same of a program that Keel could not look at, which the journal then says; NULL: it may.
// Takes the status that says why.
PJRT_Error *verdict_unseen(keel_engine_t *engine, keel_status_t why);

// The client's error. Takes the verdict's status. Call it without `request`'s texts: `program` is
// what was refused, and its `ask` event was handed over. Waits a few seconds at most for what `keel
// why` says.
PJRT_Error *verdict_error(keel_engine_t *engine, const keel_digest_t *program,
                          const verdict_t *verdict);

#endif // KEEL_ENGINE_VERDICT_H_
