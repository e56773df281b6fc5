// enforce: holds a run to its contract (contract/contract.h), and to the programs that it had when
// it was frozen: the gate of its engine. A program that may not appear is refused before anything
// is loaded or compiled, or reported, as the setting on_drift and the contract's scopes say.
//
// Operations that run on their own, outside jit, are free, unless the contract lists such.
//
// Code may hold the process to a contract for a while, too; the innermost one counts.
//
// Ownership: it lives as long as the process, like the engine. Threads: any function from any
// thread once it began.
#ifndef KEEL_ENFORCE_ENFORCE_H_
#define KEEL_ENFORCE_ENFORCE_H_

#include "engine/engine.h"

typedef struct keel_enforcement_t keel_enforcement_t;

// Reads the contract that the settings name, if any. KEEL_INVALID if it cannot be held to.
keel_status_t keel_enforcement_create(const keel_settings_t *settings,
                                      keel_enforcement_t **out) KEEL_MUST_CHECK;
// Only if it has not begun. NULL is allowed.
void keel_enforcement_destroy(keel_enforcement_t *enforcement);
// Becomes the engine's gate. Only before the first client.
void keel_enforcement_begin(keel_enforcement_t *enforcement, keel_engine_t *engine);

// A client was made with these arguments; is about to be destroyed.
void keel_enforcement_client_created(keel_enforcement_t *enforcement,
                                     const PJRT_Client_Create_Args *args);
void keel_enforcement_client_closing(keel_enforcement_t *enforcement, const PJRT_Client *client);

// The process ends: nothing runs in the background any more.
void keel_enforcement_end(keel_enforcement_t *enforcement);

// From now on the process is held to this contract instead of the one before, until it is released:
// the innermost first. KEEL_INVALID if it cannot be read. Needs no enforcement; any thread.
keel_status_t keel_enforcement_hold(const char *path, keel_on_drift_t on_drift) KEEL_MUST_CHECK;
void keel_enforcement_release(void);

// From now on no program may be new.
void keel_enforcement_freeze(keel_enforcement_t *enforcement);
// On this thread every program may appear until the same number of calls with false. Needs no
// enforcement.
void keel_enforcement_allow(bool allows);

#endif // KEEL_ENFORCE_ENFORCE_H_
