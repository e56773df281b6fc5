// progress: one line on a terminal while a compile takes long.
#ifndef KEEL_ENGINE_PROGRESS_H_
#define KEEL_ENGINE_PROGRESS_H_

#include "engine/core.h"

// A running compile, in the client's own stack frame.
typedef struct compiling_t {
    const char *name; // of the module
    uint64_t ops, bytes;
    uint64_t started;
    struct compiling_t *next; // older
} compiling_t;

typedef struct progress_t progress_t;

keel_status_t progress_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nothing is compiled. NULL is allowed.
void progress_destroy(progress_t *progress);
// Call these around the plugin's Compile. On a terminal, a line shows a compile that takes long.
void progress_begin(keel_engine_t *engine, compiling_t *compiling);
void progress_end(keel_engine_t *engine, compiling_t *compiling);

#endif // KEEL_ENGINE_PROGRESS_H_
