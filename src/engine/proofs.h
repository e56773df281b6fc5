// proofs: which compiled executables are loaded back before they are stored.
//
// An entry that does not load is useless to the next process, and that would find it out by itself:
// it compiles the program again and sets the entry aside. A proof spares it the attempt. Where the
// client asks its plugin for each executable's optimized program, the loaded one answers, and each
// is proved (payload.h). Where the client has these programs itself, the first executable of a
// process is proved, and after it as many as have PROOFS_SIZE bytes together: a processor's
// compiler takes only ten times as long as loading what it made. Once a load or a proof has failed,
// each is proved.
//
// Threads: any.
#ifndef KEEL_ENGINE_PROOFS_H_
#define KEEL_ENGINE_PROOFS_H_

#include "engine/core.h"

enum { PROOFS_SIZE = 256 << 10 };

typedef struct proofs_t proofs_t;

keel_status_t proofs_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void proofs_destroy(proofs_t *proofs);

// True if an executable that serialized to `size` bytes is to be proved; this counts it as such.
bool proofs_take(keel_engine_t *engine, size_t size);
void proofs_failed(keel_engine_t *engine);

#endif // KEEL_ENGINE_PROOFS_H_
