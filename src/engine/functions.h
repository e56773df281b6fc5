// functions: which functions of the client's asked for programs, and how often for each key.
//
// Threads: any.
#ifndef KEEL_ENGINE_FUNCTIONS_H_
#define KEEL_ENGINE_FUNCTIONS_H_

#include "engine/core.h"

typedef struct functions_t functions_t;

keel_status_t functions_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void functions_destroy(functions_t *functions);

// A program that the client asks for. Its module's name and its origin identify the function.
typedef struct functions_ask_t {
    const char *name, *origin;
    const keel_digest_t *key;
    bool is_replica; // one of several threads that each ask for it once
} functions_ask_t;

// Before this time.
typedef struct functions_known_t {
    bool has_key;             // some function of the process asked for this key
    uint64_t keys;            // of the function
    uint64_t asked;           // how often the function asked for this key
    uint64_t asked_by_thread; // the same; of a replica, by this thread alone
} functions_known_t;

keel_status_t functions_note(functions_t *functions, const functions_ask_t *ask,
                             functions_known_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_FUNCTIONS_H_
