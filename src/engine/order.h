// order: the order of executions, as far as it is kept. A run may execute billions of times, so it
// thins out: the first executions of a process are kept, then a few after each new program, then
// none. In between, only their numbers are known (counters.h).
#ifndef KEEL_ENGINE_ORDER_H_
#define KEEL_ENGINE_ORDER_H_

#include "engine/counters.h"

enum {
    ORDER_FIRST = 2048, // the first of a process
    ORDER_AFTER = 64,   // after each new program, until ORDER_MANY are kept
    ORDER_MANY = 6144,
    ORDER_LATER = 16, // after each further one
    ORDER_MOST = 8192 // of a process
};

typedef struct order_t order_t;

keel_status_t order_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void order_destroy(order_t *order);
// A program (NULL: an unknown one) is executed. Takes no lock.
void order_executed(keel_engine_t *engine, const counter_t *counter);
// The client asks for a new program, after that many executions.
void order_new_program(keel_engine_t *engine, uint64_t executions);
// Writes what was not written yet to the journal.
void order_journal(keel_engine_t *engine);

#endif // KEEL_ENGINE_ORDER_H_
