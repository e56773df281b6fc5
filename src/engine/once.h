// once: what a process writes or says only once, however often it comes up.
//
// Threads: any.
#ifndef KEEL_ENGINE_ONCE_H_
#define KEEL_ENGINE_ONCE_H_

#include "engine/core.h"

typedef enum once_kind_t {
    ONCE_BUNDLE,            // the process's own
    ONCE_DRIFT,             // warnings, by their text
    ONCE_OPTIONS,           // compile options, by digest
    ONCE_HANDLER,           // functions that programs call, by their place in the list
    ONCE_FOLDERS,           // where its Python looks for modules
    ONCE_OPTIONS_KEPT,      // that a program for several replicas keeps its options
    ONCE_OPTIONS_REWRITTEN, // that one got others
    ONCE_LATE,              // what was set too late, by its text
    ONCE_SOURCE,            // source files, by name, also unreadable ones
    ONCE_STUCK,             // that replicas wait for others
    ONCE_VALUE,             // texts of a key's components, by component and digest
    ONCE_KINDS
} once_kind_t;

typedef struct once_t once_t;

keel_status_t once_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void once_destroy(once_t *once);
// True the first time that `name` of this kind comes up. A process that never stops sending new
// ones is not followed beyond a limit: false from then on. True again if there is no memory to note
// it: twice is better than never.
bool once_first(once_t *once, once_kind_t kind, keel_bytes_t name);

#endif // KEEL_ENGINE_ONCE_H_
